// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstring>
#include <memory>
#include <optional>

#include "model/communicator.hpp"
#include "model/pattern.hpp"
#include "model/stopwatch.hpp"

namespace busbar {

/// Host memory, on 2 MiB pages where the kernel has them, faulted in by the calling rank (so that
/// it lies on its NUMA node) and poisoned. Throws Error (Unavailable) where there is none.
[[nodiscard]] Buffer allocate_host(Bytes bytes, Pages pages = Pages::Huge);

/// What Communicator's functions of these names do with host memory.
[[nodiscard]] std::optional<double> huge_page_share(const Buffer& buffer);
void fill_host(std::byte* to, std::uint64_t count, const Tile& tile, std::uint64_t first);
void poison_host(std::byte* to, Bytes bytes);
[[nodiscard]] Difference compare_host(const std::byte* data, std::uint64_t count, const Tile& tile,
                                      std::uint64_t first);

/// A communicator over host memory: an operation is complete when enqueue returns.
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
  void copy(std::byte* to, const std::byte* from, Bytes bytes) override {
    std::memcpy(to, from, bytes);
  }
  [[nodiscard]] std::unique_ptr<SideWork> side_work(const Load& load) override;
  [[nodiscard]] Difference compare(const std::byte* data, std::uint64_t count, const Tile& tile,
                                   std::uint64_t first) override {
    return compare_host(data, count, tile, first);
  }
  void wait() override {}
  [[nodiscard]] Stopwatch& stopwatch() override { return stopwatch_; }

 private:
  Pages pages_;
  HostStopwatch stopwatch_;
};

}  // namespace busbar
