// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "backends/nccl/libraries.hpp"
#include "base/error.hpp"
#include "model/backend.hpp"
#include "model/bootstrap.hpp"
#include "model/variant.hpp"

namespace busbar {

/// What NCCL is asked for: as nccl-tests asks, and -x.
[[nodiscard]] NcclConfig nccl_config(const ConnectOptions& options);

/// Owns a blocking NCCL communicator on the current device: from 2.23 on NCCL starts a thread for
/// every group of a non-blocking one, which costs more than a small operation.
class NcclComm {
 public:
  /// Collective over `bootstrap`. Throws Error (Runtime) after `timeout`.
  NcclComm(Bootstrap& bootstrap, const NcclConfig& config, Seconds timeout);
  NcclComm(const NcclComm&) = delete;
  NcclComm& operator=(const NcclComm&) = delete;
  ~NcclComm();

  [[nodiscard]] ncclComm_t get() const { return comm_; }

  /// Waits while a call is in progress, which only NCCL_COMM_BLOCKING=0 brings about; throws
  /// Error (Runtime) with NCCL's own text where it, or anything since, failed.
  void settle(ncclResult_t result, Where where = Where::here());
  /// As settle, but an argument that NCCL refuses is Error (Unavailable).
  void settle_operation(ncclResult_t result, Where where = Where::here());
  /// Waits while a call is in progress; what came of it.
  [[nodiscard]] ncclResult_t wait_for(ncclResult_t result) const noexcept;
  /// Throws where an operation has failed behind our back.
  void check_async(Where where = Where::here());

 private:
  [[nodiscard]] ncclResult_t state() const noexcept;
  [[nodiscard]] std::string error_text(ncclResult_t result) const;
  [[noreturn]] void fail(ncclResult_t result, Where where) const;

  ncclComm_t comm_ = nullptr;
  bool blocking_;
};

/// The names that --vary takes here, for messages: "algorithm, min_ctas, ...".
[[nodiscard]] std::string nccl_setting_names();

/// One value of --vary, for an operation from NCCL 2.31 on, before that for a communicator.
struct NcclVariant {
  std::string value{};  ///< what `call.algorithm` points to
  NcclConfig communicator{};
  NcclCallConfig call{};
  bool is_default = false;
};

/// All values of a setting; `config` is what communicators are configured with anyway. Nothing
/// where NCCL has no such setting; throws a usage error where it cannot have these values here.
[[nodiscard]] std::optional<std::vector<NcclVariant>> nccl_variants(const Vary& vary,
                                                                    const NcclConfig& config);
[[nodiscard]] bool nccl_configures_calls();

}  // namespace busbar
