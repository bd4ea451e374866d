// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "study/import/log.hpp"

namespace busbar::study {

/// A member that is a finite number and not negative, printed to this unit; nothing for others, as
/// "nan".
[[nodiscard]] std::optional<Printed> json_number(const Json& object, const char* key,
                                                 double half_unit);
/// A member that is a whole number and not negative.
[[nodiscard]] std::optional<std::uint64_t> json_count(const Json& object, const char* key);
/// A member that is a text or a whole number, as text; empty for others.
[[nodiscard]] std::string json_word(const Json& object, const char* key);

/// What `read` makes of a document. Throws Error (Usage) in one line, naming path and tool, where
/// it is damaged or another.
template <class Read>
[[nodiscard]] auto read_json(std::string_view text, const std::string& path, std::string_view tool,
                             Read read) {
  try {
    return read(Json::parse(text));
  } catch (const Json::exception& error) {
    throw usage_error("{}: not {}'s JSON: {}", path, tool, one_line(error.what()));
  }
}

}  // namespace busbar::study
