// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/kernels.hpp"

#include <algorithm>
#include <cstdint>

#include "tests/fake_gpu/cudart/runtime.hpp"

namespace fake_gpu {
namespace {

using Bytes = unsigned long long;

/// A pattern that repeats itself, seen from some place in it.
struct Tile {
  const unsigned char* bytes;
  Bytes period;
  Bytes first;

  [[nodiscard]] unsigned char at(Bytes i) const { return bytes[(first + i) % period]; }
};

template <class T>
T argument(void* const* arguments, int index) {
  return *static_cast<const T*>(arguments[index]);
}

/// busbar_fill(to, bytes, tile, period_bytes, first_byte)
Job fill(void* const* arguments) {
  auto* to = argument<unsigned char*>(arguments, 0);
  const auto bytes = argument<Bytes>(arguments, 1);
  const auto* tile = argument<const unsigned char*>(arguments, 2);
  const auto period = argument<Bytes>(arguments, 3);
  const auto first = argument<Bytes>(arguments, 4);
  Job job;
  job.result = to;
  job.run = [=] {
    unsigned char* target = memory().contents(to, bytes);
    const Tile source{memory().contents(tile, period), period, first};
    if (target == nullptr || source.bytes == nullptr) return bytes == 0;
    if (period == 0) return bytes == 0;
    for (Bytes done = 0; done < bytes;) {
      const Bytes from = (first + done) % period;
      const Bytes run = std::min(period - from, bytes - done);
      std::copy_n(source.bytes + from, run, target + done);
      done += run;
    }
    return true;
  };
  return job;
}

/// busbar_compare(data, count, element_bytes, tile, period_bytes, first_byte, result)
Job compare(void* const* arguments) {
  const auto* data = argument<const unsigned char*>(arguments, 0);
  const auto count = argument<Bytes>(arguments, 1);
  const auto element = argument<unsigned>(arguments, 2);
  const auto* tile = argument<const unsigned char*>(arguments, 3);
  const auto period = argument<Bytes>(arguments, 4);
  const auto first = argument<Bytes>(arguments, 5);
  auto* result = argument<Bytes*>(arguments, 6);
  Job job;
  job.result = result;
  job.run = [=] {
    const unsigned char* found = memory().contents(data, count * element);
    const Tile wanted{memory().contents(tile, period), period, first};
    unsigned char* contents = memory().contents(result, 2 * sizeof(Bytes));
    if (contents == nullptr || reinterpret_cast<std::uintptr_t>(result) % sizeof(Bytes) != 0)
      return false;
    if (found == nullptr || wanted.bytes == nullptr || period == 0) return count == 0;
    auto* answer = reinterpret_cast<Bytes*>(contents);
    for (Bytes j = 0; j < count; ++j) {
      unsigned b = 0;
      while (b < element && found[j * element + b] == wanted.at(j * element + b)) ++b;
      if (b == element) continue;
      ++answer[0];
      answer[1] = std::min(answer[1], j);
    }
    return true;
  };
  return job;
}

bool is_sane(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return grid.x >= 1 && grid.x <= 0x7FFFFFFF && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 &&
         grid.z <= 65535 && threads >= 1 && threads <= 1024;
}

}  // namespace

Kernel find_kernel(std::string_view name) {
  if (name == "busbar_fill") return fill;
  if (name == "busbar_compare") return compare;
  return nullptr;
}

cudaError_t launch_kernel(Kernel kernel, const dim3& grid, const dim3& block,
                          void* const* arguments, cudaStream_t stream) {
  if (!is_sane(grid, block)) return cudaErrorInvalidConfiguration;
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr || queue->device() != this_thread().device) {
    return cudaErrorInvalidResourceHandle;
  }
  return submit(queue, kernel(arguments));
}

}  // namespace fake_gpu
