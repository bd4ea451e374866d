// SPDX-License-Identifier: BSD-3-Clause
#include "apps/warnings.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {

void print_warnings(std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    fmt::print(stderr, "busbar: warning: {}\n", one_line(warning));
  }
}

}  // namespace busbar
