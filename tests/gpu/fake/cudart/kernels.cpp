// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/gpu/fake/cudart/runtime.hpp"

// Kernels linked into a program: what nvcc makes of `kernel<<<...>>>(...)`, and of the code around
// it. Nothing here is needed by programs that load their kernels through the driver.
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
  return {[=] {
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
          },
          to};
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
  return {
      [=] {
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
      },
      result};
}

/// busbar_load_copy(to, from, bytes)
Job load_copy(void* const* arguments) {
  auto* to = argument<unsigned char*>(arguments, 0);
  const auto* from = argument<const unsigned char*>(arguments, 1);
  const auto bytes = argument<Bytes>(arguments, 2);
  return {[=] {
            unsigned char* written = memory().contents(to, bytes);
            const unsigned char* read = memory().contents(from, bytes);
            if (written == nullptr || read == nullptr) return false;
            std::memmove(written, read, bytes);
            return true;
          },
          to};
}

/// busbar_load_spin(result, turns), whose result is never written.
Job load_spin(void* const* arguments) {
  auto* result = argument<unsigned char*>(arguments, 0);
  const auto turns = argument<Bytes>(arguments, 1);
  return {[=] {
            volatile float sum = 1;
            for (Bytes turn = 0; turn < turns; ++turn) sum = sum * 0.99F + 1;
            return memory().contents(result, sizeof sum) != nullptr;
          },
          result};
}

/// NCCL's kernel for averages of one rank: each element times the operator's argument, which is
/// one.
template <std::size_t element, std::uint64_t one>
Job one_rank_reduce(void* const* arguments) {
  auto* to = argument<unsigned char*>(arguments, 0);
  const auto* from = argument<const unsigned char*>(arguments, 1);
  const auto count = argument<std::size_t>(arguments, 2);
  if (argument<std::uint64_t>(arguments, 3) != one || argument<bool>(arguments, 4))
    die("NCCL multiplies by something else than one on one rank, which is not carried out");
  return {[=] {
            unsigned char* written = memory().contents(to, count * element);
            const unsigned char* read = memory().contents(from, count * element);
            if (written == nullptr || read == nullptr) return false;
            std::memmove(written, read, count * element);
            return true;
          },
          to};
}

/// By the type in the name that the compiler gave them.
constexpr std::pair<std::string_view, Kernel> kOneRankReduce[] = {
    {"oneRankReduceI13FuncPreMulSumI6__half", one_rank_reduce<2, 0x3C00>},
    {"oneRankReduceI13FuncPreMulSumI13__nv_bfloat16", one_rank_reduce<2, 0x3F80>},
    {"oneRankReduceI13FuncPreMulSumIf", one_rank_reduce<4, 0x3F800000>},
    {"oneRankReduceI13FuncPreMulSumId", one_rank_reduce<8, 0x3FF0000000000000>}};

bool is_sane(const dim3& grid, const dim3& block) {
  const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
  return grid.x >= 1 && grid.x <= 0x7FFFFFFF && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 &&
         grid.z <= 65535 && threads >= 1 && threads <= 1024;
}

}  // namespace

Kernel find_kernel(std::string_view name) {
  if (name == "busbar_fill") return fill;
  if (name == "busbar_compare") return compare;
  if (name == "busbar_load_copy") return load_copy;
  if (name == "busbar_load_spin") return load_spin;
  for (const auto& [type, kernel] : kOneRankReduce) {
    if (name.find(type) != std::string_view::npos) return kernel;
  }
  return nullptr;
}

cudaError_t launch_kernel(Kernel kernel, const dim3& grid, const dim3& block,
                          void* const* arguments, cudaStream_t stream) {
  if (!is_sane(grid, block)) return cudaErrorInvalidConfiguration;
  const StreamPointer queue = find_stream_with_room(stream);
  if (queue == nullptr || queue->device() != this_thread().device)
    return cudaErrorInvalidResourceHandle;
  return submit(queue, kernel(arguments));
}

namespace {

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
};

std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

/// The kernel's name by the address of its host stub.
std::map<const void*, std::string>& stubs() {
  static auto* const kStubs = new std::map<const void*, std::string>;
  return *kStubs;
}

}  // namespace

std::string stub_name(const void* stub) {
  const auto guard = lock_runtime();
  const auto found = stubs().find(stub);
  return found == stubs().end() ? std::string() : found->second;
}

}  // namespace fake_gpu

using namespace fake_gpu;  // NOLINT(google-build-using-namespace): the C names follow

extern "C" {

void** __cudaRegisterFatBinary(void*) {
  static void* handle = nullptr;
  return &handle;
}

void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) { return 1; }

void __cudaRegisterFunction(void**, const char* stub, char*, const char* name, int, uint3*, uint3*,
                            dim3*, dim3*, int*) {
  const auto guard = lock_runtime();
  stubs()[stub] = name;
}

void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void* stream) {
  configurations().push_back({grid, block, shared_bytes, static_cast<cudaStream_t>(stream)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes,
                                       void* stream) {
  if (configurations().empty()) return cudaErrorMissingConfiguration;
  const Configuration last = configurations().back();
  configurations().pop_back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  return cudaSuccess;
}

CUDA_CALL(cudaLaunchKernel,
          (const void* stub, dim3 grid, dim3 block, void** arguments, size_t, cudaStream_t stream),
          {
            if (const auto status = use_device(); status != cudaSuccess) return status;
            auto guard = lock_runtime();
            const auto named = stubs().find(stub);
            const Kernel kernel = named == stubs().end() ? nullptr : find_kernel(named->second);
            guard.unlock();
            if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
            return launch_kernel(kernel, grid, block, arguments, stream);
          })

/// The kernel that nvcc's code asks for is the stub itself.
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* stub) {
  *kernel = reinterpret_cast<cudaKernel_t>(const_cast<void*>(stub));
  return cudaSuccess;
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared_bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

}  // extern "C"
