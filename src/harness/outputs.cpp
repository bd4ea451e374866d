// SPDX-License-Identifier: BSD-3-Clause
#include "harness/outputs.hpp"

#include <cstdio>

#include "format/console_table.hpp"
#include "format/csv_writer.hpp"
#include "format/json_writer.hpp"
#include "harness/host_facts.hpp"
#include "model/agreement.hpp"
#include "model/fact.hpp"
#include "model/flag.hpp"

namespace busbar {
namespace {

std::pair<RowKey, std::uint64_t> cycle_key(const Record& record) {
  return {row_key(record), record.cycle};
}

/// "key=" of a part of a configuration.
std::string part_key(const std::string& part) { return part.substr(0, part.find('=') + 1); }

/// The first part in which two configurations differ, for a message; empty where none does. A part
/// that a file of an older version lacks has the default.
std::string difference(const std::string& earlier, const std::string& now) {
  if (earlier.empty()) return "it does not name its configuration";
  std::vector<std::string> before = split(earlier, ' ');
  const std::vector<std::string> after = split(now, ' ');
  const auto find = [](const std::vector<std::string>& parts, const std::string& part) {
    return std::ranges::find(parts, part_key(part), part_key);
  };
  for (const std::string& part : configuration_of(Options{})) {
    if (find(before, part) == before.end() && find(after, part) != after.end()) {
      before.push_back(part);
    }
  }
  for (const std::string& part : after) {
    const auto was = find(before, part);
    if (was == before.end()) return fmt::format("this run has {}", part);
    if (*was != part) return fmt::format("it has {}, this run {}", *was, part);
  }
  const auto gone = std::ranges::find_if(
      before, [&](const std::string& part) { return find(after, part) == after.end(); });
  return gone == before.end() ? "" : fmt::format("it has {}, this run none", *gone);
}

std::unique_ptr<Writer> json_writer(const Options& options, HalfJoiner::Halves halves) {
  if (options.json_style == JsonStyle::Busbar) {
    return std::make_unique<JsonWriter>(options.json_path, options.resume);
  }
  return std::make_unique<NcclTestsJson>(options.json_path, options.resume, halves);
}

}  // namespace

Outputs::Outputs(Bootstrap& bootstrap, const Options& options)
    : bootstrap_(bootstrap), resume_(options.resume) {
  agree_on(bootstrap, [&] {
    if (bootstrap.rank() == 0) open(options);
  });
}

void Outputs::open(const Options& options) {
  const HalfJoiner::Halves halves{.out_of_place = options.placement != Placement::In,
                                  .in_place = options.placement != Placement::Out};
  // A CSV on standard output is for a program, which wants nothing else there.
  if (options.csv_path != "-") {
    displays_.push_back(std::make_unique<ConsoleTable>(stdout, halves));
  }
  if (!options.csv_path.empty()) {
    auto csv = std::make_unique<CsvWriter>(options.csv_path, resume_);
    earlier_configuration_ = csv->earlier_fact(fact::kConfiguration);
    // A file that holds no row yet has nothing that could belong to another configuration.
    resume_ = resume_ && (!csv->earlier().empty() || !earlier_configuration_.empty());
    for (const Record& record : csv->earlier()) {
      if (record.status != RowStatus::Failed) earlier_.emplace(cycle_key(record), record);
    }
    journals_.push_back(std::move(csv));
  }
  open_journals(options);
  if (!options.json_path.empty()) displays_.push_back(json_writer(options, halves));
}

void Outputs::open_journals(const Options& options) {
  if (!options.samples_path.empty()) {
    // Before its row, which a resumed run passes over.
    journals_.insert(journals_.begin(),
                     std::make_unique<SamplesWriter>(options.samples_path, options.resume));
  }
  if (!options.per_rank_path.empty()) {
    journals_.insert(journals_.begin(),
                     std::make_unique<SamplesWriter>(options.per_rank_path, options.resume,
                                                     SamplesWriter::Times::OfRanks));
  }
  if (!options.facts_path.empty()) {
    using Mode = OutputFile::Mode;
    facts_.emplace(options.facts_path, "--facts", options.resume ? Mode::Continue : Mode::New);
    if (facts_->size() > 0) facts_->drop_unfinished_line();
    if (options.facts_path != "-" && facts_->size() == 0) {
      facts_->append(csv_text(machine::fact_columns(), std::vector<machine::FactLine>{}));
    }
  }
  if (!options.timeline_path.empty()) {
    auto timeline = std::make_unique<TimelineWriter>(options.timeline_path);
    timeline_ = timeline.get();
    journals_.push_back(std::move(timeline));
  }
}

void Outputs::check_resumable(const std::string& configuration) {
  agree_on(bootstrap_, [&] {
    if (bootstrap_.rank() != 0) return;
    const std::string other = difference(earlier_configuration_, configuration);
    if (resume_ && !other.empty()) {
      throw usage_error(
          "--resume: the CSV is of another configuration: {}; give another file with --csv", other);
    }
  });
}

void Outputs::begin(const RunContext& context) {
  for (const auto& writer : displays_) writer->begin(context);
  for (const auto& writer : journals_) writer->begin(context);
}

std::vector<Row> Outputs::take_earlier(std::span<const Record> records) {
  const bool all = std::ranges::all_of(
      records, [this](const Record& record) { return earlier_.contains(cycle_key(record)); });
  if (!all) return {};
  return mapped(records, [this](const Record& record) {
    return Row{.record = earlier_.extract(earlier_.find(cycle_key(record))).mapped()};
  });
}

void Outputs::show(const Row& row) {
  progress_line_.clear();
  count(row.record);
  for (const auto& writer : displays_) writer->write(row);
}

void Outputs::write(const Row& row) {
  if (bootstrap_.rank() != 0) return;
  // Some of what was measured together was there before.
  if (const auto known = take_earlier({&row.record, 1}); !known.empty()) return show(known.front());
  for (const auto& writer : journals_) writer->write(row);
  show(row);
}

void Outputs::write_interval(const TimelineInterval& interval) {
  if (timeline_ != nullptr) timeline_->append(interval);
}

void Outputs::count(const Record& record) {
  if (record.status == RowStatus::Skipped) ++summary_.skipped;
  if (!record.time_median_us) return;
  ++summary_.rows;
  if (record.status == RowStatus::Wrong) ++summary_.wrong_rows;
  if (has_flag(record, Flag::FaultInjected)) ++summary_.fault_rows;
  busbw_total_ += record.busbw_GBps.value_or(0);
  summary_.mean_busbw_GBps = busbw_total_ / static_cast<double>(summary_.rows);
}

void Outputs::write_facts(std::string_view lines) {
  if (!facts_) return;
  facts_->append(facts_->path() == "-" ? as_comments(machine::kFactPrefix, lines)
                                       : std::string(lines));
}

void Outputs::end(const std::string& memory_use) {
  summary_.memory_use = memory_use;
  summary_.finished_at = local_time();
  progress_line_.clear();
  for (const auto& writer : journals_) writer->end(summary_);
  for (const auto& writer : displays_) writer->end(summary_);
}

ProgressLine* Outputs::progress_line() {
  return bootstrap_.rank() == 0 && progress_line_.enabled() ? &progress_line_ : nullptr;
}

}  // namespace busbar
