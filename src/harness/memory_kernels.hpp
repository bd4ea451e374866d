// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "base/units.hpp"

namespace busbar {

/// What collectives do to host memory, as the bound on them is measured with: by the harness and by
/// bench/host_limits.
enum class MemoryKernel {
  CopyWhole,   ///< one memcpy: the C library may write past the caches
  CopyBlocks,  ///< memcpy of kCopyBlock at a time: what was read and written stays in the caches
  Add          ///< to[i] += from[i] in floats
};

inline constexpr Bytes kCopyBlock = 64 * kKiB;
/// A source that begins so much after a multiple of its distance from the target: loads and stores
/// of equal low address bits hinder each other.
inline constexpr Bytes kSourceSkew = 2 * kKiB;

/// Runs it over all of `to` and as many bytes of `from`, which do not overlap. Both begin at
/// multiples of 64 and are whole floats long.
void run_kernel(MemoryKernel kernel, std::span<std::byte> to, std::span<const std::byte> from);

}  // namespace busbar
