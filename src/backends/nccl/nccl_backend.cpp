// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <string>

#include <fmt/format.h>

#include "backends/nccl/devices.hpp"
#include "backends/nccl/nccl_communicator.hpp"
#include "backends/nccl/nccl_log.hpp"
#include "backends/nccl/nccl_ras.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "model/nccl_choice.hpp"

namespace busbar {
namespace {

/// CUDA's 13020 is 13.2.
std::string cuda_version(int code) { return fmt::format("{}.{}", code / 1000, code % 1000 / 10); }

/// NCCL refuses two ranks of one host on one GPU: from 2.30 on a variable allows them, before that
/// every rank calls itself a host of its own and the ranks talk over the network, also where NVLink
/// joins hosts (MNNVL). Read when it connects.
void let_ranks_share_devices(int rank) {
  if (nccl_version() >= kNcclSharedDevices) {
    setenv("NCCL_MULTI_RANK_GPU_ENABLE", "1", 1);
  } else {
    setenv("NCCL_HOSTID", fmt::format("busbar-rank-{}", rank).c_str(), 1);
    setenv("NCCL_MNNVL_ENABLE", "0", 1);
  }
}

/// Refuses a policy of -x that this library does not know: it would refuse or ignore it.
void check_cta_policy(int policy) {
  const int needed = policy == 2 ? kNcclZeroCtas : kNcclWindows;
  if (nccl_version() >= needed) return;
  throw usage_error(newer_nccl_text(fmt::format("-x {}: this CTA policy", policy), needed));
}

class NcclBackend final : public Backend {
 public:
  [[nodiscard]] std::string_view name() const override { return "nccl"; }
  [[nodiscard]] int preference() const override { return 20; }
  [[nodiscard]] bool has_devices() const override { return true; }

  [[nodiscard]] std::optional<std::string> unavailable() const override {
    if (auto reason = no_device()) return reason;
    const std::string problem = nccl_problem();
    return problem.empty() ? std::nullopt : std::optional{problem};
  }

  [[nodiscard]] std::string library() const override {
    int runtime = 0;
    int driver = 0;
    (void)cuda().get_runtime_version(&runtime);
    (void)cuda().get_driver_version(&driver);
    return fmt::format("NCCL {}, CUDA {} (driver {})", nccl_version_text(nccl_version()),
                       cuda_version(runtime), cuda_version(driver));
  }

  [[nodiscard]] std::string library_files() const override {
    return fmt::format("{} {}", nccl().library.path(), cuda().runtime.path());
  }

  /// Fields that the library is too old for have no effect and are left out.
  [[nodiscard]] std::string settings(const ConnectOptions& options) const override {
    const NcclConfig config = nccl_config(options);
    std::vector<std::string> words;
    const auto add = [&words](const char* field, int value, int version) {
      if (value != NcclConfig::kUndefined && nccl_version() >= version) {
        words.push_back(fmt::format("{}={}", field, value));
      }
    };
    add("CTAPolicy", config.cta_policy, kNcclWindows);
    add("nvlinkCentricSched", config.nvlink_centric_sched, kNcclZeroCtas);
    add("maxP2pPeers", config.max_p2p_peers, kNcclSharedDevices);
    return join(words, ",");
  }

  [[nodiscard]] std::vector<Device> visible_devices() const override {
    return visible_cuda_devices();
  }

  [[nodiscard]] std::optional<Device> claim_device(Bootstrap& world,
                                                   const DeviceRequest& request) const override {
    return take_cuda_device(world, request);
  }

  [[nodiscard]] std::string diagnosis() const override {
    constexpr Seconds kLimit{5};
    const char* address = std::getenv("NCCL_RAS_ADDR");
    const std::string text =
        ask_nccl_ras(address == nullptr ? std::string(kNcclRasAddress) : address, kLimit);
    return text.empty() ? text : "NCCL's RAS: " + text;
  }

  [[nodiscard]] std::unique_ptr<Communicator> connect(
      Bootstrap& bootstrap, const ConnectOptions& options) const override {
    if (options.cta_policy) check_cta_policy(*options.cta_policy);
    const auto conflict = options.observe_choice ? nccl_log_conflict(std::getenv) : std::nullopt;
    if (conflict) throw usage_error("--nccl-choice: " + *conflict);
    if (options.shares_devices) let_ranks_share_devices(options.world_rank);
    return std::make_unique<NcclCommunicator>(bootstrap, options);
  }
};

const NcclBackend kBackend;

}  // namespace
}  // namespace busbar
