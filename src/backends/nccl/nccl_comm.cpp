// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_comm.hpp"

#include <chrono>
#include <exception>
#include <string>
#include <thread>

#include <fmt/format.h>

#include "backends/nccl/api.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::chrono::microseconds kLook{200};

ncclConfig_t make_config(const ConnectOptions& options) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (options.cta_policy && !nccl::set_cta_policy(config, *options.cta_policy)) {
    throw usage_error("-x: CTA policies come with NCCL 2.27; this program was built for an older");
  }
  return config;
}

}  // namespace

NcclComm::NcclComm(Bootstrap& bootstrap, const ConnectOptions& options) {
  try {
    connect(bootstrap, options);
  } catch (...) {
    abort();
    throw;
  }
}

void NcclComm::connect(Bootstrap& bootstrap, const ConnectOptions& options) {
  ncclUniqueId id{};
  ncclResult_t result = ncclSuccess;
  if (bootstrap.rank() == 0) result = ncclGetUniqueId(&id);
  bootstrap.broadcast(result);
  if (result != ncclSuccess) fail(result, Where::here());
  bootstrap.broadcast(id);
  ncclConfig_t config = make_config(options);
  const Clock::time_point begin = Clock::now();
  result = ncclCommInitRankConfig(&comm_, bootstrap.size(), id, bootstrap.rank(), &config);
  while (result == ncclInProgress) {
    if (Clock::now() - begin > options.timeout) {
      throw runtime_failure(fmt::format(
          "NCCL has not connected the ranks within {:g} s; NCCL_DEBUG=INFO tells what it waits "
          "for, -T gives it another time",
          options.timeout.count()));
    }
    std::this_thread::sleep_for(kLook);
    result = state();
  }
  if (result != ncclSuccess) fail(result, Where::here());
}

NcclComm::~NcclComm() {
  if (comm_ != nullptr && std::uncaught_exceptions() == 0 && finalize()) {
    (void)ncclCommDestroy(comm_);
  } else {
    abort();
  }
}

/// Waits for the other ranks, but not for ever at the end of a run.
bool NcclComm::finalize() noexcept {
  constexpr Seconds kLongest{10};
  const Clock::time_point begin = Clock::now();
  ncclResult_t result = ncclCommFinalize(comm_);
  while (result == ncclInProgress && Clock::now() - begin < kLongest) {
    std::this_thread::sleep_for(kLook);
    result = state();
  }
  return result == ncclSuccess;
}

ncclResult_t NcclComm::state() const noexcept {
  ncclResult_t state = ncclSuccess;
  const ncclResult_t result = ncclCommGetAsyncError(comm_, &state);
  return result == ncclSuccess ? state : result;
}

void NcclComm::settle(ncclResult_t result, Where where) {
  while (result == ncclInProgress) {
    std::this_thread::yield();
    result = state();
  }
  if (result != ncclSuccess) fail(result, where);
}

void NcclComm::wait_for(ncclResult_t result) const noexcept {
  while (result == ncclInProgress) {
    std::this_thread::yield();
    result = state();
  }
}

void NcclComm::check_async(Where where) {
  const ncclResult_t result = state();
  if (result != ncclSuccess && result != ncclInProgress) fail(result, where);
}

void NcclComm::fail(ncclResult_t result, Where where) {
  std::string words = ncclGetErrorString(result);
  const char* last = ncclGetLastError(comm_);
  if (last != nullptr && *last != '\0') words += ": " + one_line(last);
  abort();
  throw runtime_failure("NCCL: " + words, where);
}

void NcclComm::abort() noexcept {
  if (comm_ != nullptr) (void)ncclCommAbort(comm_);
  comm_ = nullptr;
}

}  // namespace busbar
