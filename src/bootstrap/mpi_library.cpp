// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/mpi_library.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace busbar {
namespace {

/// How a library's text begins. Relatives of MPICH (Intel, Cray, MVAPICH) begin otherwise: they
/// have algorithms of their own.
struct Beginning {
  std::string_view text;
  std::string_view name;
  char end;  // of the version
  MpiFamily family;
};
constexpr std::array kBeginnings{
    Beginning{"MPICH Version:", "MPICH", '\n', MpiFamily::Mpich},
    Beginning{"Open MPI v", "Open MPI", ',', MpiFamily::OpenMpi},
};

const MpiSupport*& registered() {
  static const MpiSupport* support = nullptr;
  return support;
}

}  // namespace

MpiLibrary read_mpi_library(std::string_view text) {
  for (const Beginning& beginning : kBeginnings) {
    if (!text.starts_with(beginning.text)) continue;
    const std::string_view rest = text.substr(beginning.text.size());
    return {.name = std::string(beginning.name) + ' ' +
                    one_line(rest.substr(0, rest.find(beginning.end))),
            .family = beginning.family};
  }
  return {.name = one_line(text.substr(0, text.find('\n')))};
}

MpiLibrary mpi_library_of(const std::string& name) {
  const auto* const known = std::ranges::find_if(
      kBeginnings, [&](const Beginning& each) { return name.starts_with(each.name); });
  return {.name = name, .family = known == kBeginnings.end() ? MpiFamily::Other : known->family};
}

std::string memory_note(const MpiLibrary& library) {
  if (library.family != MpiFamily::Other) return "";
  return "memory that " + library.name +
         " takes for itself was not measured: planned is the larger need of MPICH and Open MPI";
}

MpiSupport::MpiSupport(Library its_library, Start its_start)
    : library(its_library), start(its_start) {
  registered() = this;
}

const MpiSupport* find_mpi() { return registered(); }

}  // namespace busbar
