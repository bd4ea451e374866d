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

/// How many times the count goes into the size of all rows that have one; 0: of no one number.
int parts_of(std::span<const LogRow> rows) {
  Bytes parts = 0;
  for (const LogRow& row : rows) {
    const Bytes part = row.count * size_of_type(row.type);
    if (row.size == 0) continue;
    if (part == 0 || row.size % part != 0 || row.size / part > kMostInferred) return 0;
    if (parts != 0 && parts != row.size / part) return 0;
    parts = row.size / part;
  }
  return static_cast<int>(parts);
}

bool was_checked(const LogHalf& half) { return half.wrong || half.error; }

/// Whether the rows were verified in place too; nothing where they were not at all.
std::optional<bool> checked_in_place(std::span<const LogRow> rows) {
  for (const LogRow& row : rows) {
    if (row.halves.size() != 2 || !was_checked(row.halves[0])) continue;
    return was_checked(row.halves[1]);
  }
  return std::nullopt;
}

/// Bus bandwidth over size over time, by the row with the most digits.
std::optional<double> measured_factor(std::span<const LogRow> rows) {
  const std::vector<SeenRate> seen = observations_of(rows);
  const auto best =
      std::ranges::max_element(seen, {}, [](const SeenRate& one) { return one.busbw.value; });
  if (best == seen.end() || best->busbw.value <= 0) return std::nullopt;
  return best->busbw.value / ((best->rate.low + best->rate.high) / 2);
}

/// What the rows of a table show of their collective, which the log does not name. nccl-tests'
/// source of all versions since 2019 is behind the rules.
class RowEvidence {
 public:
  /// `ranks` where the log or the user gives them.
  RowEvidence(const LogTable& table, std::optional<int> ranks)
      : table_(table),
        // --columns may name the nodes of each row, and with them the ranks change.
        rows_(filtered(table.rows,
                       [&](const LogRow& row) { return row.nodes == table.rows.front().nodes; })),
        ranks_(ranks),
        op_(table.rows.front().op),
        parts_(ranks == 1 ? 0 : parts_of(rows_)),
        checked_in_place_(checked_in_place(rows_)) {
    for (const LogRow& row : rows_) {
      if (row.root) rooted_ = rooted_.value_or(false) || *row.root >= 0;
    }
    if (!rooted_ && !table.columns.empty() && !contains(table.columns, "root")) rooted_ = false;
    // Earlier versions verified in place what they could not do in place.
    if (op_.empty() && checked_in_place_ == true) checked_in_place_.reset();
  }

  /// Names of all collectives that can have printed the rows.
  [[nodiscard]] std::vector<std::string> candidates() const {
    std::vector<std::string> names;
    for (const Collective& collective : all_collectives()) {
      if (allows(collective)) names.emplace_back(collective.name);
    }
    return names;
  }
  [[nodiscard]] bool allows_op(const Collective& collective) const {
    // Until August 2022 an all-to-all had a redop without a word in it, and all others without a
    // reduction no such column.
    if (op_.empty() && table_.columns.empty()) return true;
    if (op_.empty()) return !collective.reduces && has_redop() == collective.had_empty_redop;
    // Of all that do not reduce, send-receive alone has a redop since September 2022.
    return collective.movement == Movement::SendReceive || (op_ != "none") == collective.reduces;
  }
  /// False where no bus factor of the collective is that of a good part of the rows.
  [[nodiscard]] bool allows_factor(const Collective& collective) const {
    const std::optional<int> ranks =
        !ranks_ && collective.counts_parts && parts_ > 1 ? parts_ : ranks_;
    if (ranks) return !contradicts(rows_, collective.bus_factor(*ranks));
    return !measured_factor(rows_) || ranks_allowed(rows_, collective).least > 0;
  }
  /// "redop sum, no root, bus bandwidth 1.75 times size over time, on 8 ranks".
  [[nodiscard]] std::string text() const {
    std::vector<std::string> words;
    words.push_back(op_.empty() ? has_redop() ? "an empty redop" : "no redop" : "redop " + op_);
    if (rooted_) words.emplace_back(*rooted_ ? "a root" : "no root");
    if (parts_ > 1) words.push_back(fmt::format("a count of 1/{} of the size", parts_));
    if (checked_in_place_ == false) words.emplace_back("not verified in place");
    if (checked_in_place_ == true && op_ == "none") words.emplace_back("verified in place");
    if (const auto factor = measured_factor(rows_)) {
      words.push_back(fmt::format("bus bandwidth {:.4g} times size over time", *factor));
    }
    if (ranks_) words.push_back(counted(*ranks_, "rank"));
    return join(words, ", ");
  }

 private:
  [[nodiscard]] bool has_redop() const { return contains(table_.columns, "redop"); }

  [[nodiscard]] bool allows(const Collective& collective) const {
    if (collective.movement == Movement::HostCopy) return false;  // their logs name them
    if (rooted_.value_or(collective.rooted) != collective.rooted) return false;
    if (checked_in_place_.value_or(collective.checks_in_place) != collective.checks_in_place) {
      return false;
    }
    return allows_op(collective) && allows_parts(collective) && allows_factor(collective);
  }
  [[nodiscard]] bool allows_parts(const Collective& collective) const {
    if (parts_ == 0) return true;
    return collective.counts_parts ? parts_ > 1 && parts_ == ranks_.value_or(parts_) : parts_ == 1;
  }

  const LogTable& table_;
  std::vector<LogRow> rows_;
  std::optional<int> ranks_;
  std::string op_;  ///< empty where the log has none
  int parts_;       ///< parts_of
  std::optional<bool> checked_in_place_;
  std::optional<bool> rooted_{};
};

const Collective& known(const std::string& given) {
  const Collective* collective = find_collective(given);
  if (collective != nullptr) return *collective;
  throw usage_error("invalid value '{}' for --collective; expected one of {}", given,
                    join(collective_names(), ", "));
}

TableCollective unnamed_collective(const LogTable& table, const std::string& place,
                                   const std::string& given, std::optional<int> ranks) {
  // The user's ranks are checked against the user's collective afterwards.
  const std::optional<int> given_ranks = given.empty() ? ranks : std::nullopt;
  const RowEvidence evidence(table, ranks ? given_ranks : listed_ranks(table));
  const std::vector<std::string> fitting = evidence.candidates();
  if (given.empty()) {
    if (fitting.size() == 1) return {find_collective(fitting.front()), evidence.text(), true};
    throw usage_error(
        "{}: the log does not say which collective it is of, and its rows ({}) fit {}; give "
        "--collective NAME",
        place, evidence.text(), fitting.empty() ? "none that busbar knows" : alternatives(fitting));
  }
  const Collective& collective = known(given);
  // Rows of which some are damaged may fit none.
  const bool fits = fitting.empty()
                        ? evidence.allows_op(collective) && evidence.allows_factor(collective)
                        : contains(fitting, collective.name);
  if (fits) return {&collective, "--collective"};
  throw usage_error(
      "--collective {}: {} is of another: its rows have {}{}", collective.name, place,
      evidence.text(),
      fitting.empty()
          ? "; give the collective that was run, or --ranks N"
          : fmt::format(": that is {}; give it, or leave --collective out", alternatives(fitting)));
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

TableCollective collective_of(const LogTable& table, const std::string& place,
                              const std::string& given, std::optional<int> ranks) {
  const Collective* said = find_collective(table.collective);
  if (said == nullptr && !table.collective.empty()) {
    throw usage_error("{}: unknown collective '{}'; busbar knows {}", place, table.collective,
                      join(collective_names(), ", "));
  }
  if (said == nullptr) return unnamed_collective(table, place, given, ranks);
  if (!given.empty() && said != &known(given)) {
    throw usage_error("{} is of {}, not of {}", place, said->name, known(given).name);
  }
  return {.collective = said};
}

}  // namespace busbar::study
