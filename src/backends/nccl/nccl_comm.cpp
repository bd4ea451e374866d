// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_comm.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <thread>

#include "base/text.hpp"
#include "base/thread.hpp"

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

}  // namespace busbar
