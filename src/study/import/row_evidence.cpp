// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/row_evidence.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/import/bandwidth_check.hpp"
#include "study/import/nccl_row.hpp"

namespace busbar::study {
namespace {

bool has_column(const LogTable& table, std::string_view name) {
  return std::find(table.columns.begin(), table.columns.end(), name) != table.columns.end();
}

/// How many times the count goes into the size; 0 where it does not, or the row tells nothing.
int parts_of(const LogRow& row) {
  const Bytes part = row.count * size_of_type(row.type);
  constexpr Bytes kMostRanks = 65536;
  if (part == 0 || row.size % part != 0 || row.size / part > kMostRanks) return 0;
  return static_cast<int>(row.size / part);
}

/// --columns may name the nodes of each row, and with them the ranks change.
std::vector<LogRow> rows_like_first(const LogTable& table) {
  std::vector<LogRow> rows;
  for (const LogRow& row : table.rows) {
    if (row.nodes == table.rows.front().nodes) rows.push_back(row);
  }
  return rows;
}

bool was_checked(const LogHalf& half) { return half.wrong || half.error; }

}  // namespace

RowEvidence::RowEvidence(const LogTable& table, std::optional<int> ranks)
    : table_(table),
      rows_(rows_like_first(table)),
      ranks_(ranks),
      has_op_column_(has_column(table, "redop")),
      has_root_column_(has_column(table, "root")),
      op_(rows_.empty() ? "" : rows_.front().op) {
  read_root();
  read_parts();
  read_checks();
}

void RowEvidence::read_root() {
  const auto has_root = [](const LogRow& row) { return row.root && *row.root >= 0; };
  const auto has_none = [](const LogRow& row) { return row.root && *row.root < 0; };
  if (std::any_of(rows_.begin(), rows_.end(), has_root)) {
    rooted_ = Answer::Yes;
  } else if (std::any_of(rows_.begin(), rows_.end(), has_none) ||
             (!table_.columns.empty() && !has_root_column_)) {
    rooted_ = Answer::No;
  }
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
  parted_ = parts_ > 1 ? Answer::Yes : Answer::No;
}

void RowEvidence::read_checks() {
  for (const LogRow& row : rows_) {
    if (row.halves.size() != 2 || !was_checked(row.halves[0])) continue;
    checked_in_place_ = was_checked(row.halves[1]) ? Answer::Yes : Answer::No;
    return;
  }
}

/// Until August 2022 every test had its own columns: all-to-all a redop without a word in it, and
/// all-gather and send-receive neither redop nor root.
bool RowEvidence::allows_columns(const Collective& collective) const {
  if (table_.columns.empty() || (has_op_column_ && has_root_column_)) return true;
  if (has_root_column_) return collective.rooted && !collective.reduces;
  const bool with_op = collective.reduces || collective.name == "alltoall";
  return !collective.rooted && with_op == has_op_column_;
}

bool RowEvidence::allows_factor(const Collective& collective) const {
  const std::optional<int> ranks =
      !ranks_ && collective.counts_parts && parts_ > 1 ? parts_ : ranks_;
  if (ranks) return !contradicts(rows_, collective.bus_factor(*ranks));
  return !measured_factor(rows_) || ranks_allowed(rows_, collective).least > 0;
}

bool RowEvidence::allows(const Collective& collective) const {
  const bool reduces = !op_.empty() && op_ != "none";
  // Of all that do not reduce, send-receive alone has a redop since September 2022.
  const bool op_fits = collective.name == "sendrecv" || reduces == collective.reduces ||
                       (op_.empty() && table_.columns.empty());
  const auto fits = [](Answer answer, bool value) {
    return answer == Answer::Unknown || (answer == Answer::Yes) == value;
  };
  // Earlier versions verified in place what they could not do in place.
  const bool old = checked_in_place_ == Answer::Yes && op_.empty();
  const bool parts_fit =
      fits(parted_, collective.counts_parts) &&
      (!collective.counts_parts || parted_ != Answer::Yes || !ranks_ || parts_ == *ranks_);
  return op_fits && fits(rooted_, collective.rooted) && parts_fit && allows_columns(collective) &&
         (old || fits(checked_in_place_, collective.checks_in_place)) && allows_factor(collective);
}

std::vector<std::string> RowEvidence::candidates() const {
  std::vector<std::string> names;
  for (const Collective& collective : all_collectives()) {
    if (!allows(collective)) continue;
    names.emplace_back(collective.name);
    // Its rows are those of an old all-gather: both bandwidths are (n - 1) / n of size over time.
    const bool both = collective.name == "allgather" && op_.empty() &&
                      has_old_algbw(rows_, collective, ranks_.value_or(std::max(parts_, 2)));
    if (both) names.emplace_back("hypercube");
  }
  return names;
}

std::string RowEvidence::text() const {
  std::vector<std::string> words;
  const char* no_op = has_op_column_ ? "an empty redop" : "no redop";
  words.push_back(op_.empty() ? no_op : "redop " + op_);
  if (rooted_ != Answer::Unknown) words.emplace_back(rooted_ == Answer::Yes ? "a root" : "no root");
  if (parted_ == Answer::Yes) words.push_back(fmt::format("a count of 1/{} of the size", parts_));
  if (checked_in_place_ == Answer::No) words.emplace_back("not verified in place");
  if (checked_in_place_ == Answer::Yes && op_ == "none") words.emplace_back("verified in place");
  if (const auto factor = measured_factor(rows_)) {
    words.push_back(fmt::format("bus bandwidth {:.4g} times size over time", *factor));
  }
  if (ranks_) words.push_back(counted(static_cast<std::size_t>(*ranks_), "rank"));
  return join(words, ", ");
}

}  // namespace busbar::study
