// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "backends/nccl/libraries.hpp"
#include "base/units.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// A load of the current device: a kernel of ours, again and again on a stream of its own. It is
/// never more than a few launches ahead.
class DeviceLoad final : public SideWork {
 public:
  /// Copies the one to the other, of the same size.
  DeviceLoad(Buffer from, Buffer to);
  /// Computes; a pass takes that time on a device that does nothing else.
  explicit DeviceLoad(Seconds spin);

  void attach() override;
  void pass() override;
  void drain() override;

 private:
  void launch();
  void find_turns(Seconds spin);

  int device_ = 0;
  unsigned blocks_ = 1;
  CudaOwned<cudaStream_t> stream_ = make_cuda_stream();
  CudaOwned<std::byte*> result_;
  CudaOwned<CUmodule> kernels_;
  CUfunction copy_ = nullptr;
  CUfunction spin_ = nullptr;
  Buffer from_{};
  Buffer to_{};
  unsigned long long turns_ = 0;
  std::array<CudaOwned<cudaEvent_t>, 4> ends_{};  // of the last passes
  std::size_t next_ = 0;
};

}  // namespace busbar
