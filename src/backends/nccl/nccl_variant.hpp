// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backends/nccl/libraries.hpp"
#include "model/variant.hpp"

namespace busbar {

/// The names that --vary takes here, for messages: "algorithm, min_ctas, ...".
[[nodiscard]] std::string nccl_setting_names();

/// One value of --vary. From NCCL 2.31 on an operation is configured by itself, before that a
/// communicator is.
struct NcclVariant {
  std::string value{};  ///< what `call.algorithm` points to
  NcclConfig communicator{};
  NcclCallConfig call{};
  bool is_default = false;
};

/// All values of a setting; `config` is what communicators are configured with anyway. Nothing
/// where NCCL has no such setting; throws a usage error for a value that is none, for a library
/// that is too old, and where a variable of the environment has the last word.
[[nodiscard]] std::optional<std::vector<NcclVariant>> nccl_variants(const Vary& vary,
                                                                    const NcclConfig& config);
/// Whether this library takes a configuration with each operation.
[[nodiscard]] bool nccl_configures_calls();

}  // namespace busbar
