// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/buffer.hpp"
#include "model/communicator.hpp"
#include "model/pattern.hpp"

namespace busbar {

/// Host memory on 2 MiB pages where the kernel has them, faulted in by the calling rank (so that it
/// lies on that rank's NUMA node) and poisoned. Throws Error (Runtime) where there is none.
[[nodiscard]] Buffer allocate_host(Bytes bytes);

/// Writes elements [first, first + count) of a tile's pattern to `to`.
void fill_host(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first);

/// Overwrites memory with bytes that no pattern contains.
void poison_host(std::byte* to, Bytes bytes);

/// Compares elements [first, first + count) of a tile's pattern with memory, bit by bit.
[[nodiscard]] Comparison compare_host(const std::byte* data, std::uint64_t count, const Tile& tile,
                                      std::uint64_t first);

}  // namespace busbar
