// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/communicator.hpp"
#include "model/host_memory.hpp"
#include "model/stopwatch.hpp"

namespace busbar {

/// What communicators over host memory have in common: an operation is complete when enqueue
/// returns.
class HostCommunicator : public Communicator {
 public:
  explicit HostCommunicator(Pages pages) : pages_(pages) {}

  [[nodiscard]] Buffer allocate(Bytes bytes) override { return allocate_host(bytes, pages_); }
  [[nodiscard]] std::optional<double> huge_page_share(const Buffer& buffer) const override {
    return busbar::huge_page_share(buffer);
  }
  void fill(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first) override {
    fill_host(to, count, tile, first);
  }
  void poison(std::byte* to, Bytes bytes) override { poison_host(to, bytes); }
  [[nodiscard]] Comparison compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                   std::uint64_t first) override {
    return compare_host(data, count, tile, first);
  }
  void flip_bit(std::byte* data) override { *data ^= std::byte{1}; }
  void wait() override {}
  [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

 private:
  Pages pages_;
  HostStopwatch stopwatch_;
};

}  // namespace busbar
