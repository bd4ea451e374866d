// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_comm.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "base/lists.hpp"
#include "base/text.hpp"
#include "base/thread.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

constexpr std::chrono::microseconds kLook{200};
constexpr Seconds kLongestEnd{10};  // of a communicator, at the end of a run

/// Runs a call that may never return on a thread of its own, with this thread's device. What the
/// call uses must outlive it; nothing where it has not returned after `limit`.
std::optional<ncclResult_t> run_within(Seconds limit, std::function<ncclResult_t()> call) {
  auto result = std::make_shared<std::atomic<ncclResult_t>>(ncclInProgress);
  int device = 0;
  (void)cuda().get_device(&device);
  start_thread([result, device, call = std::move(call)] {
    (void)cuda().set_device(device);
    *result = call();
  }).detach();
  const Clock::time_point begin = Clock::now();
  while (*result == ncclInProgress) {
    if (Clock::now() - begin > limit) return std::nullopt;
    std::this_thread::sleep_for(kLook);
  }
  return *result;
}

bool is_blocking() {
  const char* text = std::getenv("NCCL_COMM_BLOCKING");
  return text == nullptr || std::string_view(text) != "0";
}

}  // namespace

NcclConfig nccl_config(const ConnectOptions& options) {
  NcclConfig config;
  config.nvlink_centric_sched = 1;
  if (options.cta_policy) config.cta_policy = *options.cta_policy;
  if (options.peers > 0) config.max_p2p_peers = options.peers;
  return config;
}

NcclComm::NcclComm(Bootstrap& bootstrap, const NcclConfig& config, Seconds timeout)
    : blocking_(is_blocking()) {
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  if (bootstrap.rank() == 0) result = nccl().get_unique_id(&id);
  bootstrap.broadcast(result);
  if (result != ncclSuccess) fail(result, Where::here());
  bootstrap.broadcast(id);
  const auto comm = std::make_shared<ncclComm_t>(nullptr);
  const auto begin = [comm, id, own = NcclConfig(config), size = bootstrap.size(),
                      rank = bootstrap.rank()]() mutable {
    const ncclResult_t begun = nccl().init(comm.get(), size, id, rank, &own);
    ncclResult_t state = begun;  // in progress with NCCL_COMM_BLOCKING=0
    while (state == ncclInProgress) {
      std::this_thread::sleep_for(kLook);
      if (nccl().get_async_error(*comm, &state) != ncclSuccess) return ncclInternalError;
    }
    return state;
  };
  const auto connected = run_within(timeout, begin);
  if (!connected) {
    throw runtime_failure(
        fmt::format("NCCL has not connected the ranks within {:g} s; NCCL_DEBUG=INFO shows what it "
                    "waits for, -T sets another time",
                    timeout.count()));
  }
  comm_ = *comm;
  if (*connected != ncclSuccess) fail(*connected, Where::here());
}

/// Neither for ever: destroying finalizes first, which waits for the other ranks, and aborting may
/// wait for a device that is lost.
NcclComm::~NcclComm() {
  if (comm_ == nullptr) return;
  const bool failed = std::uncaught_exceptions() > 0;
  (void)run_within(kLongestEnd, [comm = comm_, failed] {
    return failed ? nccl().abort(comm) : nccl().destroy(comm);
  });
}

ncclResult_t NcclComm::state() const noexcept {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = nccl().get_async_error(comm_, &state);
  return result == ncclSuccess ? state : result;
}

ncclResult_t NcclComm::wait_for(ncclResult_t result) const noexcept {
  // NCCL 2.28 to 2.30 call a window that is still in progress a success.
  if (result == ncclSuccess && !blocking_) result = state();
  while (result == ncclInProgress) {
    std::this_thread::yield();
    result = state();
  }
  return result;
}

void NcclComm::settle(ncclResult_t result, Where where) {
  result = wait_for(result);
  if (result != ncclSuccess) fail(result, where);
}

void NcclComm::settle_operation(ncclResult_t result, Where where) {
  if (result == ncclInvalidArgument) {
    throw Error{Status::Unavailable, "NCCL refuses it: " + error_text(result)};
  }
  settle(result, where);
}

void NcclComm::check_async(Where where) {
  const ncclResult_t result = state();
  if (result != ncclSuccess && result != ncclInProgress) fail(result, where);
}

std::string NcclComm::error_text(ncclResult_t result) const {
  std::string text = nccl().error_text(result);
  const char* last = nccl().last_error(comm_);
  if (last != nullptr && *last != '\0') text += ": " + one_line(last);
  return text;
}

void NcclComm::fail(ncclResult_t result, Where where) const {
  throw runtime_failure("NCCL: " + error_text(result), where);
}

namespace {

/// A setting that --vary may name; no members: the algorithm.
struct NcclSetting {
  std::string_view name;
  const char* variable;  ///< that has the last word
  int since;             ///< version whose communicators have it
  int NcclConfig::*of_communicator = nullptr;
  int NcclCallConfig::*of_call = nullptr;
};

constexpr std::array kNcclSettings{
    NcclSetting{"algorithm", "NCCL_ALGO", kNcclCallConfigs},
    NcclSetting{"min_ctas", "NCCL_MIN_CTAS", 21700, &NcclConfig::min_ctas,
                &NcclCallConfig::min_ctas},
    NcclSetting{"max_ctas", "NCCL_MAX_CTAS", 21700, &NcclConfig::max_ctas,
                &NcclCallConfig::max_ctas},
    NcclSetting{"cga_cluster_size", "NCCL_CGA_CLUSTER_SIZE", 21700, &NcclConfig::cga_cluster_size,
                &NcclCallConfig::cga_cluster_size},
    NcclSetting{"nvls_ctas", "NCCL_NVLS_NCHANNELS", kNcclWindows, &NcclConfig::nvls_ctas,
                &NcclCallConfig::nvls_ctas},
    NcclSetting{"cta_policy", "NCCL_CTA_POLICY", kNcclWindows, &NcclConfig::cta_policy,
                &NcclCallConfig::cta_policy}};

}  // namespace

std::string nccl_setting_names() {
  return join_each(kNcclSettings, ", ", [](const NcclSetting& each) { return each.name; });
}

bool nccl_configures_calls() {
  return nccl_version() >= kNcclCallConfigs && nccl().allreduce_config;
}

std::optional<std::vector<NcclVariant>> nccl_variants(const Vary& vary, const NcclConfig& config) {
  const NcclSetting* setting = find_by(kNcclSettings, vary.name, &NcclSetting::name);
  if (setting == nullptr) return std::nullopt;
  const std::string option = "--vary " + vary.name;
  if (nccl_version() < setting->since) {
    throw usage_error(newer_nccl_text(option + ": it", setting->since));
  }
  if (std::getenv(setting->variable) != nullptr) {
    throw usage_error("{}: {} would have the last word; unset it", option, setting->variable);
  }
  std::vector<NcclVariant> variants;
  for (const std::string& value : vary.values) {
    NcclVariant& variant =
        variants.emplace_back(NcclVariant{.value = value, .communicator = config});
    variant.is_default = value == kDefaultValue;
    if (variant.is_default || setting->of_call == nullptr) continue;
    constexpr int kMost = 1024;
    const auto number = static_cast<int>(parse_integer(option, value, 0, kMost));
    variant.communicator.*setting->of_communicator = number;
    variant.call.*setting->of_call = number;
  }
  for (NcclVariant& variant : variants) {  // none moves any more
    const bool names_algorithm = setting->of_call == nullptr && !variant.is_default;
    if (names_algorithm) variant.call.algorithm = variant.value.c_str();
  }
  return variants;
}

}  // namespace busbar
