// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/record.hpp"

namespace busbar {

/// A column of every output: the CSV, the JSON, the documentation and the reader come from it.
struct RecordField {
  enum class Kind { Text, Number };

  std::string_view name;
  std::string_view unit;  ///< empty for words and plain numbers
  std::string_view meaning;
  Kind kind;
  /// The cell's text; empty where the record has no value.
  std::string (*get)(const Record& record);
  /// Reads the cell's text back; throws Error (Usage) where it is not a value of this column.
  void (*set)(Record& record, std::string_view text);
};

inline constexpr std::size_t kRecordFieldCount = 53;

/// All columns in their order. New columns go to the end: readers go by name, people by position.
[[nodiscard]] std::span<const RecordField, kRecordFieldCount> record_fields();

}  // namespace busbar
