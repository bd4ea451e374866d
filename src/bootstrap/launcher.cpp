// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/launcher.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

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

/// 0 for what is no number: an unknown rank or size.
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

namespace {

/// What starts ranks of a family: the first of `names` that is there. Debian's names with a suffix
/// go first, since plain ones may belong to another MPI.
struct FamilyLaunchers {
  MpiFamily family = MpiFamily::Other;
  std::array<std::string_view, 3> names;
  std::array<std::string_view, 1> always;  // Open MPI refuses more ranks than cores otherwise
  std::array<std::string_view, 1> as_root;
};
constexpr std::array kLaunchers{
    FamilyLaunchers{MpiFamily::Mpich, {"mpiexec.mpich", "mpiexec.hydra", "mpiexec"}, {}, {}},
    FamilyLaunchers{MpiFamily::OpenMpi,
                    {"mpirun.openmpi", "mpirun", "mpiexec"},
                    {"--oversubscribe"},
                    {"--allow-run-as-root"}},
    FamilyLaunchers{MpiFamily::Other, {"mpiexec", "mpirun", ""}, {}, {}},
};

void append(std::vector<std::string>& words, std::span<const std::string_view> more) {
  for (const std::string_view word : more) {
    if (!word.empty()) words.emplace_back(word);
  }
}

bool is_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  const std::vector<std::string> folders = split(path == nullptr ? "" : path, ':');
  return std::any_of(folders.begin(), folders.end(), [&](const std::string& folder) {
    return access(fmt::format("{}/{}", folder, name).c_str(), X_OK) == 0;
  });
}

}  // namespace

RankLauncher find_rank_launcher(MpiFamily family, int ranks, bool as_root,
                                const ProgramLookup& is_program) {
  const auto* const known =
      std::find_if(kLaunchers.begin(), kLaunchers.end(),
                   [&](const FamilyLaunchers& each) { return each.family == family; });
  std::vector<std::string> names;
  append(names, known->names);
  const auto name = std::find_if(names.begin(), names.end(), is_program);
  if (name == names.end()) {
    throw Error{
        Status::Unavailable,
        fmt::format("-g {}: PATH has no {} to start ranks with; install the launcher of {}, or "
                    "leave -g out",
                    ranks, join(names, " or "), mpi_library().name)};
  }
  RankLauncher launcher{.program = *name};
  append(launcher.arguments, known->always);
  if (as_root) append(launcher.arguments, known->as_root);
  launcher.arguments.insert(launcher.arguments.end(), {"-n", fmt::format("{}", ranks)});
  return launcher;
}

RankLauncher find_rank_launcher(MpiFamily family, int ranks) {
  return find_rank_launcher(family, ranks, geteuid() == 0, is_in_path);
}

}  // namespace busbar
