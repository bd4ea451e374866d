// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/device_load.hpp"

#include <algorithm>
#include <thread>

#include "backends/nccl/device_memory.hpp"

namespace busbar {

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

DeviceLoad::DeviceLoad(Seconds spin) : DeviceLoad(Buffer(), Buffer()) { find_turns(spin); }

/// How many turns take that time: from a launch that is long beside its own cost.
void DeviceLoad::find_turns(Seconds spin) {
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
  constexpr unsigned kThreads = 256;
  std::byte* to = to_.data();
  const std::byte* from = from_.data();
  unsigned long long bytes = to_.size();
  std::byte* result = result_.get();
  std::array<void*, 3> copied{&to, &from, &bytes};
  std::array<void*, 2> spun{&result, &turns_};
  const bool copies = bytes > 0;
  check_driver(cuda().launch_kernel(copies ? copy_ : spin_, blocks_, 1, 1, kThreads, 1, 1, 0,
                                    stream_.get(), copies ? copied.data() : spun.data(), nullptr));
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
