// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace busbar {

/// A place in our own source, for errors that are a fault of the program or of a library.
struct Where {
  const char* file = "";
  int line = 0;

  /// The caller's place: use it as a default argument only.
  [[nodiscard]] static constexpr Where here(const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace busbar
