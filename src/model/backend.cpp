// SPDX-License-Identifier: BSD-3-Clause
#include "model/backend.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/text.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

std::vector<const Backend*>& registry() {
  static std::vector<const Backend*> backends;
  return backends;
}

/// Those that a build may lack, and what to do about it.
struct OptionalBackend {
  std::string_view name;
  std::string_view advice;
};
constexpr std::array kOptionalBackends{
    OptionalBackend{"nccl", "run make where NCCL's headers are"},
    OptionalBackend{"mpi", "run make with MPI=mpich or MPI=openmpi"},
    OptionalBackend{"gloo", "install libgloo-dev and run make again"}};

BackendChoice best_available(const Unavailability& reason_of) {
  std::vector<std::string> reasons;
  for (const Backend* backend : registered_backends()) {
    const auto reason = reason_of(*backend);
    if (!reason) {
      reasons.push_back(fmt::format("best available of {}", names_in_this_build()));
      return {.backend = backend, .why = join(reasons, "; ")};
    }
    reasons.push_back(fmt::format("{} is unavailable: {}", backend->name(), *reason));
  }
  for (const OptionalBackend& each : kOptionalBackends) {
    if (any_has(registry(), each.name, &Backend::name)) continue;
    reasons.push_back(fmt::format("{} is not in this build: {}", each.name, each.advice));
  }
  throw Error{Status::Unavailable, fmt::format("no backend is available: {}", join(reasons, "; "))};
}

/// Why each rank cannot use a backend, on rank 0; empty where it can.
using RankReasons = std::vector<std::string>;

std::string reason_of_any(const RankReasons& ranks) {
  const auto first = std::ranges::find_if_not(ranks, &std::string::empty);
  if (first == ranks.end()) return {};
  const bool everywhere = std::ranges::count(ranks, *first) == std::ssize(ranks);
  return everywhere ? *first : fmt::format("rank {}: {}", first - ranks.begin(), *first);
}

/// "fix that, or measure host memory with --backend mpi", or the one that this build has.
std::string advice() {
  for (const Backend* backend : registered_backends()) {
    if (backend->has_devices()) continue;
    return fmt::format("fix that, or measure host memory with --backend {}", backend->name());
  }
  return "fix that";
}

/// A node whose driver is broken would turn a measurement of GPUs into one of host memory.
void refuse_a_part(const Backend& backend, const RankReasons& ranks, const Words& hosts) {
  const std::size_t able = count_of(ranks, &std::string::empty);
  if (!backend.has_devices() || able == 0 || able == ranks.size()) return;
  const auto first = std::ranges::find_if_not(ranks, &std::string::empty) - ranks.begin();
  const auto rank = static_cast<std::size_t>(first);
  throw Error{Status::Unavailable,
              fmt::format("--backend auto: {} of {} can use {}, but not rank {} on {}: {}; {}",
                          able, counted(ranks.size(), "rank"), backend.name(), first, hosts[rank],
                          ranks[rank], advice())};
}

}  // namespace

Backend::Backend() { registry().push_back(this); }

void Backend::refuse_vary(const Vary& vary, std::string_view own) const {
  throw usage_error(
      "--vary {}: the {} backend cannot vary it within a launch, only {}cadence, blocking, "
      "agg_iters, cudagraph and inject-delay; for other variables use busbar sweep",
      vary.name, name(), own);
}

std::vector<const Backend*> registered_backends() {
  std::vector<const Backend*> sorted = registry();
  std::ranges::sort(sorted, std::greater(), &Backend::preference);
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
  const auto* const known = std::ranges::find(kOptionalBackends, wanted, &OptionalBackend::name);
  throw Error{
      Status::Unavailable,
      fmt::format("--backend {}: not in this build, which has: {}{}", wanted, names_in_this_build(),
                  known == kOptionalBackends.end() ? "" : fmt::format("; {}", known->advice))};
}

std::string names_in_this_build() { return join_each(registered_backends(), ", ", &Backend::name); }

std::optional<std::string> own_reason(const Backend& backend) { return backend.unavailable(); }

BackendChoice choose_backend(std::string_view wanted, Bootstrap& world,
                             const Unavailability& mine) {
  return choose_backend(wanted, [&](const Backend& backend) -> std::optional<std::string> {
    const RankReasons ranks = world.gather_texts(mine(backend).value_or(""));
    const Words hosts = world.gather_texts(host_name());
    agree_on(world, [&] {
      if (wanted == "auto") refuse_a_part(backend, ranks, hosts);
    });
    std::string reason = reason_of_any(ranks);
    world.broadcast_text(reason);
    if (reason.empty()) return std::nullopt;
    return reason;
  });
}

}  // namespace busbar
