// SPDX-License-Identifier: BSD-3-Clause
#include "harness/library_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unistd.h>

namespace busbar {

std::vector<std::string> library_environment() {
  constexpr std::array kKept{
      "NCCL_",       "UCX_", "MPIR_", "MPICH_", "OMPI_MCA_", "FI_", "CUDA_VISIBLE_DEVICES",
      "CUDA_DEVICE_"};
  // What Open MPI's mpirun sets for its ranks: session names that differ in every launch.
  constexpr std::array kOfTheLauncher{
      "OMPI_MCA_orte_", "OMPI_MCA_ess",
      "OMPI_MCA_pmix=", "OMPI_MCA_initial_wdir=", "OMPI_MCA_shmem_RUNTIME_QUERY_hint="};
  std::vector<std::string> found;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    const auto begins_text = [&](const char* prefix) { return text.starts_with(prefix); };
    if (std::any_of(kKept.begin(), kKept.end(), begins_text) &&
        std::none_of(kOfTheLauncher.begin(), kOfTheLauncher.end(), begins_text)) {
      found.emplace_back(text);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace busbar
