// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_memory.hpp"

#include <algorithm>
#include <thread>

// The fatbin: backend.mk.
extern "C" const unsigned char busbar_kernels[];  // NOLINT(readability-identifier-naming)

namespace busbar {
namespace {

constexpr Bytes kAlignment = 4096;  // symmetric windows begin and end on it

/// ncclMemAlloc, which registration needs, else cudaMalloc; null where there is not enough memory.
std::byte* allocate_device_memory(Bytes bytes) {
  void* memory = nullptr;
  const bool allocated = nccl().allocate ? nccl().allocate(&memory, bytes) == ncclSuccess
                                         : cuda().allocate(&memory, bytes) == cudaSuccess;
  if (allocated) return static_cast<std::byte*>(memory);
  (void)cuda().take_last_error();  // reported here, not by the next call
  return nullptr;
}

void release_device_memory(std::byte* memory) {
  if (nccl().release) {
    (void)nccl().release(memory);
  } else {
    (void)cuda().release(memory);
  }
}

constexpr Bytes kLargestElement = 8;
constexpr Bytes kLargestTile = Pattern::kPeriod * kLargestElement;
constexpr Bytes kResultAt = (kLargestTile + kTileTail + 255) / 256 * 256;
constexpr int kPoison = 0xa5;

constexpr unsigned kThreads = 256;  // of a block

/// The arguments have the types of the kernel's.
template <class... Arguments>
void launch(CUfunction kernel, cudaStream_t stream, unsigned blocks, Arguments... arguments) {
  std::array<void*, sizeof...(arguments)> addresses{&arguments...};
  check_driver(cuda().launch_kernel(kernel, blocks, 1, 1, kThreads, 1, 1, 0, stream,
                                    addresses.data(), nullptr));
}

unsigned blocks_for(Bytes bytes) {
  constexpr Bytes kVector = 16;        // bytes that a thread takes at a time
  constexpr Bytes kMostBlocks = 2048;  // several for each multiprocessor of the largest devices
  return static_cast<unsigned>(std::min(bytes / (kVector * kThreads) + 1, kMostBlocks));
}

/// The byte of the period where an element lies.
unsigned long long byte_in_period(const Tile& tile, std::uint64_t element) {
  return element % Pattern::kPeriod * tile.element_size();
}

/// Our own kernels, loaded for the current device.
CudaOwned<CUmodule> load_device_kernels() {
  CUmodule module = nullptr;
  check_driver(cuda().load_module(&module, busbar_kernels));
  return CudaOwned<CUmodule>(module);
}

}  // namespace

DeviceMemorySize device_memory_now() {
  DeviceMemorySize size;
  check_cuda(cuda().get_memory(&size.free, &size.total));
  return size;
}

std::byte* DeviceArena::allocate(Bytes bytes) {
  const Bytes size = std::max<Bytes>(1, (bytes + kAlignment - 1) / kAlignment) * kAlignment;
  const auto fits = [size](const Block& block) { return block.size - block.used >= size; };
  const auto found = std::ranges::find_if(blocks_, fits);
  Block* block = found == blocks_.end() ? add_block(size) : &*found;
  if (block == nullptr) return nullptr;
  std::byte* data = block->data + block->used;
  block->used += size;
  ++block->buffers;
  return data;
}

void DeviceArena::release(const std::byte* data) {
  Block& block = blocks_[static_cast<std::size_t>(&block_of(data) - blocks_.data())];
  if (--block.buffers == 0) block.used = 0;
}

const DeviceArena::Block& DeviceArena::block_of(const std::byte* data) const {
  return *std::ranges::find_if(blocks_, [data](const Block& block) {
    return data >= block.data && data < block.data + block.size;
  });
}

Bytes DeviceArena::taken() const {
  Bytes sum = 0;
  for (const Block& block : blocks_) sum += block.of_device;
  return sum;
}

DeviceArena::Block* DeviceArena::add_block(Bytes bytes) {
  const Bytes before = device_memory_now().free;
  Bytes size = std::max(bytes, reserved_);
  std::byte* memory = allocate_device_memory(size);
  if (memory == nullptr) {  // what is kept for later may be what is missing now
    give_back();
    size = bytes;
    memory = allocate_device_memory(size);
  }
  const Bytes after = device_memory_now().free;  // throws where the device is lost
  if (memory == nullptr) return nullptr;
  // On a device that others use too, the difference may be anything.
  blocks_.push_back(
      {.data = memory, .size = size, .of_device = before > after ? before - after : size});
  return &blocks_.back();
}

void DeviceArena::give_back() {
  const auto in_use = [](const Block& block) { return block.buffers > 0; };
  const auto unused = std::stable_partition(blocks_.begin(), blocks_.end(), in_use);
  for (auto block = unused; block != blocks_.end(); ++block) {
    forget_(block->data);
    release_device_memory(block->data);
  }
  blocks_.erase(unused, blocks_.end());
}

// The allocation comes first: it creates the device's context, which the kernels are loaded into.
DeviceMemory::DeviceMemory(cudaStream_t stream)
    : stream_(stream),
      scratch_(allocate_cuda_memory(kResultAt + sizeof(DeviceComparison))),
      kernels_(load_device_kernels()) {
  check_driver(cuda().get_kernel(&fill_, kernels_.get(), "busbar_fill"));
  check_driver(cuda().get_kernel(&compare_, kernels_.get(), "busbar_compare"));
}

unsigned long long DeviceMemory::upload(const Tile& tile) {
  const Bytes period = Pattern::kPeriod * tile.element_size();
  if (!std::equal(uploaded_.begin(), uploaded_.end(), tile.data(), tile.data() + period)) {
    // From pageable memory: the source may be changed as soon as the call returns.
    copy(scratch_.get(), tile.data(), period);
    copy(scratch_.get() + period, tile.data(), kTileTail);
    uploaded_.assign(tile.data(), tile.data() + period);
  }
  return period;
}

void DeviceMemory::fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) {
  if (count == 0) return;
  const unsigned long long bytes = count * tile.element_size();
  launch(fill_, stream_, blocks_for(bytes), to, bytes, scratch_.get(), upload(tile),
         byte_in_period(tile, first));
}

void DeviceMemory::poison(std::byte* to, Bytes bytes) {
  if (bytes > 0) check_cuda(cuda().set_bytes(to, kPoison, bytes, stream_));
}

void DeviceMemory::copy(std::byte* to, const std::byte* from, Bytes bytes) {
  check_cuda(cuda().copy(to, from, bytes, cudaMemcpyDefault, stream_));
}

void DeviceMemory::compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                           std::uint64_t first, DeviceComparison& result) {
  result = {.wrong = 0, .first_wrong = std::numeric_limits<unsigned long long>::max()};
  std::byte* found = scratch_.get() + kResultAt;
  auto* host = reinterpret_cast<std::byte*>(&result);
  copy(found, host, sizeof result);
  launch(compare_, stream_, blocks_for(count * tile.element_size()), data,
         static_cast<unsigned long long>(count), static_cast<unsigned>(tile.element_size()),
         scratch_.get(), upload(tile), byte_in_period(tile, first), found);
  copy(host, found, sizeof result);
}

DeviceLoad::DeviceLoad(Buffer from, Buffer to)
    : result_(allocate_cuda_memory(sizeof(float))),
      kernels_(load_device_kernels()),
      from_(std::move(from)),
      to_(std::move(to)) {
  constexpr int kBlocksOfOne = 4;  // of a multiprocessor: all run at once, beside others
  int multiprocessors = 1;
  check_cuda(cuda().get_device(&device_));
  check_cuda(cuda().get_attribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device_));
  blocks_ = static_cast<unsigned>(std::max(1, multiprocessors) * kBlocksOfOne);
  check_driver(cuda().get_kernel(&copy_, kernels_.get(), "busbar_load_copy"));
  check_driver(cuda().get_kernel(&spin_, kernels_.get(), "busbar_load_spin"));
  for (auto& end : ends_) end = make_cuda_event();
}

/// Finds how many turns take that time: from a launch that is long beside its own cost.
DeviceLoad::DeviceLoad(Seconds spin) : DeviceLoad(Buffer(), Buffer()) {
  constexpr Seconds kLong{1e-3};
  constexpr unsigned long long kMostTurns = 1ULL << 32U;
  Seconds took{0};
  for (turns_ = 1024; turns_ < kMostTurns; turns_ *= 2) {
    const Clock::time_point start = Clock::now();
    launch();
    drain();
    took = Clock::now() - start;
    if (took >= kLong) break;
  }
  const double turns = static_cast<double>(turns_) * (spin / took);
  turns_ = static_cast<unsigned long long>(std::max(1.0, turns));
}

void DeviceLoad::launch() {
  const unsigned long long bytes = to_.size();
  if (bytes > 0) {
    busbar::launch(copy_, stream_.get(), blocks_, to_.data(), from_.data(), bytes);
  } else {
    busbar::launch(spin_, stream_.get(), blocks_, result_.get(), turns_);
  }
}

/// Before CUDA 12 a thread has the device's context only from its first call on.
void DeviceLoad::attach() {
  check_cuda(cuda().set_device(device_));
  check_cuda(cuda().await_stream(stream_.get()));
}

void DeviceLoad::pass() {
  cudaEvent_t end = ends_[next_].get();
  next_ = (next_ + 1) % ends_.size();
  // An event that was never recorded is complete.
  cudaError_t state = cuda().query_event(end);
  for (; state == cudaErrorNotReady; state = cuda().query_event(end)) {
    (void)cuda().take_last_error();  // "not ready" is not a failure of a later call
    std::this_thread::yield();
  }
  check_cuda(state);
  launch();
  check_cuda(cuda().record_event(end, stream_.get()));
}

void DeviceLoad::drain() { check_cuda(cuda().await_stream(stream_.get())); }

}  // namespace busbar
