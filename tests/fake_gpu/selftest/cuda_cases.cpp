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

using Bytes = std::vector<unsigned char>;
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
  expect(cudaSuccess, cudaMalloc(&result, 16));
  expect(cudaSuccess, cudaMemcpy(result, answer.data(), 16, cudaMemcpyHostToDevice));
  const unsigned char* source = tile.at();
  void* arguments[] = {&data, &count, &element, &source, &period, &first, &result};
  expect(cudaSuccess, launch("busbar_compare", arguments, nullptr));
  expect(cudaSuccess, cudaMemcpy(answer.data(), result, 16, cudaMemcpyDeviceToHost));
  expect(cudaSuccess, cudaFree(result));
  return answer;
}

/// Work that takes long enough to be seen unfinished.
void occupy(cudaStream_t stream, const DeviceBytes& room, std::size_t bytes) {
  for (int i = 0; i < 20; ++i) expect(cudaSuccess, cudaMemsetAsync(room.at(), i, bytes, stream));
}

void touch() {
  const DeviceBytes bytes(Bytes(100, 7));
  std::printf("%d\n", *bytes.at(3));
}

void device() {
  int count = 0;
  expect(cudaSuccess, cudaGetDeviceCount(&count));
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp prop{};
    char pci[32];
    int l2_bytes = 0;
    expect(cudaSuccess, cudaGetDeviceProperties(&prop, i));
    expect(cudaSuccess, cudaDeviceGetPCIBusId(pci, sizeof pci, i));
    expect(cudaSuccess, cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, i));
    require(l2_bytes == 1 << 20, "an L2 cache");
    std::printf("%s %s %d.%d %zu MiB\n", pci, prop.name, prop.major, prop.minor,
                prop.totalGlobalMem / kMiB);
  }
  expect(cudaErrorInvalidDevice, cudaSetDevice(count));
  expect(cudaErrorInvalidDevice, cudaGetLastError());
  expect(cudaSuccess, cudaGetLastError());
}

/// Prints the UUID of the first device, as nvidia-smi -L does for a MIG instance.
void uuid() {
  cudaDeviceProp prop{};
  expect(cudaSuccess, cudaGetDeviceProperties(&prop, 0));
  std::printf("MIG-");
  for (std::size_t i = 0; i < sizeof prop.uuid.bytes; ++i) {
    const bool dash = i == 4 || i == 6 || i == 8 || i == 10;
    std::printf("%s%02x", dash ? "-" : "", static_cast<unsigned char>(prop.uuid.bytes[i]));
  }
  std::puts("");
}

void no_device() {
  int count = 1;
  expect(cudaErrorNoDevice, cudaGetDeviceCount(&count));
  expect(cudaErrorNoDevice, cudaSetDevice(0));
  void* pointer = nullptr;
  expect(cudaErrorNoDevice, cudaMalloc(&pointer, 1));
}

void memory() {
  std::size_t free_before = 0;
  std::size_t free_after = 0;
  std::size_t total = 0;
  expect(cudaSuccess, cudaMemGetInfo(&free_before, &total));
  require(total == 1024 * kMiB && free_before == 960 * kMiB, "a context costs 64 MiB");
  const DeviceBytes bytes(3 * kMiB);
  expect(cudaSuccess, cudaMemGetInfo(&free_after, &total));
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
  expect(cudaSuccess, cudaMalloc(&much, 956 * kMiB));
  expect(cudaSuccess, cudaFree(much));
  expect(cudaErrorInvalidValue, cudaFree(much));
}

/// The same few calls, for faults in them: a copy to the device, a kernel, and the copy back.
void copies() {
  const DeviceBytes tile(Bytes{4});
  const DeviceBytes room(Bytes(4, 0));
  cudaStream_t stream = nullptr;
  expect(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const cudaError_t launched = fill(room, 4, tile, 1, 0, stream);
  unsigned char* back = nullptr;
  expect(cudaSuccess, cudaMallocHost(reinterpret_cast<void**>(&back), 4));
  const cudaError_t copied = cudaMemcpyAsync(back, room.at(), 4, cudaMemcpyDeviceToHost, stream);
  ::usleep(100'000);
  const cudaError_t seen = cudaStreamQuery(stream);
  std::printf("%s %s %s %d %d\n", cudaGetErrorName(launched), cudaGetErrorName(copied),
              cudaGetErrorName(seen), back[0], back[1]);
  static_cast<void>(std::fflush(stdout));
  std::_Exit(0);
}

/// Takes most of GPU 0 and dies; `memory` after it finds nothing taken.
void take_and_die() {
  void* much = nullptr;
  expect(cudaSuccess, cudaMalloc(&much, 900 * kMiB));
  ::kill(::getpid(), SIGKILL);
}

/// Uses GPU 1 until it is killed.
void hold() {
  expect(cudaSuccess, cudaSetDevice(1));
  std::puts("holds");
  static_cast<void>(std::fflush(stdout));
  ::pause();
}

void order() {
  constexpr std::size_t kRoom = 64 * kMiB;
  const DeviceBytes room(kRoom);
  cudaStream_t one = nullptr;
  cudaStream_t two = nullptr;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  float ms = -1;
  expect(cudaSuccess, cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
  expect(cudaSuccess, cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking));
  expect(cudaSuccess, cudaEventCreate(&begin));
  expect(cudaSuccess, cudaEventCreate(&end));
  expect(cudaSuccess, cudaEventQuery(begin));
  expect(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, begin, end));
  expect(cudaSuccess, cudaEventRecord(begin, one));
  occupy(one, room, kRoom);
  expect(cudaSuccess, cudaEventRecord(end, one));
  expect(cudaErrorNotReady, cudaStreamQuery(one));
  expect(cudaErrorNotReady, cudaEventQuery(end));
  expect(cudaErrorNotReady, cudaEventElapsedTime(&ms, begin, end));
  // The second stream reads what the first writes last.
  expect(cudaSuccess, cudaMemsetAsync(room.at(), 99, kRoom, one));
  expect(cudaSuccess, cudaEventRecord(end, one));
  expect(cudaSuccess, cudaStreamWaitEvent(two, end, 0));
  void* seen = nullptr;
  expect(cudaSuccess, cudaMallocHost(&seen, 1));
  expect(cudaSuccess, cudaMemcpyAsync(seen, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost, two));
  expect(cudaSuccess, cudaStreamSynchronize(two));
  require(*static_cast<unsigned char*>(seen) == 99, "a stream waits for an event");
  expect(cudaSuccess, cudaEventElapsedTime(&ms, begin, end));
  require(ms > 1 && ms < 60'000, "the time of 1.3 GiB: " + std::to_string(ms) + " ms");
  expect(cudaSuccess, cudaFreeHost(seen));
  expect(cudaSuccess, cudaEventDestroy(begin));
  expect(cudaErrorInvalidResourceHandle, cudaEventDestroy(begin));
  expect(cudaSuccess, cudaStreamDestroy(one));
  expect(cudaErrorInvalidResourceHandle, cudaStreamQuery(one));
}

void default_stream() {
  constexpr std::size_t kRoom = 64 * kMiB;
  const DeviceBytes room(kRoom);
  cudaStream_t blocking = nullptr;
  expect(cudaSuccess, cudaStreamCreate(&blocking));
  occupy(blocking, room, kRoom);
  unsigned char last = 0;
  expect(cudaSuccess, cudaMemcpy(&last, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost));
  require(last == 19, "the default stream waits for a blocking stream");
  expect(cudaSuccess, cudaMemset(room.at(), 77, kRoom));
  expect(cudaSuccess,
         cudaMemcpyAsync(&last, room.at(kRoom - 1), 1, cudaMemcpyDeviceToHost, blocking));
  require(last == 77, "a blocking stream waits for the default stream");
}

void capture() {
  const DeviceBytes room(Bytes(16, 1));
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  expect(cudaSuccess, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  expect(cudaErrorStreamCaptureUnsupported,
         cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal));
  expect(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  expect(cudaErrorIllegalState, cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  expect(cudaSuccess, cudaMemsetAsync(room.at(), 5, 8, stream));
  expect(cudaSuccess, cudaMemcpyAsync(room.at(8), room.at(), 8, cudaMemcpyDeviceToDevice, stream));
  expect(cudaSuccess, cudaStreamEndCapture(stream, &graph));
  require(room.read() == Bytes(16, 1), "capture does no work");
  expect(cudaSuccess, cudaGraphInstantiate(&executable, graph, 0));
  expect(cudaSuccess, cudaGraphDestroy(graph));
  for (int i = 0; i < 2; ++i) {
    expect(cudaSuccess, cudaMemset(room.at(), 2, 16));
    expect(cudaSuccess, cudaDeviceSynchronize());
    expect(cudaSuccess, cudaGraphLaunch(executable, stream));
    expect(cudaSuccess, cudaStreamSynchronize(stream));
    require(room.read() == Bytes(16, 5), "a graph does the work at each launch");
  }
  expect(cudaSuccess, cudaGraphExecDestroy(executable));
  expect(cudaErrorInvalidValue, cudaGraphLaunch(executable, stream));
  expect(cudaSuccess, cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  expect(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(stream));
  expect(cudaErrorStreamCaptureInvalidated, cudaMemsetAsync(room.at(), 5, 8, stream));
  expect(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(stream, &graph));
  expect(cudaSuccess, cudaStreamSynchronize(stream));
}

void kernels() {
  const DeviceBytes tile(Bytes{10, 11, 12, 13, 14, 15, 16, 255});
  const DeviceBytes room(Bytes(20, 0));
  expect(cudaSuccess, fill(room, 20, tile, 7, 5, nullptr));
  require(room.read() ==
              Bytes{15, 16, 10, 11, 12, 13, 14, 15, 16, 10, 11, 12, 13, 14, 15, 16, 10, 11, 12, 13},
          "busbar_fill");
  using Answer = std::vector<unsigned long long>;
  require(compare(room.at(), 5, 4, tile, 7, 5) == Answer{0, ~0ULL}, "all as expected");
  expect(cudaSuccess, cudaMemset(room.at(11), 0, 2));
  require(compare(room.at(), 5, 4, tile, 7, 5) == Answer{2, 2}, "elements 2 and 3 differ");
  expect(cudaErrorSymbolNotFound, launch("busbar_other", nullptr, nullptr));
  expect(cudaSuccess, fill(room, 21, tile, 7, 0, nullptr));
  expect(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  expect(cudaErrorIllegalAddress, cudaMemset(room.at(), 0, 1));
}

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

const std::vector<Case>& cuda_cases() {
  static const std::vector<Case> kCases = {{"touch", touch},
                                           {"device", device},
                                           {"uuid", uuid},
                                           {"no_device", no_device},
                                           {"memory", memory},
                                           {"order", order},
                                           {"capture", capture},
                                           {"default_stream", default_stream},
                                           {"kernels", kernels},
                                           {"hold", hold},
                                           {"copies", copies},
                                           {"take_and_die", take_and_die},
                                           {"driver", driver},
                                           {"gate", gate},
                                           {"launch_queue", launch_queue},
                                           {"addresses", addresses}};
  return kCases;
}

}  // namespace selftest
