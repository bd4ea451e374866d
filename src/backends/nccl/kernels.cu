// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/kernels.hpp"

#include "backends/nccl/kernels.cuh"

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kMostBlocks = 2048;  // several for each multiprocessor of the largest devices

unsigned blocks_for(Count bytes) {
  const Count wanted = bytes / (kVector * kThreads) + 1;
  return static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
}

}  // namespace

namespace busbar {

cudaError_t launch_fill(unsigned char* to, unsigned long long bytes, DeviceTile tile,
                        unsigned long long first_byte, cudaStream_t stream) {
  busbar_fill<<<blocks_for(bytes), kThreads, 0, stream>>>(to, bytes, tile.data, tile.period,
                                                          first_byte);
  return cudaGetLastError();
}

cudaError_t launch_compare(const unsigned char* data, unsigned long long count, unsigned element,
                           DeviceTile tile, unsigned long long first_byte, DeviceComparison* result,
                           cudaStream_t stream) {
  busbar_compare<<<blocks_for(count * element), kThreads, 0, stream>>>(
      data, count, element, tile.data, tile.period, first_byte, &result->wrong);
  return cudaGetLastError();
}

}  // namespace busbar
