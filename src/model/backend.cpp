// SPDX-License-Identifier: BSD-3-Clause
#include "model/backend.hpp"

#include <algorithm>
#include <array>

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

BackendChoice best_available(const Unavailability& reason_of) {
  std::vector<std::string> reasons;
  for (const Backend* backend : registered_backends()) {
    const auto reason = reason_of(*backend);
    if (!reason) {
      reasons.push_back(fmt::format("best available of {}", names_in_this_build()));
      return {.backend = backend, .why = join(reasons, "; ")};
    }
    reasons.push_back(fmt::format("{} is not: {}", backend->name(), *reason));
  }
  throw Error{Status::Unavailable, fmt::format("no backend is available: {}", join(reasons, "; "))};
}

/// The first rank's reason, if any rank has one.
std::optional<std::string> reason_of_any(Bootstrap& everyone,
                                         const std::optional<std::string>& mine) {
  std::array<char, 400> text{};
  if (mine) std::copy_n(mine->begin(), std::min(mine->size(), text.size() - 1), text.begin());
  const auto all = everyone.gather(text);
  const bool everywhere =
      std::all_of(all.begin(), all.end(), [&](const auto& t) { return t == text; });
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].front() == '\0') continue;
    if (everywhere) return mine;
    return fmt::format("rank {}: {}", rank, all[rank].data());
  }
  return std::nullopt;
}

}  // namespace

Backend::Backend() { registry().push_back(this); }

std::vector<const Backend*> registered_backends() {
  std::vector<const Backend*> sorted = registry();
  std::sort(sorted.begin(), sorted.end(),
            [](const Backend* a, const Backend* b) { return a->preference() > b->preference(); });
  return sorted;
}

BackendChoice choose_backend(std::string_view wanted, const Unavailability& reason_of) {
  if (wanted == "auto") return best_available(reason_of);
  for (const Backend* backend : registered_backends()) {
    if (backend->name() != wanted) continue;
    const auto reason = reason_of(*backend);
    if (!reason) return {.backend = backend, .why = "--backend"};
    throw Error{Status::Unavailable, fmt::format("--backend {}: {}", wanted, *reason)};
  }
  throw Error{Status::Unavailable, fmt::format("--backend {}: not in this build, which has: {}",
                                               wanted, names_in_this_build())};
}

BackendChoice choose_backend(std::string_view wanted) {
  return choose_backend(wanted, [](const Backend& backend) { return backend.unavailable(); });
}

BackendChoice choose_backend(std::string_view wanted, Bootstrap& everyone) {
  return choose_backend(wanted, [&](const Backend& backend) {
    return reason_of_any(everyone, backend.unavailable());
  });
}

}  // namespace busbar
