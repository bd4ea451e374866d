// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "backends/nccl/device_memory.hpp"
#include "backends/nccl/nccl_comm.hpp"
#include "backends/nccl/nccl_log.hpp"
#include "backends/nccl/stream.hpp"
#include "model/backend.hpp"

namespace busbar {

/// Device memory over NCCL, one rank on the current device, one stream.
class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(Bootstrap& bootstrap, const ConnectOptions& options);
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;
  ~NcclCommunicator() override;

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override;
  [[nodiscard]] std::uint64_t largest_count(const Call& call) const override;
  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override;
  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    return collective.in_place(count, rank_);
  }
  [[nodiscard]] std::optional<Bytes> free_device_memory() const override;
  [[nodiscard]] std::optional<DeviceMemoryUse> device_memory_use() const override;
  [[nodiscard]] Bytes device_cache() const override;
  [[nodiscard]] Bytes library_growth() const override;

  void reserve(Bytes bytes) override { arena_.reserve(bytes); }
  [[nodiscard]] Buffer allocate(Bytes bytes) override;
  void register_buffer(const Buffer& buffer) override;
  [[nodiscard]] bool is_registered() const override;
  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) override;
  void poison(std::byte* to, Bytes bytes) override;
  void copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    memory_.copy(to, from, bytes);
  }
  [[nodiscard]] Difference compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                   std::uint64_t first) override;
  void flip_bit(std::byte* data) override;

  void enqueue(const Call& call) override;
  void begin_group() override { comm_.settle(nccl().group_start()); }
  void end_group() override { comm_.settle_operation(nccl().group_end()); }
  [[nodiscard]] std::unique_ptr<GraphLaunch> capture(const std::function<void()>& issue) override;
  void begin_observing() override;
  [[nodiscard]] std::optional<LibraryChoice> observed_choice() override;
  [[nodiscard]] std::optional<LibraryTransports> transports() const override { return transports_; }
  [[nodiscard]] bool hold() override { return held_start_.hold(); }
  void start_held() override { held_start_.start(); }
  /// Polls the stream, and NCCL for errors that no call returned.
  void wait() override;
  [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

 private:
  /// Why -R is not possible with this library, or nothing.
  [[nodiscard]] std::optional<std::string> no_registration() const;
  void deregister(std::byte* block) noexcept;
  /// One operation of one element, so that ranks connect, and what the log says of it.
  void observe_transports();

  int rank_;
  int ranks_;
  int nodes_;
  Registration registration_;
  bool shares_device_;
  int compute_capability_ = 0;  // ten times the major one, plus the minor
  Bytes total_memory_ = 0;
  Bytes most_allocated_ = 0;
  CudaOwned<cudaStream_t> stream_ = make_cuda_stream();
  DeviceMemory memory_;
  EventStopwatch stopwatch_;
  Bytes free_at_first_;  // before NCCL took anything
  /// A block of the arena; with a null handle NCCL did nothing.
  struct Registered {
    std::byte* block = nullptr;
    void* handle = nullptr;
  };
  std::vector<Registered> registered_;  // in the order of all ranks
  DeviceArena arena_;
  HeldStart held_start_;
  std::unique_ptr<NcclLog> log_;  // --nccl-choice: from before NCCL's first call on
  std::optional<LibraryTransports> transports_;
  // Ends before all memory: freeing waits for operations, which only its end ends.
  NcclComm comm_;
  Bytes free_when_connected_;
};

}  // namespace busbar
