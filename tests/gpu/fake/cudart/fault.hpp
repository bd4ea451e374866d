// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace fake_gpu {

enum class FaultKind { None, Fail, Async, Hang, Wrong, Oom, Lost, Gone, Slow };

struct Fault {
  FaultKind kind = FaultKind::None;
  std::string function;
  int nth = 0;
  /// -1: every rank.
  int rank = -1;
  /// Of `slow`.
  double seconds = 1;
};

/// FAKE_GPU_FAULT for this process, and how often each function was called.
class FaultPlan {
 public:
  explicit FaultPlan(std::vector<Fault> faults) : faults_(std::move(faults)) {}

  /// Counts a call, and names the fault that is due in it.
  [[nodiscard]] FaultKind count_call(const char* function);
  /// How long a slow call of this function takes.
  [[nodiscard]] double seconds(std::string_view function) const;

 private:
  std::mutex mutex_;
  std::vector<Fault> faults_;
  std::map<std::string, int, std::less<>> calls_;
};

[[nodiscard]] FaultPlan& fault_plan();

}  // namespace fake_gpu
