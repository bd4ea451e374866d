// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <gloo/config.h>
#include <limits>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "backends/gloo/gloo_context.hpp"
#include "backends/gloo/routines.hpp"
#include "model/backend.hpp"
#include "model/host_communicator.hpp"

namespace busbar {
namespace {

/// Host memory over Gloo, whose threads move the data while the rank sleeps.
class GlooCommunicator final : public HostCommunicator {
 public:
  GlooCommunicator(Bootstrap& bootstrap, const ConnectOptions& options)
      : HostCommunicator(options.pages),
        links_{.context = connect_gloo(bootstrap, options.timeout)} {}

  [[nodiscard]] std::optional<std::string> unsupported(const Call& call) const override {
    const GlooRoutine* routine = find_gloo_routine(call.collective->name);
    if (routine == nullptr) {
      return fmt::format("the gloo backend has no {}", call.collective->title);
    }
    if (links_.context->size == 1) return "Gloo does nothing for one rank";
    const std::string_view cannot =
        call.in_place ? routine->not_in_place : routine->not_out_of_place;
    if (!cannot.empty()) return std::string(cannot);
    if (call.collective->reduces && !gloo_reduction(call.type, call.op)) {
      return fmt::format("Gloo cannot reduce {} by {}", info(call.type).name, name(call.op));
    }
    return std::nullopt;
  }

  [[nodiscard]] std::uint64_t largest_count(const Call& call) const override {
    const auto ranks = static_cast<std::uint64_t>(links_.context->size);
    if (call.collective->movement == Movement::Parts && call.collective->reduces) {
      return std::numeric_limits<int>::max() / ranks;
    }
    return std::numeric_limits<std::uint64_t>::max() / info(call.type).size / ranks;
  }

  [[nodiscard]] Bytes temporary_bytes(const Call& call) const override {
    const GlooRoutine* routine = find_gloo_routine(call.collective->name);
    if (routine == nullptr) return 0;
    const bool per_rank = !call.collective->elementwise;
    const auto parts = static_cast<std::uint64_t>(per_rank ? links_.context->size : 1);
    return routine->temporary(call.count * info(call.type).size * parts);
  }

  [[nodiscard]] InPlace in_place(const Collective& collective, std::uint64_t count) const override {
    const GlooRoutine* routine = find_gloo_routine(collective.name);
    if (routine != nullptr && routine->result_first) return {};
    return collective.in_place(count, links_.context->rank);
  }

  void enqueue(const Call& call) override {
    if (call.count == 0) return;
    try {
      find_gloo_routine(call.collective->name)->call(links_, call);
    } catch (const std::exception& error) {
      // If a rank has ended, the launcher or the PeerMonitor reports it in a moment, and better.
      constexpr std::chrono::seconds kMoment{1};
      std::this_thread::sleep_for(kMoment);
      rethrow_gloo(error);
    }
  }

 private:
  GlooLinks links_;
};

class GlooBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "gloo"; }
  [[nodiscard]] int preference() const override { return 5; }
  [[nodiscard]] std::optional<std::string> unavailable() const override { return std::nullopt; }
  [[nodiscard]] std::string library() const override {
    return fmt::format("Gloo {}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
  }
  [[nodiscard]] bool has_threads() const override { return true; }
  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    return std::make_unique<GlooCommunicator>(bootstrap, options);
  }
};

const GlooBackend kBackend;

}  // namespace
}  // namespace busbar
