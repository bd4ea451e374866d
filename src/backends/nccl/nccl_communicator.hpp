// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <vector>

#include "backends/nccl/device_memory.hpp"
#include "backends/nccl/event_stopwatch.hpp"
#include "backends/nccl/nccl_comm.hpp"
#include "model/backend.hpp"

namespace busbar {

/// Device memory over NCCL, one rank on the current device, one stream.
class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Bootstrap& bootstrap, const ConnectOptions& options);

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override;
  [[nodiscard]] std::uint64_t largest_count(const Call& call) const override;
  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override;
  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    return collective.in_place(count, rank_);
  }
  [[nodiscard]] std::optional<Bytes> free_device_memory() const override;
  [[nodiscard]] std::optional<DeviceMemoryUse> device_memory_use() const override;

  [[nodiscard]] Buffer allocate(Bytes bytes) override;
  void enlist(const Buffer& buffer) override;
  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) override;
  void poison(std::byte* to, Bytes bytes) override;
  [[nodiscard]] Comparison compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                   std::uint64_t first) override;
  void flip_bit(std::byte* data) override;

  void enqueue(const Call& call) override;
  void begin_group() override { comm_.settle(ncclGroupStart()); }
  void end_group() override { comm_.settle(ncclGroupEnd()); }
  [[nodiscard]] std::unique_ptr<Replay> capture(const std::function<void()>& issue) override;
  /// Polls the stream, and NCCL for errors that no call returned.
  void wait() override;
  [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

 private:
  void release(std::byte* data, Bytes size);

  int rank_;
  int ranks_;
  Progress progress_;
  Registration registration_;
  int compute_capability_ = 0;  // ten times the major one, plus the minor
  Bytes total_memory_ = 0;
  Bytes allocated_ = 0;
  Bytes most_allocated_ = 0;
  CudaStream stream_;
  Bytes free_at_first_;  // before NCCL took anything
  NcclComm comm_;
  Bytes free_when_connected_;
  DeviceMemory memory_;
  EventStopwatch stopwatch_;
  std::map<std::byte*, void*> registered_;
};

}  // namespace busbar
