// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

namespace busbar {

/// A line each, on stderr: what is piped on stays as it is.
void print_warnings(std::span<const std::string> warnings);

}  // namespace busbar
