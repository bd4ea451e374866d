// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation_file.hpp"

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace busbar::judge {
namespace {

/// The end of a file: enough for its last line.
std::string tail_of(const std::string& path) {
  constexpr std::streamoff kEnough = 4096;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = std::max<std::streamoff>(file.tellg(), 0);
  const std::streamoff length = std::min(size, kEnough);
  file.seekg(size - length);
  std::string tail(static_cast<std::size_t>(length), '\0');
  file.read(tail.data(), length);
  return tail;
}

/// Why a file is not whole, or empty. Our executables end theirs with "# finished:"; imported files
/// have no such line.
std::string incomplete(const Dataset& dataset) {
  const std::string tail = tail_of(dataset.path);
  if (!tail.empty() && tail.back() != '\n') return "cut off: its last line has no end";
  const bool ours = dataset.facts.contains("configuration");
  if (ours && tail.find("# finished:") == std::string::npos) {
    return "cut off: the run did not finish it";
  }
  return dataset.records.empty() ? "no row in it" : "";
}

}  // namespace

ObservationFile read_observation_file(const std::string& path) {
  ObservationFile file{.dataset = load_dataset(path)};
  const std::string why = incomplete(file.dataset);
  if (!why.empty()) file.failure = fmt::format("{}: {}", path, why);
  return file;
}

}  // namespace busbar::judge
