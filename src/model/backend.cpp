// SPDX-License-Identifier: BSD-3-Clause
#include "model/backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

std::vector<const Backend*>& registry() {
  static std::vector<const Backend*> backends;
  return backends;
}

std::string names_in_this_build() {
  std::vector<std::string> names;
  for (const Backend* backend : registered_backends()) names.emplace_back(backend->name());
  return join(names, ", ");
}

BackendChoice best_available() {
  std::vector<std::string> reasons;
  for (const Backend* backend : registered_backends()) {
    const auto reason = backend->unavailable();
    if (!reason) {
      reasons.push_back(fmt::format("best available of {}", names_in_this_build()));
      return {.backend = backend, .why = join(reasons, "; ")};
    }
    reasons.push_back(fmt::format("{} is not: {}", backend->name(), *reason));
  }
  throw Error{Status::Unavailable, fmt::format("no backend is available: {}", join(reasons, "; "))};
}

}  // namespace

Backend::Backend() { registry().push_back(this); }

std::vector<const Backend*> registered_backends() {
  std::vector<const Backend*> sorted = registry();
  std::sort(sorted.begin(), sorted.end(),
            [](const Backend* a, const Backend* b) { return a->preference() > b->preference(); });
  return sorted;
}

BackendChoice choose_backend(std::string_view wanted) {
  if (wanted == "auto") return best_available();
  for (const Backend* backend : registered_backends()) {
    if (backend->name() != wanted) continue;
    const auto reason = backend->unavailable();
    if (!reason) return {.backend = backend, .why = "--backend"};
    throw Error{Status::Unavailable, fmt::format("--backend {}: {}", wanted, *reason)};
  }
  throw Error{Status::Unavailable, fmt::format("--backend {}: not in this build, which has: {}",
                                               wanted, names_in_this_build())};
}

}  // namespace busbar
