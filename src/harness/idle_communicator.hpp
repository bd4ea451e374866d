// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "model/host_memory.hpp"

namespace busbar {

/// Of a rank that is in no group of a round: it keeps step with the others, and its operations do
/// nothing.
class IdleCommunicator final : public HostCommunicator {
 public:
  /// `observed`: those of the others have transports.
  explicit IdleCommunicator(bool observed) : HostCommunicator(Pages::Small), observed_(observed) {}

  [[nodiscard]] std::optional<std::string> unsupported(const Call& /*call*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] std::uint64_t largest_count(const Call& /*call*/) const override {
    return std::numeric_limits<std::uint64_t>::max();
  }
  [[nodiscard]] Bytes temporary_bytes(const Call& /*call*/) const override { return 0; }
  [[nodiscard]] InPlace in_place(const Collective& /*collective*/,
                                 std::uint64_t /*count*/) const override {
    return {};
  }
  /// What changes nothing of the others'.
  [[nodiscard]] std::optional<LibraryTransports> transports() const override {
    if (!observed_) return std::nullopt;
    return LibraryTransports{.known = true, .switchable = true, .nvls = true};
  }
  [[nodiscard]] std::unique_ptr<GraphLaunch> capture(
      const std::function<void()>& /*issue*/) override {
    return std::make_unique<NoLaunch>();
  }
  void enqueue(const Call& /*call*/) override {}
  [[nodiscard]] std::unique_ptr<SideWork> side_work(const Load& /*load*/) override {
    return nullptr;
  }

 private:
  class NoLaunch final : public GraphLaunch {
   public:
    void enqueue() override {}
  };

  bool observed_;
};

}  // namespace busbar
