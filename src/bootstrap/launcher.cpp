// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace busbar {
namespace {

struct Signature {
  const char* name;
  const char* rank;
  const char* size;
  const char* required;  // must be set too: a batch script has SLURM_PROCID without being launched
};

constexpr std::array<Signature, 4> kSignatures{{
    {"mpiexec (PMI)", "PMI_RANK", "PMI_SIZE", "PMI_RANK"},
    {"Open MPI's mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"MVAPICH's mpirun", "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},
    {"srun", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_ID"},
}};

/// 0 for what is no number: a launcher that does not tell.
int number(const char* text) {
  const std::string_view digits = text == nullptr ? "" : text;
  int value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

}  // namespace

std::optional<Launcher> find_launcher(const Environment& lookup) {
  for (const Signature& signature : kSignatures) {
    const char* rank = lookup(signature.rank);
    if (rank == nullptr || lookup(signature.required) == nullptr) continue;
    return Launcher{
        .name = signature.name, .rank = number(rank), .size = number(lookup(signature.size))};
  }
  return std::nullopt;
}

std::optional<Launcher> find_launcher() {
  return find_launcher([](const char* variable) { return std::getenv(variable); });
}

bool speaks_for_the_job() {
  const auto launcher = find_launcher();
  return !launcher || launcher->rank == 0;
}

}  // namespace busbar
