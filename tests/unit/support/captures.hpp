// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

namespace busbar::test {

/// A folder of real captures that does not come with the project; absent in an ordinary clone.
inline const std::filesystem::path kSharedData = "../shared/data";

/// The captures of that name: the real ones, or the few of our own making where they are absent.
[[nodiscard]] inline std::filesystem::path captures(const std::string& name) {
  const std::filesystem::path real = kSharedData / name;
  return std::filesystem::exists(real) ? real
                                       : "tests/fixtures/captures" / std::filesystem::path(name);
}

}  // namespace busbar::test
