// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar::judge {

/// A fact of a launch by the name that specifications use: gpu, gpus_per_node, processor, library
/// (or nccl), driver, ngpus (ranks of a node), hosts, device_set, or any key of the CSV's head.
/// What the file does not report, a GPU's generic name too, is taken from `assumed`, else it is
/// nothing; several values are joined by "; ".
[[nodiscard]] std::optional<std::string> fact_of(const Observation& observation,
                                                 const std::string& key, const Facts& assumed = {});

/// The machine that a launch ran on. Throws Error (Usage) where neither its file nor `assumed` has
/// the name and the number of its GPUs.
[[nodiscard]] topo::MachineIdentity identity_of(const Observation& observation,
                                                const Facts& assumed);

/// "x.csv does not report gpu (--assume gpu=VALUE where you know it)".
[[nodiscard]] std::string unreported_text(const Observation& observation, const std::string& key);

/// True where what is reported is one of the values that are wanted, upper and lower case alike: a
/// GPU by its whole name, but for "NVIDIA" before it, and of several each, where a generic name may
/// be any GPU's; a number as it is; other texts as a part.
[[nodiscard]] bool matches_fact(const std::string& key, const std::string& reported,
                                const std::vector<std::string>& wanted);

/// "'NVIDIA H200' or 'NVIDIA H200 NVL'".
[[nodiscard]] std::string alternatives(const std::vector<std::string>& wanted);

/// Why the launches are not of the specification's system, or not over its backend, or empty. A
/// fact that neither files nor `assumed` have is a reason too.
[[nodiscard]] std::string fingerprint_error(const Specification& specification,
                                            std::span<const Observation> observations,
                                            const Facts& assumed);

/// Why no run of ours can have the fingerprint, or empty: over MPI no GPUs are probed.
[[nodiscard]] std::string unreported_error(const Specification& specification,
                                           const Facts& assumed);

/// That the launch names its GPUs generically (topo::is_generic_gpu), and what they are taken for;
/// empty where it does not.
[[nodiscard]] std::string generic_gpu_note(const Observation& observation,
                                           const std::string& taken_for);

/// A line for each host name under which launches of several nodes ran: they may be one machine,
/// which is permitted by `same_machine`.
[[nodiscard]] std::vector<std::string> shared_host_notes(std::span<const Observation> observations,
                                                         bool same_machine);

}  // namespace busbar::judge
