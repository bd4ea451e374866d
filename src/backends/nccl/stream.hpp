// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

  void reset(std::size_t laps) override;
  void start() override { mark(); }
  /// From the last `start` or lap to now.
  void lap() override;
  [[nodiscard]] const std::vector<Seconds>& intervals() override;
  [[nodiscard]] Seconds cost() override;

 private:
  void add_event();
  /// Records the next event on the stream.
  void mark();

  cudaStream_t stream_;
  std::vector<CudaOwned<cudaEvent_t>> events_;
  std::size_t used_ = 0;
  std::vector<std::size_t> ends_;  // of laps: indices of events; a lap begins at the event before
  std::vector<Seconds> intervals_;
};

/// What a function issues to a stream, recorded as a CUDA graph.
class CudaGraph final : public GraphLaunch {
 public:
  CudaGraph(cudaStream_t stream, const std::function<void()>& issue);

  void enqueue() override;

 private:
  cudaStream_t stream_;
  CudaOwned<cudaGraph_t> graph_;
  CudaOwned<cudaGraphExec_t> executable_;
};

/// A gate in a stream: what is enqueued behind it runs when the host opens it.
class HeldStart {
 public:
  explicit HeldStart(cudaStream_t stream);
  HeldStart(const HeldStart&) = delete;
  HeldStart& operator=(const HeldStart&) = delete;
  ~HeldStart();

  /// Closes the gate; false where the driver cannot.
  [[nodiscard]] bool hold();
  /// Opens it.
  void start();

 private:
  cudaStream_t stream_;
  std::uint32_t* opened_ = nullptr;  // the last gate that is open; host memory, read by the device
  std::uint32_t gate_ = 0;           // the last one
  bool usable_;
};

}  // namespace busbar
