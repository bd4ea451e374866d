// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/nccl/libraries.hpp"
#include "model/communicator.hpp"
#include "model/stopwatch.hpp"

namespace busbar {

/// Times what a stream does by events between the operations: the host only issues.
class EventStopwatch final : public Stopwatch {
 public:
  explicit EventStopwatch(cudaStream_t stream) : stream_(stream) {}

  void reset(std::size_t laps) override {
    // One more than laps, as a lap ends where the next begins: nothing is created between the two.
    while (events_.size() < laps + 1) events_.push_back(make_cuda_event());
    used_ = 0;
    ends_.clear();
    ends_.reserve(laps);
    intervals_.clear();
  }

  void start() override { mark(); }

  /// From the last `start` or lap to now.
  void lap() override {
    ends_.push_back(used_);
    mark();
  }

  [[nodiscard]] const std::vector<Seconds>& intervals() override {
    constexpr double kMillisecond = 1e-3;
    for (std::size_t i = intervals_.size(); i < ends_.size(); ++i) {
      float milliseconds = 0;
      check_cuda(cuda().get_elapsed_ms(&milliseconds, events_[ends_[i] - 1].get(),
                                       events_[ends_[i]].get()));
      intervals_.emplace_back(milliseconds * kMillisecond);
    }
    return intervals_;
  }

  /// The median distance of events with nothing between them, at least their resolution of 0.5 us
  /// (CUDA Runtime API, cudaEventElapsedTime).
  [[nodiscard]] Seconds cost() override {
    constexpr std::size_t kReadings = 101;
    constexpr Seconds kResolution{0.5e-6};
    reset(kReadings);
    start();
    for (std::size_t i = 0; i < kReadings; ++i) lap();
    check_cuda(cuda().await_stream(stream_));
    std::vector<Seconds> costs = intervals();
    const auto middle = costs.begin() + kReadings / 2;
    std::nth_element(costs.begin(), middle, costs.end());
    return std::max(*middle, kResolution);
  }

 private:
  /// Records the next event on the stream.
  void mark() {
    // Where not every lap begins at the end of one.
    if (used_ == events_.size()) events_.push_back(make_cuda_event());
    check_cuda(cuda().record_event(events_[used_].get(), stream_));
    ++used_;
  }

  cudaStream_t stream_;
  std::vector<CudaOwned<cudaEvent_t>> events_;
  std::size_t used_ = 0;
  std::vector<std::size_t> ends_;  // of laps: indices of events; a lap begins at the event before
  std::vector<Seconds> intervals_;
};

/// What a function issues to a stream, recorded as a CUDA graph.
class CudaGraph {
 public:
  CudaGraph(cudaStream_t stream, const std::function<void()>& issue) : stream_(stream) {
    // Thread local: NCCL's own threads may go on calling what a capture forbids.
    check_cuda(cuda().begin_capture(stream_, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      issue();
    } catch (...) {  // a stream must not stay in capture
      (void)cuda().end_capture(stream_, &graph);
      graph_.reset(graph);
      throw;
    }
    const cudaError_t captured = cuda().end_capture(stream_, &graph);
    graph_.reset(graph);
    check_cuda(captured);
    cudaGraphExec_t executable = nullptr;
    check_cuda(cuda().instantiate_graph(&executable, graph, 0));
    executable_.reset(executable);
  }

  void enqueue() { check_cuda(cuda().launch_graph(executable_.get(), stream_)); }

 private:
  cudaStream_t stream_;
  CudaOwned<cudaGraph_t> graph_;
  CudaOwned<cudaGraphExec_t> executable_;
};

/// A gate in a stream: what is enqueued behind it runs when the host opens it.
class HeldStart {
 public:
  explicit HeldStart(cudaStream_t stream)
      : stream_(stream), usable_(static_cast<bool>(cuda().wait_for_value)) {
    void* memory = nullptr;
    check_cuda(cuda().allocate_host(&memory, sizeof *opened_, cudaHostAllocMapped));
    opened_ = static_cast<std::uint32_t*>(memory);
    *opened_ = 0;
  }
  HeldStart(const HeldStart&) = delete;
  HeldStart& operator=(const HeldStart&) = delete;
  ~HeldStart() {
    start();  // or a stream that is left in the middle would never end
    (void)cuda().release_host(opened_);
  }

  /// Closes the gate; false where the driver cannot.
  [[nodiscard]] bool hold() {
    if (!usable_) return false;
    ++gate_;
    // Host memory has one address for host and device (unified addressing).
    const auto address = reinterpret_cast<CUdeviceptr>(opened_);
    usable_ =
        cuda().wait_for_value(stream_, address, gate_, CU_STREAM_WAIT_VALUE_GEQ) == CUDA_SUCCESS;
    return usable_;
  }

  /// Opens it.
  void start() { std::atomic_ref(*opened_).store(gate_, std::memory_order_release); }

 private:
  cudaStream_t stream_;
  std::uint32_t* opened_ = nullptr;  // the last gate that is open; host memory, read by the device
  std::uint32_t gate_ = 0;           // the last one
  bool usable_;
};

}  // namespace busbar
