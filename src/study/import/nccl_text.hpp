// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/import/log.hpp"

namespace busbar::study {

/// The names of a table's columns: "size", "count", "type", ... as nccl-tests' line has them.
using LogColumns = std::vector<std::string>;

/// The columns where the words are nccl-tests' line of column names, in any of its versions.
[[nodiscard]] std::optional<LogColumns> columns_of(std::span<const std::string> words);

/// The columns of a row without names above it, where its shape is one of nccl-tests' own: 11
/// words, 12 with a reduction or a root, 13 with both.
[[nodiscard]] std::optional<LogColumns> columns_by_shape(std::span<const std::string> words);

/// Reads a row. Throws a usage error without a place where a word is not what its column says.
[[nodiscard]] LogRow read_row(const LogColumns& columns, std::span<const std::string> words);

/// True for the name of an element type, in any version's spelling.
[[nodiscard]] bool is_type_name(std::string_view word);
/// Its size in bytes; 0 where it is none.
[[nodiscard]] Bytes size_of_type(std::string_view word);

}  // namespace busbar::study
