// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/units.hpp"

namespace busbar {

enum class RowStatus { Ok, Wrong, Skipped, Failed };
constexpr auto enum_names(RowStatus) {
  return std::array{Named{RowStatus::Ok, "ok"}, Named{RowStatus::Wrong, "wrong"},
                    Named{RowStatus::Skipped, "skipped"}, Named{RowStatus::Failed, "failed"}};
}

/// One measured row: one size of one collective, out of place or in place. A member that has no
/// value is empty in every output.
struct Record {
  std::string collective{};
  std::string backend{};
  int ranks = 0;
  int nodes = 0;
  std::string type{};
  std::string op{};
  std::optional<int> root{};
  bool in_place = false;
  Bytes size = 0;
  std::uint64_t count = 0;
  RowStatus status = RowStatus::Ok;
  std::string reason{};
  std::string flags{};
  std::string cadence{};
  std::optional<std::uint64_t> samples{};
  std::optional<std::uint64_t> operations{};
  std::string stop_reason{};
  std::optional<double> time_median_us{};
  std::optional<double> time_ci_low_us{};
  std::optional<double> time_ci_high_us{};
  std::optional<double> time_mean_us{};
  std::optional<double> time_min_us{};
  std::optional<double> time_p90_us{};
  std::optional<double> time_p99_us{};
  std::optional<double> time_max_us{};
  std::optional<double> start_skew_us{};
  std::optional<double> algbw_GBps{};
  std::optional<double> busbw_GBps{};
  std::optional<std::uint64_t> wrong{};
  std::optional<double> autocorrelation_time{};
  std::optional<std::uint64_t> batch{};
  std::optional<std::uint64_t> warmup_operations{};
  std::optional<double> minor_faults_per_op{};
  std::optional<double> involuntary_switches_per_op{};
  std::string aggregation{};
  std::string progress{};
  std::string cache{};
  std::optional<Bytes> segment_bytes{};
  std::uint64_t cycle = 0;
  std::string finished_at{};
  std::optional<double> host_time_us{};
  std::optional<double> enqueue_time_us{};
  std::optional<int> group{};
  std::optional<int> sender{};
  std::optional<int> receiver{};
  std::string device_set{};
  std::optional<double> bound_GBps{};
  std::string bound_kind{};
  std::optional<double> efficiency{};
  std::string algorithm{};
  std::string protocol{};
  std::optional<int> channels{};
  std::string pages{};
  std::optional<std::uint64_t> visits{};
  std::optional<double> visit_cv{};
  std::string interval_scope{};
  std::optional<int> last_rank{};
  std::string last_host{};
  std::optional<double> last_share{};
  std::optional<double> late_by_us{};
  std::optional<double> load_us{};
  std::optional<double> time_p999_us{};
  std::optional<double> time_p999_low_us{};
  std::optional<double> time_p999_high_us{};
  std::optional<int> round{};
  std::string hosts{};
  std::string group_ranks{};
  std::optional<std::uint64_t> groups_seed{};
  std::optional<double> connect_s{};
  std::string distribution{};
  std::optional<double> imbalance{};
  std::string variant{};
  std::string mix{};
  std::optional<double> slowdown{};
  std::optional<double> slowdown_low{};
  std::optional<double> slowdown_high{};
  std::optional<double> slowdown_p99{};
  std::optional<double> slowdown_p99_low{};
  std::optional<double> slowdown_p99_high{};
  std::optional<double> alone_time_us{};
  std::optional<double> alone_p99_us{};
  std::optional<double> load_slowdown{};
  std::optional<double> load_slowdown_low{};
  std::optional<double> load_slowdown_high{};
};

/// A column of every output: the CSV, the JSON, the documentation and the reader come from it.
struct RecordField {
  enum class Kind { Text, Number };
  /// What a column says of two rows that differ in it alone. Key: other ranks, roots, sizes, ...:
  /// not the same measurement. Setting: the same one, set up in another way. Result: nothing.
  enum class Role { Result, Key, Setting };

  std::string_view name;
  std::string_view unit;  ///< empty for words and plain numbers
  std::string_view meaning;
  Kind kind;
  Role role;
  /// The cell's text; empty where the record has no value.
  std::string (*get)(const Record& record);
  /// Reads the cell's text back; throws Error (Usage) where it is not a value of this column.
  void (*set)(Record& record, std::string_view text);
};

/// Seven digits, beyond what any clock here resolves; a whole number never has an exponent.
[[nodiscard]] std::string number_text(double value);

/// All columns in their order. New columns go to the end: readers go by name, people by position.
[[nodiscard]] std::span<const RecordField> record_fields();
[[nodiscard]] std::vector<const RecordField*> fields_of(RecordField::Role role);

/// The record's cells of the setting columns: rows that differ in them are never one number.
[[nodiscard]] std::vector<std::string> settings_of(const Record& record);
/// "hot:2 NCCL_ALGO=Ring"; empty where there is no setting.
[[nodiscard]] std::string setting_text(std::span<const std::string> settings);
[[nodiscard]] inline std::string setting_of(const Record& record) {
  return setting_text(settings_of(record));
}

}  // namespace busbar
