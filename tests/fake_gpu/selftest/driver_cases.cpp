// SPDX-License-Identifier: BSD-3-Clause
// The driver's functions, and what CUDA's addresses and launch queue do.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

namespace selftest {
namespace {

constexpr std::size_t kMiB = 1 << 20;

/// A word of host memory that the device can wait for.
std::uint32_t* make_word() {
  void* word = nullptr;
  expect(cudaSuccess, cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped));
  std::memset(word, 0, sizeof(std::uint32_t));
  return static_cast<std::uint32_t*>(word);
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

void driver() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const char* text = nullptr;
  const std::uint64_t text_file = 0x2F2F2F2F2F2F2F2F;
  expect(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&module, &text_file));
  expect(cudaSuccess, cudaSetDevice(0));
  expect(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &text_file));
  module = load_module();
  expect(CUDA_SUCCESS, cuModuleGetFunction(&function, module, "busbar_fill"));
  expect(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "busbar_other"));
  expect(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, nullptr, nullptr, nullptr));
  expect(cudaSuccess, cudaSetDevice(1));
  void* arguments[] = {nullptr};
  expect(CUDA_ERROR_INVALID_HANDLE,
         cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  expect(CUDA_SUCCESS, cuModuleUnload(module));
  expect(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  expect(cudaSuccess, cudaGetLastError());
  expect(CUDA_SUCCESS, cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
  require(std::strcmp(text, "named symbol not found") == 0, text);
}

/// What stands behind the word on the stream waits for the host.
void gate() {
  const DeviceBytes room(std::vector<unsigned char>(4, 1));
  std::uint32_t* word = make_word();
  cudaStream_t stream = nullptr;
  expect(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, address(room.at()), 1, 0));
  expect(CUDA_SUCCESS, cuStreamWaitValue32(stream, address(word), 2, CU_STREAM_WAIT_VALUE_GEQ));
  expect(cudaSuccess, cudaMemsetAsync(room.at(), 9, 4, stream));
  const std::atomic_ref<std::uint32_t> shared(*word);
  shared.store(1);
  ::usleep(50'000);
  expect(cudaErrorNotReady, cudaStreamQuery(stream));
  shared.store(3);
  expect(cudaSuccess, cudaStreamSynchronize(stream));
  require(room.read().front() == 9, "the stream goes on");
  expect(cudaSuccess, cudaFreeHost(word));
}

/// 1,024 entries may wait; the next call does.
void launch_queue() {
  constexpr int kCalls = 1100;
  const DeviceBytes room(4);
  std::uint32_t* word = make_word();
  cudaStream_t stream = nullptr;
  std::atomic<int> issued{0};
  expect(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(CUDA_SUCCESS, cuStreamWaitValue32(stream, address(word), 1, CU_STREAM_WAIT_VALUE_EQ));
  std::thread issuer([&] {
    for (; issued < kCalls; ++issued) {
      expect(cudaSuccess, cudaMemsetAsync(room.at(), 1, 4, stream));
    }
  });
  for (int before = -1; before != issued; ::usleep(200'000)) before = issued;
  require(issued == 1023, "issuing blocks at 1,024 entries: " + std::to_string(issued));
  std::atomic_ref<std::uint32_t>(*word).store(1);
  issuer.join();
  expect(cudaSuccess, cudaStreamSynchronize(stream));
}

/// Addresses are used again, with other memory behind them.
void addresses() {
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  void* first = nullptr;
  void* second = nullptr;
  expect(ncclSuccess, ncclMemAlloc(&first, 100));
  expect(CUDA_SUCCESS, cuMemGetAddressRange(&start, &bytes, address(first) + 50));
  require(start == address(first) && bytes == 2 * kMiB, "a granule of 2 MiB");
  expect(cudaSuccess, cudaMemset(first, 1, 100));
  expect(cudaSuccess, cudaDeviceSynchronize());
  expect(ncclSuccess, ncclMemFree(first));
  expect(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&start, &bytes, address(first)));
  expect(cudaSuccess, cudaMalloc(&second, kMiB));
  require(second == first, "the address is used again");
  unsigned char byte = 0;
  expect(cudaSuccess, cudaMemcpy(&byte, second, 1, cudaMemcpyDeviceToHost));
  require(byte != 1, "the memory is not");
  expect(CUDA_SUCCESS, cuMemGetAddressRange(&start, &bytes, address(second)));
  require(bytes == kMiB, "what cudaMalloc was asked for");
}

}  // namespace

const std::vector<Case>& driver_cases() {
  static const std::vector<Case> kCases = {
      {"driver", driver}, {"gate", gate}, {"launch_queue", launch_queue}, {"addresses", addresses}};
  return kCases;
}

}  // namespace selftest
