// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace fake_gpu {

/// One piece of work that will be done, or not.
class Completion {
 public:
  void finish();
  [[nodiscard]] bool is_done() const;
  /// When it was done, in ns of CLOCK_MONOTONIC.
  [[nodiscard]] std::int64_t time_ns() const;
  /// Waits until it is done (true) or `given_up` is set (false; looked at every few ms).
  [[nodiscard]] bool wait(const std::atomic<int>& given_up) const;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  bool done_ = false;
  std::int64_t time_ns_ = 0;
};

using Ticket = std::shared_ptr<Completion>;

[[nodiscard]] std::int64_t monotonic_ns();

}  // namespace fake_gpu
