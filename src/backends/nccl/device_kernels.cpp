// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_kernels.hpp"

#include <algorithm>
#include <array>

// The fatbin: backend.mk.
extern "C" const unsigned char busbar_kernels[];  // NOLINT(readability-identifier-naming)

namespace busbar {
namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 2048;  // several for each multiprocessor of the largest devices
constexpr unsigned long long kVector = 16;  // bytes that a thread takes at a time

/// A launch over so many bytes; `arguments` are addresses of the kernel's arguments.
template <std::size_t N>
void launch(CUfunction kernel, unsigned long long bytes, std::array<void*, N> arguments,
            cudaStream_t stream) {
  const auto blocks = static_cast<unsigned>(
      std::min<unsigned long long>(bytes / (kVector * kThreads) + 1, kMostBlocks));
  check_driver(cuda().launch_kernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, stream,
                                    arguments.data(), nullptr));
}

}  // namespace

DeviceKernels::DeviceKernels() {
  check_driver(cuda().load_module(&module_, busbar_kernels));
  check_driver(cuda().get_kernel(&fill_, module_, "busbar_fill"));
  check_driver(cuda().get_kernel(&compare_, module_, "busbar_compare"));
}

void DeviceKernels::fill(unsigned char* to, unsigned long long bytes, DeviceTile tile,
                         unsigned long long first_byte, cudaStream_t stream) const {
  launch(fill_, bytes, std::array<void*, 5>{&to, &bytes, &tile.data, &tile.period, &first_byte},
         stream);
}

void DeviceKernels::compare(const unsigned char* data, unsigned long long count, unsigned element,
                            DeviceTile tile, unsigned long long first_byte,
                            DeviceComparison* result, cudaStream_t stream) const {
  unsigned long long* counts = &result->wrong;
  launch(
      compare_, count * element,
      std::array<void*, 7>{&data, &count, &element, &tile.data, &tile.period, &first_byte, &counts},
      stream);
}

}  // namespace busbar
