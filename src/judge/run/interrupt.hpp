// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace busbar::judge {

/// Takes Ctrl-C, SIGTERM and SIGHUP while it lives, so that a run can end its launches and its
/// journal in order. To be made before any other thread.
class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) = delete;
  InterruptWatch& operator=(const InterruptWatch&) = delete;
  ~InterruptWatch();

  /// Becomes true with the first of these signals.
  [[nodiscard]] const std::atomic<bool>& interrupted() const { return interrupted_; }

 private:
  void wait();

  std::atomic<bool> interrupted_ = false;
  std::atomic<bool> done_ = false;
  sigset_t before_{};
  std::thread thread_;
};

}  // namespace busbar::judge
