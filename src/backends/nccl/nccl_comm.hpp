// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nccl.h>

#include "base/where.hpp"
#include "model/backend.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// Owns a non-blocking NCCL communicator on the current device. After the first failure it is
/// aborted, so that operations that will never end do not hold up what comes after.
class NcclComm {
 public:
  /// Collective over `bootstrap`. Throws Error (Runtime) after options.timeout.
  NcclComm(Bootstrap& bootstrap, const ConnectOptions& options);
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;
  ~NcclComm();

  [[nodiscard]] ncclComm_t get() const { return comm_; }

  /// Waits while a call's result is "in progress"; aborts and throws Error (Runtime) with NCCL's
  /// own words where it, or anything since, failed.
  void settle(ncclResult_t result, Where where = Where::here());
  /// Waits while a result is "in progress", whatever comes of it: for what may not throw.
  void wait_for(ncclResult_t result) const noexcept;
  /// Aborts and throws where an operation has failed behind our back.
  void check_async(Where where = Where::here());

 private:
  void connect(Bootstrap& bootstrap, const ConnectOptions& options);
  [[nodiscard]] ncclResult_t state() const noexcept;
  [[noreturn]] void fail(ncclResult_t result, Where where);
  [[nodiscard]] bool finalize() noexcept;
  void abort() noexcept;

  ncclComm_t comm_ = nullptr;
};

}  // namespace busbar
