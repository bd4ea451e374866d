// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation.hpp"

#include <array>

namespace busbar::judge {

std::string_view name(Purpose purpose) {
  constexpr std::array<std::string_view, 3> kNames{"measure", "rerun", "confirm"};
  return kNames.at(static_cast<std::size_t>(purpose));
}

}  // namespace busbar::judge
