// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "model/record.hpp"

namespace busbar {

/// A cell as RFC 4180 wants it: quoted where it has a comma, a quote or a line end.
[[nodiscard]] std::string csv_cell(std::string_view text);
/// The columns' names on a line, from the one field list.
[[nodiscard]] std::string csv_header();
/// A record on a line.
[[nodiscard]] std::string csv_row(const Record& record);

}  // namespace busbar
