// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "base/options.hpp"
#include "base/text.hpp"
#include "study/import/log_reader.hpp"

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

/// Whether the rows were verified in place too; nothing where they were not at all.
std::optional<bool> checked_in_place(std::span<const LogRow> rows) {
  const auto was_checked = [](const LogHalf& half) { return half.wrong || half.error; };
  for (const LogRow& row : rows) {
    if (row.halves.size() == 2 && was_checked(row.halves[0])) return was_checked(row.halves[1]);
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

using Fits = std::function<bool(const Collective&)>;

/// What the rows of a table show of their collective, which the log does not name.
struct Clue {
  std::string text{};  ///< for people; empty: not worth telling
  Fits fits{};
  bool of_most_rows = false;  ///< stands where some rows are damaged
};

/// nccl-tests' source of all versions since 2019 is behind the rules.
class ClueFinder {
 public:
  /// `ranks` where the log or the user gives them.
  ClueFinder(const LogTable& table, std::optional<int> ranks)
      // --columns may name the nodes of each row, and with them the ranks change.
      : rows_(filtered(table.rows,
                       [&](const LogRow& row) { return row.nodes == table.rows.front().nodes; })),
        columns_(table.columns),
        ranks_(ranks),
        op_(rows_.front().op) {}

  [[nodiscard]] std::vector<Clue> find() {
    look_at_columns();
    look_at_numbers();
    look_at_factor();
    if (ranks_) add(counted(*ranks_, "rank"), [](const Collective&) { return true; });
    return std::move(clues_);
  }

 private:
  void add(const std::string& text, const Fits& fits, bool of_most_rows = false) {
    clues_.push_back({text, fits, of_most_rows});
  }

  void look_at_columns() {
    const bool has_redop = contains(columns_, "redop");
    const Fits reduces = [op = op_](const Collective& one) {
      // Of all that do not reduce, send-receive alone has a redop since September 2022.
      return one.movement == Movement::SendReceive || (op != "none") == one.reduces;
    };
    // Until then an all-to-all had a redop without a word in it, and all others no such column.
    const Fits moves_only = [=, named = !columns_.empty()](const Collective& one) {
      return !named || (!one.reduces && has_redop == one.had_empty_redop);
    };
    if (op_.empty()) add(has_redop ? "an empty redop" : "no redop", moves_only, true);
    if (!op_.empty()) add("redop " + op_, reduces, true);
    const auto has_root = [&](int least) {
      return std::ranges::any_of(rows_, [=](const LogRow& row) { return row.root >= least; });
    };
    if (!has_root(-1) && (columns_.empty() || contains(columns_, "root"))) return;
    const bool rooted = has_root(0);
    add(rooted ? "a root" : "no root", [=](const auto& one) { return one.rooted == rooted; });
  }

  void look_at_numbers() {
    const std::string share = fmt::format("a count of 1/{} of the size", parts_);
    const auto is_split = [parts = parts_, ranks = ranks_](const Collective& one) {
      return one.counts_parts ? parts > 1 && parts == ranks.value_or(parts) : parts <= 1;
    };
    if (parts_ > 0) add(parts_ > 1 ? share : "", is_split);
    // Earlier versions verified in place what they could not do in place.
    if (const auto checked = checked_in_place(rows_); checked && !(op_.empty() && *checked)) {
      const char* verified = op_ == "none" ? "verified in place" : "";
      add(*checked ? verified : "not verified in place",
          [=](const Collective& one) { return one.checks_in_place == *checked; });
    }
  }

  void look_at_factor() {
    const auto factor = measured_factor(rows_);
    const Fits fits = [*this, factor](const Collective& one) {
      const auto of = !ranks_ && one.counts_parts && parts_ > 1 ? parts_ : ranks_;
      if (of) return !contradicts(rows_, one.bus_factor(*of));
      return !factor || ranks_allowed(rows_, one).least > 0;
    };
    add(factor ? fmt::format("bus bandwidth {:.4g} times size over time", *factor) : "", fits,
        true);
  }

  std::vector<LogRow> rows_;
  Words columns_;
  std::optional<int> ranks_;
  std::string op_;
  int parts_ = ranks_ == 1 ? 0 : parts_of(rows_);
  std::vector<Clue> clues_{};
};

const Collective& known(const std::string& given) {
  const Collective* collective = find_collective(given);
  if (collective != nullptr) return *collective;
  throw usage_error("invalid value '{}' for --collective; expected one of {}", given,
                    join(collective_names(), ", "));
}

bool all_fit(std::span<const Clue> clues, const Collective& one, bool some_are_damaged = false) {
  return std::ranges::all_of(clues, [&](const Clue& clue) {
    return (some_are_damaged && !clue.of_most_rows) || clue.fits(one);
  });
}

TableCollective unnamed_collective(const LogTable& table, const std::string& place,
                                   const std::string& given, std::optional<int> ranks) {
  // The user's ranks are checked against the user's collective afterwards.
  const std::optional<int> given_ranks = given.empty() ? ranks : std::nullopt;
  const std::vector<Clue> clues =
      ClueFinder(table, ranks ? given_ranks : listed_ranks(table)).find();
  Words fitting;
  for (const Collective& one : all_collectives()) {
    const bool is_named = one.movement == Movement::HostCopy;  // by its log
    if (!is_named && all_fit(clues, one)) fitting.emplace_back(one.name);
  }
  Words texts;
  for (const Clue& clue : clues) add_new(texts, clue.text);
  const std::string shown = join(texts, ", ");
  if (given.empty()) {
    if (fitting.size() == 1) return {find_collective(fitting.front()), shown, true};
    throw usage_error(
        "{}: the log does not say which collective it is of, and its rows ({}) fit {}; give "
        "--collective NAME",
        place, shown, fitting.empty() ? "none that busbar knows" : alternatives(fitting));
  }
  const Collective& collective = known(given);
  if (fitting.empty() ? all_fit(clues, collective, true) : contains(fitting, collective.name)) {
    return {&collective, "--collective"};
  }
  throw usage_error(
      "--collective {}: {} is of another: its rows have {}{}", collective.name, place, shown,
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
