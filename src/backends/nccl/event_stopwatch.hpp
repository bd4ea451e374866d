// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "backends/nccl/cuda_api.hpp"
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

}  // namespace busbar
