// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

// One process: memory, capture, gates and the launch queue.
namespace selftest {
namespace {

constexpr std::size_t kMiB = 1 << 20;

SELFTEST(touch) {
  const DeviceBytes bytes(Bytes(100, 7));
  std::printf("%d\n", *bytes.at(3));
}

SELFTEST(memory) {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  ok(cudaMemGetInfo(&free_before, &total));
  require(total == 1024 * kMiB && free_before == 960 * kMiB, "a context costs 64 MiB");
  const DeviceBytes bytes(3 * kMiB);
  ok(cudaMemGetInfo(&free_after, &total));
  require(free_before - free_after == 4 * kMiB, "memory is taken in granules of 2 MiB");
  const Bytes junk = bytes.read();
  require(std::all_of(junk.begin(), junk.end(), [](auto b) { return b != 0; }),
          "fresh memory is junk");
  Bytes host(kMiB, 1);
  const auto to_device = cudaMemcpyHostToDevice;
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes.at(2 * kMiB + 1), host.data(), kMiB, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(bytes.at(), bytes.at(kMiB), 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemcpy(host.data(), host.data() + 8, 8, to_device));
  expect(cudaErrorInvalidValue, cudaMemset(bytes.at(3 * kMiB - 1), 0, 2));
  expect(cudaErrorInvalidValue, cudaMemset(host.data(), 0, 2));
  expect(cudaErrorInvalidValue, cudaFree(bytes.at(1)));
  void* much = nullptr;
  expect(cudaErrorMemoryAllocation, cudaMalloc(&much, 957 * kMiB));
  ok(cudaMalloc(&much, 956 * kMiB));
  ok(cudaFree(much));
  expect(cudaErrorInvalidValue, cudaFree(much));
}

SELFTEST(capture) {
  const DeviceBytes room(Bytes(16, 1));
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStream_t stream = make_stream();
  expect(cudaErrorStreamCaptureUnsupported,
         cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  expect(cudaErrorIllegalState, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  ok(cudaMemsetAsync(room.at(), 5, 8, stream));
  ok(cudaMemcpyAsync(room.at(8), room.at(), 8, cudaMemcpyDeviceToDevice, stream));
  ok(cudaStreamEndCapture(stream, &graph));
  require(room.read() == Bytes(16, 1), "capture does no work");
  ok(cudaGraphInstantiate(&executable, graph, 0));
  ok(cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) {
    ok(cudaMemset(room.at(), 2, 16));
    ok(cudaDeviceSynchronize());
    ok(cudaGraphLaunch(executable, stream));
    ok(cudaStreamSynchronize(stream));
    require(room.read() == Bytes(16, 5), "a graph does the work at each launch");
  }
  ok(cudaGraphExecDestroy(executable));
  expect(cudaErrorInvalidValue, cudaGraphLaunch(executable, stream));
  ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  expect(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(room.at(), 5, 8, stream));
  expect(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  ok(cudaStreamSynchronize(stream));
}

/// A word of host memory that the device can wait for.
std::uint32_t* make_word() {
  void* word = nullptr;
  ok(cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped));
  std::memset(word, 0, sizeof(std::uint32_t));
  return static_cast<std::uint32_t*>(word);
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// What stands behind the word on the stream waits for the host.
SELFTEST(gate) {
  const DeviceBytes room(Bytes(4, 1));
  std::uint32_t* word = make_word();
  cudaStream_t stream = make_stream();
  expect(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, address(room.at()), 1, 0));
  ok(cuStreamWaitValue32(stream, address(word), 2, CU_STREAM_WAIT_VALUE_GEQ));
  ok(cudaMemsetAsync(room.at(), 9, 4, stream));
  const std::atomic_ref<std::uint32_t> shared(*word);
  shared.store(1);
  ::usleep(50'000);
  expect(cudaErrorNotReady, cudaStreamQuery(stream));
  shared.store(3);
  ok(cudaStreamSynchronize(stream));
  require(room.read().front() == 9, "the stream goes on");
  ok(cudaFreeHost(word));
}

/// 1,024 entries may wait; the next call does.
SELFTEST(launch_queue) {
  constexpr int kCalls = 1100;
  const DeviceBytes room(4);
  std::uint32_t* word = make_word();
  std::atomic<int> issued{0};
  cudaStream_t stream = make_stream();
  ok(cuStreamWaitValue32(stream, address(word), 1, CU_STREAM_WAIT_VALUE_EQ));
  std::thread issuer([&] {
    for (; issued < kCalls; ++issued) ok(cudaMemsetAsync(room.at(), 1, 4, stream));
  });
  for (int before = -1; before != issued; ::usleep(200'000)) before = issued;
  require(issued == 1023, "issuing blocks at 1,024 entries: " + std::to_string(issued));
  std::atomic_ref<std::uint32_t>(*word).store(1);
  issuer.join();
  ok(cudaStreamSynchronize(stream));
}

}  // namespace
}  // namespace selftest
