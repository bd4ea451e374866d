// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace busbar {

/// One line on stderr that is rewritten while a long row runs; silent if stderr is not a terminal.
class ProgressLine {
 public:
  ProgressLine();

  [[nodiscard]] bool enabled() const { return enabled_; }
  void show(const std::string& text);
  /// Removes the line, before anything else is printed.
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace busbar
