// SPDX-License-Identifier: BSD-3-Clause
#include "harness/visits.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "base/random.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"
#include "stats/verdict.hpp"

namespace busbar {
namespace {

constexpr char kBetweenCells = '\x1f';  // ASCII's unit separator is in no cell
constexpr char kBetweenRows = '\x1e';   // ASCII's record separator is in no row

/// A line of the file: a damaged one has another sum at its end.
std::string with_sum(std::string_view text) {
  std::uint64_t sum = 0;
  for (const char letter : text) sum = splitmix64(sum + static_cast<unsigned char>(letter));
  return fmt::format("{}{}{:016x}", text, kBetweenRows, sum);
}

/// Its time, then where they are known the last rank, how late it was, and the times of all ranks.
std::string sample_text(const Row& row, std::size_t sample) {
  std::string text = fmt::format("{}", row.samples_us[sample]);
  if (row.arrivals.empty() && row.rank_times_us.empty()) return text;
  const Arrival arrival = row.arrivals.empty() ? Arrival{.last = -1} : row.arrivals[sample];
  text += fmt::format(" {} {}", arrival.last, arrival.late_us);
  if (row.rank_times_us.empty()) return text;
  return text + ' ' + fmt::format("{}", fmt::join(row.rank_times_us[sample], " "));
}

void parse_sample(std::string_view text, Row& row) {
  const auto numbers = mapped(
      split(text, ' '), [](const std::string& word) { return to_number<double>(word).value(); });
  row.samples_us.push_back(numbers.front());
  if (numbers.size() < 3) return;
  const auto last = static_cast<int>(numbers[1]);
  if (last >= 0) row.arrivals.push_back({.last = last, .late_us = numbers[2]});
  if (numbers.size() > 3) row.rank_times_us.emplace_back(numbers.begin() + 3, numbers.end());
}

/// The times and timed operations of all visits, as add_statistics takes them.
Samples samples_of(std::span<const Row> visits, stats::StopReason stop) {
  Samples all;
  all.stop = stop;
  all.visits = mapped(visits, &Row::samples_us);
  for (const Row& visit : visits) {
    const Record& record = visit.record;
    const auto operations = static_cast<double>(record.operations.value_or(0));
    append(all.times_us, visit.samples_us);
    all.operations += record.operations.value_or(0);
    all.warmup_operations += record.warmup_operations.value_or(0);
    all.batch = std::max(all.batch, record.batch.value_or(1));
    if (record.enqueue_time_us) all.enqueue_us.push_back(*record.enqueue_time_us);
    if (record.host_time_us) all.host_times_us.push_back(*record.host_time_us);
    append(all.arrivals, visit.arrivals);
    append(all.rank_times_us, visit.rank_times_us);
    if (record.load_us) all.loads_us.push_back(*record.load_us);
    if (record.start_skew_us) all.start_skews_us.push_back(*record.start_skew_us);
    Disturbances& sum = all.disturbances;
    sum.minor_faults += record.minor_faults_per_op.value_or(0) * operations;
    sum.involuntary_switches += record.involuntary_switches_per_op.value_or(0) * operations;
  }
  const auto operations = static_cast<double>(std::max<std::uint64_t>(1, all.operations));
  all.disturbances.minor_faults /= operations;
  all.disturbances.involuntary_switches /= operations;
  return all;
}

/// Flags of any visit, without those that say how few its own samples are.
std::string flags_of(std::span<const Row> visits) {
  constexpr std::array kOwn{Flag::FewSamples, Flag::NoInterval, Flag::Drifting};
  Record all;
  for (const Row& visit : visits) {
    for (const auto& [flag, text] : enum_names(Flag{})) {
      const bool own = std::ranges::find(kOwn, flag) != kOwn.end();
      if (!own && has_flag(visit.record, flag) && !has_flag(all, flag)) add_flag(all, flag);
    }
  }
  return all.flags;
}

/// Bus bandwidth over algorithm bandwidth, which a file has to six digits.
double factor_of(const Record& record) {
  const Collective& collective = *find_collective(record.collective);
  if (collective.equal_parts) return collective.bus_factor(record.ranks);
  return record.busbw_GBps.value_or(0) / record.algbw_GBps.value_or(1);
}

/// What is not of the samples: medians of the visits' own.
void merge_figures(std::span<const Row> visits, Record& record) {
  for (const auto figure : {&Record::loaded_time_us, &Record::loaded_busbw_GBps,
                            &Record::operation_slowdown, &Record::load_slowdown}) {
    std::vector<double> values;
    for (const Row& visit : visits) {
      if (visit.record.*figure) values.push_back(*(visit.record.*figure));
    }
    if (!values.empty()) record.*figure = stats::median(values);
  }
}

}  // namespace

/// The cells of its record, then its samples.
std::string row_text(const Row& row) {
  std::string text;
  for (const RecordField& field : record_fields()) {
    text += one_line(field.get(row.record)) + kBetweenCells;
  }
  for (std::size_t i = 0; i < row.samples_us.size(); ++i) {
    text += sample_text(row, i) + kBetweenCells;
  }
  return text;
}

Row parse_row(std::string_view text) {
  Row row;
  std::vector<std::string> cells = split(text, kBetweenCells);
  cells.pop_back();  // what follows the last separator
  const auto fields = record_fields();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i < fields.size()) {
      fields[i].set(row.record, cells[i]);
    } else {
      parse_sample(cells[i], row);
    }
  }
  return row;
}

std::vector<Row> gather_rows(const RoundGroup& round_group, const Row& mine) {
  std::vector<Row> rows;
  for (std::string& text :
       round_group.world.gather_texts(round_group.leads() ? row_text(mine) : "")) {
    if (!text.empty()) rows.push_back(parse_row(std::exchange(text, {})));
  }
  std::ranges::stable_sort(rows, {}, [](const Row& row) { return row.record.group; });
  return rows;
}

Row merge_visits(std::span<const Row> visits, stats::StopReason stop) {
  if (visits.size() == 1 && visits.front().samples_us.empty()) return visits.front();
  Row row{.record = visits.front().record};
  Record& record = row.record;
  Samples samples = samples_of(visits, stop);
  record.flags = flags_of(visits);
  record.finished_at = visits.back().record.finished_at;
  add_statistics(record, samples, factor_of(record));
  add_efficiency(record);
  merge_figures(visits, record);
  row.samples_us = std::move(samples.times_us);
  row.arrivals = std::move(samples.arrivals);
  row.rank_times_us = std::move(samples.rank_times_us);
  return row;
}

Visits::Visits(const Options& options)
    : planned_(options.visits),
      limits_(limits_of(options)),
      exact_(options.operations.has_value()),
      all_made_(exact_ || options.vary) {
  if (options.csv_path.empty() || options.csv_path == "-") return;
  file_.emplace(options.csv_path + ".visits", "--csv",
                options.resume ? OutputFile::Mode::Continue : OutputFile::Mode::New);
  if (file_->size() > 0) file_->drop_unfinished_line();
}

void Visits::begin(const std::string& configuration) {
  if (!file_) return;
  const std::string head = fmt::format("# visits of {}\n", configuration);
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
    const std::string text = line.substr(0, line.rfind(kBetweenRows));
    if (line != with_sum(text)) {
      throw usage_error(
          "--resume: {}:{}: the line is damaged; remove it, and its visit is made again",
          file_->path(), number);
    }
    const std::vector<std::string> parts = split(text, kBetweenRows);
    std::vector<Row> rows;
    for (std::size_t i = 1; i < parts.size(); ++i) rows.push_back(parse_row(parts[i]));
    keep(to_number<std::size_t>(parts.front()).value_or(0), std::move(rows));
  }
}

bool Visits::wants(std::size_t position, std::uint64_t visit) const {
  const auto found = entries_.find(position);
  if (found == entries_.end()) return position >= next_;
  return !found->second.final && found->second.rows.front().size() <= visit;
}

void Visits::add(std::size_t position, std::vector<Row> rows) {
  if (file_) {
    std::string line = fmt::format("{}", position);
    for (const Row& row : rows) line += kBetweenRows + row_text(row);
    file_->append(with_sum(line) + '\n');
  }
  keep(position, std::move(rows));
}

void Visits::keep(std::size_t position, std::vector<Row> rows) {
  Entry& kept = entries_[position];
  kept.rows.resize(rows.size());
  kept.final = true;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    kept.rows[i].push_back(std::move(rows[i]));
    kept.final = kept.final && decide(kept.rows[i]) != stats::StopReason::None;
  }
}

void Visits::settle(std::size_t position, std::vector<Row> rows, bool written) {
  Entry& kept = entries_[position];
  kept.final = true;
  kept.written = written;
  if (!kept.rows.empty()) return;
  for (Row& row : rows) kept.rows.push_back({std::move(row)});
}

stats::StopReason Visits::decide(std::span<const Row> visits) const {
  const auto samples = mapped(visits, &Row::samples_us);
  double spent_s = 0;
  for (const Row& visit : visits) {
    const Record& record = visit.record;
    const auto operations = record.operations.value_or(0) + record.warmup_operations.value_or(0);
    spent_s += static_cast<double>(operations) * record.time_mean_us.value_or(0) / 1e6;
  }
  // One sample is not a row's.
  const bool one_sample = samples.size() == 1 && samples.front().size() < 2;
  if (one_sample) spent_s = 0;
  const stats::StopReason stop = stats::decide_visits(samples, planned_, limits_, spent_s);
  // Exactly -n operations are those of all visits together; the visits of variants are pairs.
  if (all_made_ && stop != stats::StopReason::Visits) return stats::StopReason::None;
  return exact_ ? stats::StopReason::Count : stop;
}

std::optional<Visits::FinalRows> Visits::take_next() {
  const auto first = entries_.find(next_);
  if (first == entries_.end() || !first->second.final) return std::nullopt;
  FinalRows final{.written = first->second.written};
  for (const std::vector<Row>& visits : first->second.rows) {
    final.rows.push_back(merge_visits(visits, decide(visits)));
    std::vector<double>& medians = final.medians.emplace_back();
    for (const Row& visit : visits) {
      if (!visit.samples_us.empty()) medians.push_back(stats::median(visit.samples_us));
    }
  }
  entries_.erase(first);
  ++next_;
  return final;
}

std::string Visits::preliminary(std::size_t position) const {
  const auto found = entries_.find(position);
  if (found == entries_.end() || found->second.rows.empty()) return {};
  const Record so_far = merge_visits(found->second.rows.front(), stats::StopReason::None).record;
  if (so_far.busbw_GBps) return fmt::format("{:.2f} GB/s so far", *so_far.busbw_GBps);
  return fmt::format("{:.1f} us so far", so_far.time_median_us.value_or(0));
}

void Visits::end() {
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
