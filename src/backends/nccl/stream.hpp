// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
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
  void start() override { last_ = mark(); }
  void lap() override;
  [[nodiscard]] const std::vector<Seconds>& intervals() override;
  [[nodiscard]] Seconds cost() override;

 private:
  /// Records the next event on the stream; its index.
  std::size_t mark();

  cudaStream_t stream_;
  std::vector<CudaEvent> events_;
  std::size_t used_ = 0;
  std::size_t last_ = 0;
  std::vector<std::pair<std::size_t, std::size_t>> laps_;  // indices of events
  std::vector<Seconds> intervals_;
};

/// What a function issues to a stream, recorded as a CUDA graph.
class CudaGraph final : public GraphLaunch {
 public:
  CudaGraph(cudaStream_t stream, const std::function<void()>& issue);

  void enqueue() override;

 private:
  struct Release {
    void operator()(cudaGraph_t graph) const { (void)cuda().destroy_graph(graph); }
    void operator()(cudaGraphExec_t graph) const { (void)cuda().destroy_graph_exec(graph); }
  };

  cudaStream_t stream_;
  std::unique_ptr<CUgraph_st, Release> graph_;
  std::unique_ptr<CUgraphExec_st, Release> executable_;
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
  std::uint32_t* opened_ =
      nullptr;              // in host memory that the device reads: the gates that are open
  std::uint32_t gate_ = 0;  // the last one
  bool usable_;
};

}  // namespace busbar
