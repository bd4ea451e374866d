// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// A fact of a launch by the word that specifications use: gpu, gpus_per_node, processor, library
/// (or nccl), driver, ngpus (ranks of a node), hosts, device_set, or any key of the CSV's head.
/// Nothing where the file does not tell it; several values are joined by "; ".
[[nodiscard]] std::optional<std::string> fact_of(const Observation& observation,
                                                 const std::string& key);

/// True where a machine tells what is wanted: a number as it is, a word as a part, upper and lower
/// case alike.
[[nodiscard]] bool matches_fact(const std::string& told, const std::string& wanted);

/// Why the launches are not of the specification's system, or not over its backend, or empty. A
/// fact that files do not tell is taken from `assumed`, else it is a reason too.
[[nodiscard]] std::string fingerprint_error(const Specification& specification,
                                            std::span<const Observation> observations,
                                            const std::map<std::string, std::string>& assumed);

}  // namespace busbar::judge
