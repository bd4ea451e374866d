// SPDX-License-Identifier: BSD-3-Clause
// Kernels linked into a program: what nvcc makes of `kernel<<<...>>>(...)`, and of the code around
// it. Nothing here is needed by programs that load their kernels through the driver.
#include <map>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/kernels.hpp"
#include "tests/fake_gpu/cudart/runtime.hpp"

namespace fake_gpu {
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

Kernel find_by_stub(const void* stub) {
  const std::lock_guard guard(runtime_mutex());
  const auto named = stubs().find(stub);
  return named == stubs().end() ? nullptr : find_kernel(named->second);
}

cudaError_t launch(const void* stub, const Configuration& how, void** arguments) {
  const cudaError_t status = use_device(this_thread().device);
  if (status != cudaSuccess) return status;
  const Kernel kernel = find_by_stub(stub);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  return launch_kernel(kernel, how.grid, how.block, arguments, how.stream);
}

}  // namespace
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
  const std::lock_guard guard(runtime_mutex());
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

cudaError_t cudaLaunchKernel(const void* stub, dim3 grid, dim3 block, void** arguments,
                             size_t shared_bytes, cudaStream_t stream) {
  return call("cudaLaunchKernel", [&] {
    return launch(stub, {grid, block, shared_bytes, stream}, arguments);
  });
}

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
