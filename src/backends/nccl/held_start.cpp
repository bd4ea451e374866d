// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/held_start.hpp"

namespace busbar {

HeldStart::HeldStart(cudaStream_t stream)
    : stream_(stream), usable_(static_cast<bool>(cuda().wait_for_value)) {
  void* memory = nullptr;
  check_cuda(cuda().allocate_host(&memory, sizeof *opened_, cudaHostAllocMapped));
  opened_ = static_cast<std::uint32_t*>(memory);
  *opened_ = 0;
}

HeldStart::~HeldStart() {
  start();  // or a stream that is left in the middle would never end
  (void)cuda().release_host(opened_);
}

bool HeldStart::hold() {
  if (!usable_) return false;
  ++gate_;
  // Host memory has one address for host and device (unified addressing).
  const auto address = reinterpret_cast<CUdeviceptr>(opened_);
  usable_ =
      cuda().wait_for_value(stream_, address, gate_, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
  return usable_;
}

void HeldStart::start() { std::atomic_ref(*opened_).store(gate_, std::memory_order_release); }

}  // namespace busbar
