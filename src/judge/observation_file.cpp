// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation_file.hpp"

#include <fmt/format.h>

namespace busbar::judge {
namespace {

std::string incomplete(const Dataset& dataset) {
  if (!dataset.cut.empty()) return dataset.cut;
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
