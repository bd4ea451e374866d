// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_text.hpp"
#include "harness/measurement.hpp"
#include "harness/row_record.hpp"

namespace busbar {
namespace {

/// "all-reduce 64 MiB in place", behind the round and the group where there are some.
std::string row_name(const Job& job, const PlannedRow& row) {
  const RankGroup* mine = job.group_of(row.round);
  std::string text =
      fmt::format("{}{} {} {}", round_prefix(job.plan, row.round, mine), job.collective.title,
                  format_bytes(row.wanted), row.in_place ? "in place" : "out of place");
  if (row.pair && mine != nullptr) {
    const auto rank = [&](int of_pair) {
      return mine->ranks.at(static_cast<std::size_t>(of_pair));
    };
    text += fmt::format(" from rank {} to {}", rank(row.pair->sender), rank(row.pair->receiver));
  }
  return job.options.vary ? text + " with " + variant_text(*job.options.vary, row.variant) : text;
}

/// Writes and shows the intervals of a soak; empty without one.
IntervalReport interval_report(const RowSetup& setup, Outputs& outputs) {
  const Options& options = setup.job.options;
  if (!options.duration || setup.job.world.rank() != 0) return {};
  const Footprint& footprint = setup.plan.footprint;
  const double factor = bus_factor_of(setup.job.collective, setup.round.ranks.members.size(),
                                      footprint.traffic.get());
  return [&options, &outputs, size = footprint.size, factor](TimelineInterval interval) {
    Record record{.size = size, .time_median_us = interval.median_us};
    add_bandwidths(record, factor);
    interval.busbw_GBps = record.busbw_GBps;
    outputs.write_interval(interval);
    ProgressLine* line = outputs.progress_line();
    if (line == nullptr) return;
    line->show(fmt::format("{} of {}: {} us", clock_text(interval.at_s),
                           clock_text(options.duration->count()), figure_text(interval.median_us)));
  };
}

ProgressReport progress_report(const RowSetup& setup, const Journal& journal, Outputs& outputs) {
  ProgressLine* line = outputs.progress_line();
  if (line == nullptr) return {};
  const std::string visit = journal.visit_text(setup.row);
  const std::string head =
      row_name(setup.job, setup.row) + (visit.empty() ? "" : fmt::format(" ({})", visit));
  line->show(head + ": warming up");
  return [line, head](std::size_t samples, std::optional<double> half_width) {
    const std::string width =
        half_width ? fmt::format("±{:.1f} %", *half_width * 100) : "no interval yet";
    line->show(fmt::format("{}: {} samples, {}", head, samples, width));
  };
}

void run_row(const Job& job, const PlannedRow& row, Connected& connected, Journal& journal,
             Outputs& outputs) {
  connected.connect(row.round);
  job.watchdog.step(row_name(job, row));
  const RowSetup setup = connected.prepare(row);
  Evidence evidence;
  try {
    measure(setup, progress_report(setup, journal, outputs), interval_report(setup, outputs),
            evidence);
  } catch (const Error& error) {  // the row in flight is on record too, for those who ask why
    evidence.failed = error.what();
    evidence.finished_at = local_time();
    const RankGroup* mine = setup.round.mine;
    if (mine != nullptr) outputs.write(row_of(job, row, *mine, {&evidence, 1}));
    throw Error{Status::Runtime, error.what()};  // other ranks may not know of it
  }
  job.watchdog.tracker()->phase("writing");
  evidence.finished_at = local_time();
  journal.add(row, gather_evidence(job.world, job.plan, row.round, evidence));
}

}  // namespace

void run_rows(const Job& job, std::span<const PlannedRow> rows, Connected& connected,
              Journal& journal, Outputs& outputs) {
  const Options& options = job.options;
  const std::uint64_t passes = options.visits > 1 ? options.visits : options.cycles;
  for (std::uint64_t pass = 0; passes == 0 || pass < passes; ++pass) {
    for (const std::size_t position : order_of_pass(options, rows, pass)) {
      PlannedRow row = rows[position];
      row.pass = pass;
      if (!journal.has(row)) run_row(job, row, connected, journal, outputs);
    }
  }
}

}  // namespace busbar
