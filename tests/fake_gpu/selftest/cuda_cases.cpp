// SPDX-License-Identifier: BSD-3-Clause

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>

#include "tests/fake_gpu/selftest/selftest.hpp"

// One process: memory, streams, events, capture, kernels; the driver, addresses and the launch
// queue.
namespace selftest {
namespace {

constexpr std::size_t kMiB = 1 << 20;

cudaError_t fill(const DeviceBytes& to, unsigned long long bytes, const DeviceBytes& tile,
                 unsigned long long period, unsigned long long first, cudaStream_t stream) {
  unsigned char* target = to.at();
  const unsigned char* source = tile.at();
  void* arguments[] = {&target, &bytes, &source, &period, &first};
  return launch("busbar_fill", arguments, stream);
}

std::vector<unsigned long long> compare(const unsigned char* data, unsigned long long count,
                                        unsigned element, const DeviceBytes& tile,
                                        unsigned long long period, unsigned long long first) {
  std::vector<unsigned long long> answer{0, ~0ULL};
  void* result = nullptr;
  ok(cudaMalloc(&result, 16));
  ok(cudaMemcpy(result, answer.data(), 16, cudaMemcpyHostToDevice));
  const unsigned char* source = tile.at();
  void* arguments[] = {&data, &count, &element, &source, &period, &first, &result};
  ok(launch("busbar_compare", arguments, nullptr));
  ok(cudaMemcpy(answer.data(), result, 16, cudaMemcpyDeviceToHost));
  ok(cudaFree(result));
  return answer;
}

/// Work that takes long enough to be seen unfinished.
void occupy(cudaStream_t stream, const DeviceBytes& room, std::size_t bytes) {
  for (int i = 0; i < 20; ++i) ok(cudaMemsetAsync(room.at(), i, bytes, stream));
}

SELFTEST(touch) {
  const DeviceBytes bytes(Bytes(100, 7));
  std::printf("%d\n", *bytes.at(3));
}

SELFTEST(device) {
  int count = 0;
  ok(cudaGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp prop{};
    char pci[32];
    int l2_bytes = 0;
    ok(cudaGetDeviceProperties(&prop, i));
    ok(cudaDeviceGetPCIBusId(pci, sizeof pci, i));
    ok(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, i));
    require(l2_bytes == 1 << 20, "an L2 cache");
    std::printf("%s %s %d.%d %zu MiB\n", pci, prop.name, prop.major, prop.minor,
                prop.totalGlobalMem / kMiB);
  }
  expect(cudaErrorInvalidDevice, cudaSetDevice(count));
  expect(cudaErrorInvalidDevice, cudaGetLastError());
  ok(cudaGetLastError());
}

/// Prints the UUID of the first device, as nvidia-smi -L does for a MIG instance.
SELFTEST(uuid) {
  cudaDeviceProp prop{};
  ok(cudaGetDeviceProperties(&prop, 0));
  std::printf("MIG-");
  for (std::size_t i = 0; i < sizeof prop.uuid.bytes; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    std::printf("%s%02x", dash ? "-" : "", static_cast<unsigned char>(prop.uuid.bytes[i]));
  }
  std::puts("");
}

SELFTEST(no_device) {
  int count = 1;
  expect(cudaErrorNoDevice, cudaGetDeviceCount(&count));
  expect(cudaErrorNoDevice, cudaSetDevice(0));
  void* pointer = nullptr;
  expect(cudaErrorNoDevice, cudaMalloc(&pointer, 1));
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

/// Takes most of GPU 0 and dies; `memory` after it finds nothing taken.
SELFTEST(take_and_die) {
  void* much = nullptr;
  ok(cudaMalloc(&much, 900 * kMiB));
  ::kill(::getpid(), SIGKILL);
}

/// Uses GPU 1 until it is killed.
SELFTEST(hold) {
  ok(cudaSetDevice(1));
  std::puts("holds");
  static_cast<void>(std::fflush(stdout));
  ::pause();
}

SELFTEST(order) {
  constexpr std::size_t kRoom = 64 * kMiB;
  const DeviceBytes room(kRoom);
  cudaStream_t one = make_stream();
  cudaStream_t two = make_stream();
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  float ms = -1;
  ok(cudaEventCreate(&begin));
  ok(cudaEventCreate(&end));
  ok(cudaEventQuery(begin));
  expect(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, end));
  ok(cudaEventRecord(begin, one));
  occupy(one, room, kRoom);
  ok(cudaEventRecord(end, one));
  expect(cudaErrorNotReady, cudaStreamQuery(one));
  expect(cudaErrorNotReady, cudaEventQuery(end));
  expect(cudaErrorNotReady, cudaEventElapsedTime(&ms, begin, end));
  // The second stream reads what the first writes last.
  ok(cudaMemsetAsync(room.at(), 99, kRoom, one));
  ok(cudaEventRecord(end, one));
  ok(cudaStreamWaitEvent(two, end, 0));
  void* seen = nullptr;
  ok(cudaMallocHost(&seen, 1));
  ok(cudaMemcpyAsync(seen, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost, two));
  ok(cudaStreamSynchronize(two));
  require(*static_cast<unsigned char*>(seen) == 99, "a stream waits for an event");
  ok(cudaEventElapsedTime(&ms, begin, end));
  require(ms > 1 && ms < 60'000, "the time of 1.3 GiB: " + std::to_string(ms) + " ms");
  ok(cudaFreeHost(seen));
  ok(cudaEventDestroy(begin));
  expect(cudaErrorInvalidResourceHandle, cudaEventDestroy(begin));
  ok(cudaStreamDestroy(one));
  expect(cudaErrorInvalidResourceHandle, cudaStreamQuery(one));
}

SELFTEST(default_stream) {
  constexpr std::size_t kRoom = 64 * kMiB;
  const DeviceBytes room(kRoom);
  cudaStream_t blocking = nullptr;
  ok(cudaStreamCreate(&blocking));
  occupy(blocking, room, kRoom);
  unsigned char last = 0;
  ok(cudaMemcpy(&last, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost));
  require(last == 19, "the default stream waits for a blocking stream");
  ok(cudaMemset(room.at(), 77, kRoom));
  ok(cudaMemcpyAsync(&last, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost, blocking));
  require(last == 77, "a blocking stream waits for the default stream");
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

SELFTEST(kernels) {
  const DeviceBytes tile(Bytes{10, 11, 12, 13, 14, 15, 16, 255});
  const DeviceBytes room(Bytes(20, 0));
  ok(fill(room, 20, tile, 7, 5, nullptr));
  require(room.read() ==
              Bytes{15, 16, 10, 11, 12, 13, 14, 15, 16, 10, 11, 12, 13, 14, 15, 16, 10, 11, 12, 13},
          "busbar_fill");
  using Answer = std::vector<unsigned long long>;
  require(compare(room.at(), 5, 4, tile, 7, 5) == Answer{0, ~0ULL}, "all as expected");
  ok(cudaMemset(room.at(11), 0, 2));
  require(compare(room.at(), 5, 4, tile, 7, 5) == Answer{2, 2}, "elements 2 and 3 differ");
  expect(cudaErrorSymbolNotFound, launch("busbar_other", nullptr, nullptr));
  ok(fill(room, 21, tile, 7, 0, nullptr));
  expect(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  expect(cudaErrorIllegalAddress, cudaMemset(room.at(), 0, 1));
}

/// A word of host memory that the device can wait for.
std::uint32_t* make_word() {
  void* word = nullptr;
  ok(cudaHostAlloc(&word, sizeof(std::uint32_t), cudaHostAllocMapped));
  std::memset(word, 0, sizeof(std::uint32_t));
  return static_cast<std::uint32_t*>(word);
}

CUdeviceptr address(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

SELFTEST(driver) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  const char* text = nullptr;
  const std::uint64_t text_file = 0x2F2F2F2F2F2F2F2F;
  expect(CUDA_ERROR_INVALID_CONTEXT, cuModuleLoadData(&module, &text_file));
  ok(cudaSetDevice(0));
  expect(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, &text_file));
  module = load_module();
  ok(cuModuleGetFunction(&function, module, "busbar_fill"));
  expect(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&function, module, "busbar_other"));
  expect(CUDA_ERROR_INVALID_VALUE,
         cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, nullptr, nullptr, nullptr));
  ok(cudaSetDevice(1));
  void* arguments[] = {nullptr};
  expect(CUDA_ERROR_INVALID_HANDLE,
         cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  ok(cuModuleUnload(module));
  expect(CUDA_ERROR_INVALID_HANDLE, cuModuleUnload(module));
  ok(cudaGetLastError());
  ok(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
  require(std::strcmp(text, "named symbol not found") == 0, text);
}

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

/// Addresses are used again, with other memory behind them.
SELFTEST(addresses) {
  CUdeviceptr start = 0;
  std::size_t bytes = 0;
  void* first = nullptr;
  void* second = nullptr;
  ok(ncclMemAlloc(&first, 100));
  ok(cuMemGetAddressRange(&start, &bytes, address(first) + 50));
  require(start == address(first) && bytes == 2 * kMiB, "a granule of 2 MiB");
  ok(cudaMemset(first, 1, 100));
  ok(cudaDeviceSynchronize());
  ok(ncclMemFree(first));
  expect(CUDA_ERROR_NOT_FOUND, cuMemGetAddressRange(&start, &bytes, address(first)));
  ok(cudaMalloc(&second, kMiB));
  require(second == first, "the address is used again");
  unsigned char byte = 0;
  ok(cudaMemcpy(&byte, second, 1, cudaMemcpyDeviceToHost));
  require(byte != 1, "the memory is not");
  ok(cuMemGetAddressRange(&start, &bytes, address(second)));
  require(bytes == kMiB, "what cudaMalloc was asked for");
}

}  // namespace
}  // namespace selftest
