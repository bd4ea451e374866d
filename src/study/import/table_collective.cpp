// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/table_collective.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/options.hpp"
#include "base/text.hpp"
#include "study/import/nccl_text.hpp"

namespace busbar::study {
namespace {

constexpr int kMostInferred = 65536;
constexpr double kSlack = 1e-6;  // of the arithmetic itself

struct SeenRate {
  Printed busbw;
  Range rate;
};

std::vector<SeenRate> observations_of(std::span<const LogRow> rows) {
  std::vector<SeenRate> seen;
  for (const LogRow& row : rows) {
    for (const LogHalf& half : row.halves) {
      const auto rate = rate_range(row.size, half);
      if (rate && half.busbw_GBps) seen.push_back({*half.busbw_GBps, *rate});
    }
  }
  return seen;
}

/// What a row's algorithm bandwidth is by its own time and size.
enum class Algbw { Unknown, OfNow, Old, Neither };

Algbw algbw_of(const LogRow& row, const LogHalf& half, double factor) {
  const auto rate = half.time_us ? rate_range(row.size, half) : std::nullopt;
  if (!rate || !half.algbw_GBps) return Algbw::Unknown;
  if (can_be(*half.algbw_GBps, *rate, 1)) return Algbw::OfNow;
  return can_be(*half.algbw_GBps, *rate, factor) ? Algbw::Old : Algbw::Neither;
}

bool has_column(const LogTable& table, std::string_view name) {
  return contains(table.columns, name);
}

/// How many times the count goes into the size; 0 where it does not, or the row has no count.
int parts_of(const LogRow& row) {
  const Bytes part = row.count * size_of_type(row.type);
  if (part == 0 || row.size % part != 0 || row.size / part > kMostInferred) return 0;
  return static_cast<int>(row.size / part);
}

bool was_checked(const LogHalf& half) { return half.wrong || half.error; }

const Collective& known(const std::string& given) {
  const Collective* collective = find_collective(given);
  if (collective != nullptr) return *collective;
  throw usage_error("invalid value '{}' for --collective; expected one of {}", given,
                    join(collective_names(), ", "));
}

/// Why a collective that the user gives cannot be; empty where it can.
std::string contradiction(const LogTable& table, const Collective& given,
                          const RowEvidence& evidence) {
  const bool no_op = any_has(table.rows, "none", &LogRow::op);
  const std::vector<std::string> fitting = evidence.candidates();
  if (contains(fitting, given.name) ||
      (fitting.empty() && evidence.allows_factor(given) && !(given.reduces && no_op))) {
    return {};
  }
  const std::string rows = fmt::format("its rows have {}", evidence.text());
  if (fitting.empty()) return rows + "; give the collective that was run, or --ranks N";
  return fmt::format("{}: that is {}; give it, or leave --collective out", rows,
                     alternatives(fitting));
}

TableCollective given_collective(const LogTable& table, const std::string& place,
                                 const std::string& given, std::optional<int> ranks) {
  const Collective& collective = known(given);
  // Ranks that the user gives are checked against the collective afterwards.
  const auto assumed = ranks ? std::nullopt : listed_ranks(table);
  std::string why = contradiction(table, collective, RowEvidence(table, assumed));
  if (!why.empty() && ranks) why = contradiction(table, collective, RowEvidence(table, ranks));
  if (why.empty()) return {.collective = &collective, .source = "--collective"};
  throw usage_error("--collective {}: {} is of another: {}", collective.name, place, why);
}

TableCollective inferred_collective(const LogTable& table, const std::string& place,
                                    std::optional<int> ranks) {
  const RowEvidence evidence(table, ranks ? ranks : listed_ranks(table));
  const std::vector<std::string> fitting = evidence.candidates();
  if (fitting.size() == 1) {
    return {.collective = find_collective(fitting.front()),
            .source = evidence.text(),
            .inferred = true};
  }
  const std::string fit = fitting.empty() ? "none that busbar knows" : alternatives(fitting);
  throw usage_error(
      "{}: the log does not say which collective it is of, and its rows ({}) fit {}; give "
      "--collective NAME",
      place, evidence.text(), fit);
}

}  // namespace

std::optional<Range> rate_range(Bytes size, const LogHalf& half) {
  const auto bytes = static_cast<double>(size);
  constexpr double kBytesPerMicrosecond = 1e-3;  // in GB/s
  if (size == 0) return std::nullopt;
  if (half.time_us && half.time_us->value > half.time_us->half_unit) {
    const Printed& time = *half.time_us;
    return Range{bytes / (time.value + time.half_unit) * kBytesPerMicrosecond,
                 bytes / (time.value - time.half_unit) * kBytesPerMicrosecond};
  }
  if (!half.time_us && half.algbw_GBps && half.algbw_GBps->value > half.algbw_GBps->half_unit) {
    const Printed& rate = *half.algbw_GBps;
    return Range{rate.value - rate.half_unit, rate.value + rate.half_unit};
  }
  return std::nullopt;
}

bool can_be(const Printed& printed, const Range& rate, double factor) {
  const double slack = kSlack * printed.value;
  return printed.value + printed.half_unit + slack >= rate.low * factor &&
         printed.value - printed.half_unit - slack <= rate.high * factor;
}

bool contradicts(std::span<const LogRow> rows, double factor) {
  std::size_t telling = 0;
  std::size_t others = 0;
  for (const SeenRate& seen : observations_of(rows)) {
    if (seen.busbw.value > 0) ++telling;
    if (!can_be(seen.busbw, seen.rate, factor)) ++others;
  }
  constexpr std::size_t kGoodPart = 4;
  return others > 0 && (others >= telling || (others > 1 && others * kGoodPart > telling));
}

std::optional<double> measured_factor(std::span<const LogRow> rows) {
  const std::vector<SeenRate> seen = observations_of(rows);
  const auto unsure = [](const SeenRate& one) {
    return one.busbw.value > 0 ? one.busbw.half_unit / one.busbw.value : 1;
  };
  const auto best = std::ranges::min_element(
      seen, [&](const SeenRate& a, const SeenRate& b) { return unsure(a) < unsure(b); });
  if (best == seen.end() || best->busbw.value <= 0) return std::nullopt;
  return best->busbw.value / ((best->rate.low + best->rate.high) / 2);
}

RanksAllowed ranks_allowed(std::span<const LogRow> rows, const Collective& collective) {
  const std::vector<SeenRate> seen = observations_of(rows);
  RanksAllowed allowed;
  if (seen.empty()) return allowed;
  const auto fits = [&](int ranks) {
    const double factor = collective.bus_factor(ranks);
    return std::ranges::all_of(seen, [&](const SeenRate& observation) {
      return can_be(observation.busbw, observation.rate, factor);
    });
  };
  const bool constant = collective.bus_factor(2) == collective.bus_factor(3);
  if (constant) return fits(2) ? RanksAllowed{.least = 2, .most = kMostInferred} : allowed;
  for (int ranks = 2; ranks <= kMostInferred; ++ranks) {
    if (!fits(ranks)) continue;
    if (allowed.least == 0) allowed.least = ranks;
    allowed.most = ranks;
  }
  return allowed;
}

bool has_old_algbw(std::span<const LogRow> rows, const Collective& collective, int ranks) {
  const double factor = collective.bus_factor(ranks);
  bool differs = false;
  for (const LogRow& row : rows) {
    for (const LogHalf& half : row.halves) {
      const Algbw kind = algbw_of(row, half, factor);
      if (kind == Algbw::Neither) return false;
      differs = differs || kind == Algbw::Old;
    }
  }
  return differs;
}

RowEvidence::RowEvidence(const LogTable& table, std::optional<int> ranks)
    : table_(table),
      // --columns may name the nodes of each row, and with them the ranks change.
      rows_(filtered(table.rows,
                     [&](const LogRow& row) { return row.nodes == table.rows.front().nodes; })),
      ranks_(ranks),
      op_(rows_.empty() ? "" : rows_.front().op) {
  read_root();
  read_parts();
  read_checks();
}

void RowEvidence::read_root() {
  for (const LogRow& row : rows_) {
    if (row.root) rooted_ = rooted_.value_or(false) || *row.root >= 0;
  }
  if (!rooted_ && !table_.columns.empty() && !has_column(table_, "root")) rooted_ = false;
}

void RowEvidence::read_parts() {
  for (const LogRow& row : rows_) {
    if (row.size == 0) continue;
    const int parts = parts_of(row);
    const bool same = parts > 0 && (parts_ == 0 || parts == parts_);
    parts_ = same ? parts : 0;
    if (!same) return;
  }
  if (parts_ == 0 || ranks_ == 1) return;
  parted_ = parts_ > 1;
}

void RowEvidence::read_checks() {
  for (const LogRow& row : rows_) {
    if (row.halves.size() != 2 || !was_checked(row.halves[0])) continue;
    checked_in_place_ = was_checked(row.halves[1]);
    return;
  }
}

/// Until August 2022 every test had its own columns: all-to-all a redop without a word in it, and
/// all-gather and send-receive neither redop nor root.
bool RowEvidence::allows_columns(const Collective& collective) const {
  const bool has_op = has_column(table_, "redop");
  const bool has_root = has_column(table_, "root");
  if (table_.columns.empty() || (has_op && has_root)) return true;
  if (has_root) return collective.rooted && !collective.reduces;
  const bool with_op = collective.reduces || collective.had_empty_redop;
  return !collective.rooted && with_op == has_op;
}

bool RowEvidence::allows_factor(const Collective& collective) const {
  const std::optional<int> ranks =
      !ranks_ && collective.counts_parts && parts_ > 1 ? parts_ : ranks_;
  if (ranks) return !contradicts(rows_, collective.bus_factor(*ranks));
  return !measured_factor(rows_) || ranks_allowed(rows_, collective).least > 0;
}

bool RowEvidence::allows(const Collective& collective) const {
  if (collective.movement == Movement::HostCopy) return false;  // their logs name them
  const bool reduces = !op_.empty() && op_ != "none";
  // Of all that do not reduce, send-receive alone has a redop since September 2022.
  const bool op_fits = collective.movement == Movement::SendReceive ||
                       reduces == collective.reduces || (op_.empty() && table_.columns.empty());
  const auto fits = [](std::optional<bool> seen, bool value) {
    return seen.value_or(value) == value;
  };
  // Earlier versions verified in place what they could not do in place.
  const bool old = checked_in_place_ == true && op_.empty();
  const bool parts_fit =
      fits(parted_, collective.counts_parts) &&
      (!collective.counts_parts || parted_ != true || !ranks_ || parts_ == *ranks_);
  return op_fits && fits(rooted_, collective.rooted) && parts_fit && allows_columns(collective) &&
         (old || fits(checked_in_place_, collective.checks_in_place)) && allows_factor(collective);
}

std::vector<std::string> RowEvidence::candidates() const {
  std::vector<std::string> names;
  for (const Collective& collective : all_collectives()) {
    if (!allows(collective)) continue;
    names.emplace_back(collective.name);
    // Its rows are those of an old all-gather: both bandwidths are (n - 1) / n of size over time.
    const bool gathers_to_all = collective.movement == Movement::Parts && !collective.reduces;
    const bool both = gathers_to_all && op_.empty() &&
                      has_old_algbw(rows_, collective, ranks_.value_or(std::max(parts_, 2)));
    if (both) names.emplace_back("hypercube");
  }
  return names;
}

std::string RowEvidence::text() const {
  std::vector<std::string> words;
  const char* no_op = has_column(table_, "redop") ? "an empty redop" : "no redop";
  words.push_back(op_.empty() ? no_op : "redop " + op_);
  if (rooted_) words.emplace_back(*rooted_ ? "a root" : "no root");
  if (parted_ == true) words.push_back(fmt::format("a count of 1/{} of the size", parts_));
  if (checked_in_place_ == false) words.emplace_back("not verified in place");
  if (checked_in_place_ == true && op_ == "none") words.emplace_back("verified in place");
  if (const auto factor = measured_factor(rows_)) {
    words.push_back(fmt::format("bus bandwidth {:.4g} times size over time", *factor));
  }
  if (ranks_) words.push_back(counted(*ranks_, "rank"));
  return join(words, ", ");
}

TableCollective collective_of(const LogTable& table, const std::string& place,
                              const std::string& given, std::optional<int> ranks) {
  const Collective* said = find_collective(table.collective);
  if (said == nullptr && !table.collective.empty()) {
    throw usage_error("{}: unknown collective '{}'; busbar knows {}", place, table.collective,
                      join(collective_names(), ", "));
  }
  if (said == nullptr) {
    return given.empty() ? inferred_collective(table, place, ranks)
                         : given_collective(table, place, given, ranks);
  }
  if (!given.empty() && said != &known(given)) {
    throw usage_error("{} is of {}, not of {}", place, said->name, known(given).name);
  }
  return {.collective = said};
}

}  // namespace busbar::study
