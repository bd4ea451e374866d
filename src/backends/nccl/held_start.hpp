// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>

#include "backends/nccl/cuda_api.hpp"

namespace busbar {

/// A gate in a stream: what is enqueued behind it runs when the host opens it.
class HeldStart {
 public:
  explicit HeldStart(cudaStream_t stream);
  HeldStart(const HeldStart&) = delete;
  HeldStart& operator=(const HeldStart&) = delete;
  ~HeldStart();

  /// Closes the gate; false where the driver cannot.
  [[nodiscard]] bool hold();
  /// Opens it.
  void start();

 private:
  cudaStream_t stream_;
  std::uint32_t* opened_ =
      nullptr;              // in host memory that the device reads: the gates that are open
  std::uint32_t gate_ = 0;  // the last one
  bool usable_;
};

}  // namespace busbar
