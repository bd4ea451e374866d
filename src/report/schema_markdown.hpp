// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace busbar {

/// docs/csv.md: the CSV's description, from the one field list.
[[nodiscard]] std::string schema_markdown();

}  // namespace busbar
