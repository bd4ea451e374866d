// SPDX-License-Identifier: BSD-3-Clause
#include "harness/journal.hpp"

#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/random.hpp"
#include "harness/row_record.hpp"
#include "model/agreement.hpp"
#include "stats/rank_tests.hpp"
#include "stats/verdict.hpp"

namespace busbar {
namespace {

/// A line of the file: a damaged one has another sum at its end.
std::string with_sum(std::string_view text) {
  std::uint64_t sum = 0;
  for (const char letter : text) sum = splitmix64(sum + static_cast<unsigned char>(letter));
  return fmt::format("{}\t{:016x}", text, sum);
}

std::vector<double> medians_of(const std::vector<Evidence>& visits) {
  const auto measured = filtered(visits, [](const Evidence& e) { return !e.times_us.empty(); });
  return mapped(measured, [](const Evidence& e) { return stats::median(e.times_us); });
}

}  // namespace

Journal::Journal(Bootstrap& world, const Options& options) : world_(world), options_(options) {
  if (options.vary) ratios_.emplace(*options.vary);
  const bool on_disk = options.visits > 1 && options.mix.empty() && !options.csv_path.empty() &&
                       options.csv_path != "-";
  agree_on(world, [&] {
    if (!on_disk || world.rank() != 0) return;
    file_.emplace(options.csv_path + ".visits", "--csv",
                  options.resume ? OutputFile::Mode::Continue : OutputFile::Mode::New);
    if (file_->size() > 0) file_->drop_unfinished_line();
  });
}

void Journal::begin(const Job& job, std::span<const PlannedRow> rows, Outputs& outputs,
                    const std::string& configuration) {
  job_ = &job;
  outputs_ = &outputs;
  rows_ = rows;
  agree_on(world_, [&] {
    if (file_) read_file(configuration);
  });
  if (world_.rank() == 0) take_earlier();
}

std::size_t Journal::number_of(const PlannedRow& row) const {
  return options_.visits > 1 ? row.position : row.pass * rows_.size() + row.position;
}

void Journal::read_file(const std::string& configuration) {
  const std::string head = fmt::format("# evidence of {}\n", configuration);
  if (file_->size() == 0) return file_->append(head);
  std::ifstream lines(file_->path());
  std::string line;
  std::getline(lines, line);
  if (line + '\n' != head) {
    throw usage_error(
        "--resume: {} has visits of another run; remove it, or give another file with --csv",
        file_->path());
  }
  for (int number = 2; std::getline(lines, line); ++number) {
    const std::string text = line.substr(0, line.rfind('\t'));
    const std::vector<std::string> parts = split(text, '\t');
    if (line != with_sum(text)) {
      throw usage_error(
          "--resume: {}:{}: the line is damaged; remove it, and its visit is made again",
          file_->path(), number);
    }
    keep(to_number<std::size_t>(parts.front()).value_or(0),
         mapped(std::span(parts).subspan(1), parse_evidence));
  }
}

/// All rows of a position, or none where one lacks: they are measured again together.
void Journal::take_earlier() {
  bool any = outputs_->has_earlier();
  for (std::uint64_t pass = 0; any; ++pass) {
    any = false;
    for (PlannedRow row : rows_) {
      row.pass = pass;
      const auto blanks = mapped(job_->groups_of(row), [&](const RankGroup& group) {
        return blank_record(*job_, row, group);
      });
      std::vector<Row> earlier = outputs_->take_earlier(blanks);
      if (earlier.empty()) continue;
      any = options_.visits == 1 && outputs_->has_earlier();
      entries_[number_of(row)] = {.earlier = std::move(earlier), .final = true};
    }
  }
}

bool Journal::is_there(const PlannedRow& row) const {
  const std::size_t number = number_of(row);
  const auto found = entries_.find(number);
  if (found == entries_.end()) return number < next_;
  return found->second.final || found->second.groups.front().size() > row.pass;
}

std::size_t Journal::first_round(std::span<const std::size_t> order) const {
  std::size_t first = order.front();
  if (world_.rank() == 0) {
    const auto missing = std::ranges::find_if(
        order, [this](std::size_t position) { return !is_there(rows_[position]); });
    if (missing != order.end()) first = *missing;
  }
  world_.broadcast(first);
  return rows_[first].round;
}

bool Journal::has(const PlannedRow& row) {
  bool there = false;
  if (world_.rank() == 0) {
    write_final_rows();
    there = is_there(row);
  }
  world_.broadcast(there);
  return there;
}

void Journal::add(const PlannedRow& row, std::vector<Evidence> groups) {
  if (world_.rank() != 0) return;
  const std::size_t number = number_of(row);
  const bool skipped =
      std::ranges::any_of(groups, [](const Evidence& one) { return !one.skipped.empty(); });
  if (file_ && !skipped) {
    const std::string texts =
        join_each(groups, "\t", [](const Evidence& one) { return to_text(one); });
    file_->append(with_sum(fmt::format("{}\t{}", number, texts)) + '\n');
  }
  // One that could be measured before ends with what there is.
  if (!skipped || !entries_.contains(number)) keep(number, std::move(groups));
  if (skipped) entries_[number].final = true;
  write_final_rows();
}

void Journal::keep(std::size_t number, std::vector<Evidence> groups) {
  Entry& entry = entries_[number];
  entry.groups.resize(groups.size());
  entry.final = true;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    entry.groups[i].push_back(std::move(groups[i]));
    const bool enough = stop_of(options_, entry.groups[i]) != stats::StopReason::None;
    entry.final = entry.final && (options_.visits == 1 || enough);
  }
}

void Journal::write_final_rows() {
  for (auto first = entries_.find(next_); first != entries_.end() && first->second.final;
       first = entries_.find(next_)) {
    const Entry entry = std::move(first->second);
    entries_.erase(first);
    PlannedRow planned = rows_[next_ % rows_.size()];
    planned.pass = next_++ / rows_.size();
    for (Row row : entry.earlier) {
      if (ratios_) append(row.findings, ratios_->add(row.record, {}));
      outputs_->show(row);
    }
    for (std::size_t i = 0; i < entry.groups.size(); ++i) {
      const RankGroup& group = job_->groups_of(planned)[i];
      Row row = row_of(*job_, planned, group, entry.groups[i]);
      if (ratios_) append(row.findings, ratios_->add(row.record, medians_of(entry.groups[i])));
      outputs_->write(row);
    }
  }
}

std::string Journal::visit_text(const PlannedRow& row) const {
  if (options_.visits == 1) return {};
  std::string text = fmt::format("visit {} of {}", row.pass + 1, options_.visits);
  const auto found = entries_.find(number_of(row));
  if (found == entries_.end() || found->second.groups.empty()) return text;
  const RankGroup& group = job_->groups_of(row).front();
  const Record so_far = row_of(*job_, row, group, found->second.groups.front()).record;
  if (so_far.busbw_GBps) return fmt::format("{}, {:.2f} GB/s so far", text, *so_far.busbw_GBps);
  return fmt::format("{}, {:.1f} us so far", text, so_far.time_median_us.value_or(0));
}

void Journal::end() {
  if (file_) std::remove(file_->path().c_str());
}

std::vector<std::string> VariantRatios::add(const Record& record, std::vector<double> medians) {
  Record of_any = record;
  of_any.variant.clear();
  const RowKey key = row_key(of_any);
  auto& variants = rows_[key];
  variants[record.variant] = std::move(medians);
  if (variants.size() < vary_.values.size()) return {};
  const std::vector<double> first = std::move(variants[variant_text(vary_, 0)]);
  std::vector<std::string> sentences;
  for (std::size_t number = 1; number < vary_.values.size(); ++number) {
    const std::string name = vary_.values[number] + (record.in_place ? " in place" : "");
    sentences.push_back(sentence(first, variants[variant_text(vary_, number)], name));
  }
  rows_.erase(key);
  return sentences;
}

std::string VariantRatios::sentence(const std::vector<double>& first,
                                    const std::vector<double>& other,
                                    const std::string& name) const {
  std::vector<double> logarithms;  // of how many times as long the other takes
  for (std::size_t i = 0; i < std::min(first.size(), other.size()); ++i) {
    logarithms.push_back(std::log(other[i] / first[i]));
  }
  const stats::SignedRank test = stats::signed_rank(logarithms);
  if (!test.interval) {
    return fmt::format("{}: {} visits with both are too few to compare", name, logarithms.size());
  }
  // As many comparisons as there are other values.
  const double p = std::min(1.0, test.p * static_cast<double>(vary_.values.size() - 1));
  const stats::Interval times{std::exp(test.interval->low), std::exp(test.interval->high)};
  const stats::Verdict verdict =
      stats::verdict_of(std::exp(test.shift), times, p, stats::kSettingThreshold);
  const std::string_view than = verdict == stats::Verdict::Same         ? "as"
                                : verdict == stats::Verdict::CannotTell ? "from"
                                                                        : "than";
  return fmt::format("{}: {} {} {}, {:.3f} times its speed ({:.3f} to {:.3f}), p {:.2g}, {} visits",
                     name, busbar::name(verdict), than, vary_.values.front(), std::exp(-test.shift),
                     1 / times.high, 1 / times.low, p, logarithms.size());
}

}  // namespace busbar
