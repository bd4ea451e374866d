// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "backends/nccl/cuda_api.hpp"

namespace busbar {

/// One period of a pattern in device memory, followed by its own first kTileTail bytes, so that a
/// vector may be read from any byte of the period on.
struct DeviceTile {
  const unsigned char* data = nullptr;
  unsigned long long period = 0;  ///< bytes
};

inline constexpr unsigned long long kTileTail = 32;

/// What a comparison found; in device memory.
struct DeviceComparison {
  unsigned long long wrong = 0;        ///< elements; is added to
  unsigned long long first_wrong = 0;  ///< the smallest index; is lowered
};

/// Our own kernels (kernels.cuh), loaded for the current device from the fatbin in the program.
class DeviceKernels {
 public:
  DeviceKernels();
  DeviceKernels(const DeviceKernels&) = delete;
  DeviceKernels& operator=(const DeviceKernels&) = delete;
  ~DeviceKernels() { (void)cuda().unload_module(module_); }

  /// Writes the tile, repeated, from its byte `first_byte` on. `to` is device memory.
  void fill(unsigned char* to, unsigned long long bytes, DeviceTile tile,
            unsigned long long first_byte, cudaStream_t stream) const;

  /// Compares `count` elements of `element` bytes (a power of two up to 8) bit by bit with the tile
  /// from its byte `first_byte` on. `data` and `result` are device memory, `data` on a multiple of
  /// `element`.
  void compare(const unsigned char* data, unsigned long long count, unsigned element,
               DeviceTile tile, unsigned long long first_byte, DeviceComparison* result,
               cudaStream_t stream) const;

 private:
  CUmodule module_ = nullptr;
  CUfunction fill_ = nullptr;
  CUfunction compare_ = nullptr;
};

}  // namespace busbar
