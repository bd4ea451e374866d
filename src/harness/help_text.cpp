// SPDX-License-Identifier: BSD-3-Clause
// The help and the version, which are files of the project; cli.hpp declares them.
#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "harness/cli.hpp"

namespace busbar {

std::string_view help_text() { return embedded_text("docs/options.md"); }

std::string_view help_text_of(std::string_view command) {
  return embedded_text(fmt::format("docs/{}-options.md", command));
}

std::string_view version() { return trim(embedded_text("VERSION")); }

std::string version_text() {
  return fmt::format("busbar {}\nMPI library: {}\n", version(), mpi_library().name);
}

}  // namespace busbar
