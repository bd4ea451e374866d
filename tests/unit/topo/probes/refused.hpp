// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/error.hpp"

namespace busbar::topo {

/// The message of the Error that `action` throws, or "" where it throws none.
template <typename Action>
[[nodiscard]] std::string refusal(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace busbar::topo
