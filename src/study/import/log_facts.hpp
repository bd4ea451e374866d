// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "study/import/log_table.hpp"

namespace busbar::study {

/// "key: value" lines for the head of a CSV.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// What logs tell of themselves: where they are from, tool, library, devices, hosts, command.
[[nodiscard]] Facts facts_of(std::span<const LogFile> logs);

}  // namespace busbar::study
