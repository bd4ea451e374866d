// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include "base/units.hpp"

namespace busbar {

/// Takes Ctrl-C, SIGTERM and SIGHUP while it lives, so that a program can end in order what it has
/// started. To be made before any other thread.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// The first of these signals, 0 before it. Waits so long at most for one or for a child's end.
  [[nodiscard]] int wait(Seconds time = Seconds{0});

 private:
  sigset_t signals_{};
  sigset_t before_{};
  int first_ = 0;
};

}  // namespace busbar
