// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/choose.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/choice/candidates.hpp"
#include "topo/choice/ranking.hpp"
#include "topo/choice/rater.hpp"
#include "topo/choice/reason.hpp"
#include "topo/choice/star.hpp"

namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, 5> kPolicyNames{"prefix", "best", "worst", "median", "list"};
/// So many different problems are solved to count classes; the best of more is searched for.
constexpr std::size_t kMostSolved = 400;

std::vector<int> pool_of(const Graph& graph, int host) {
  std::vector<int> pool;
  for (int index = 0; static_cast<std::size_t>(index) < device_count(graph); ++index) {
    if (host < 0 || device(graph, index).host == host) pool.push_back(index);
  }
  return pool;
}

void check_count(const Graph& graph, const std::vector<int>& pool, int k, int host) {
  if (k >= 1 && static_cast<std::size_t>(k) <= pool.size()) return;
  const std::string where =
      host < 0 ? fmt::format("'{}'", graph.name) : fmt::format("host {} of '{}'", host, graph.name);
  if (pool.empty()) throw usage_error(fmt::format("--devices: {} has no device", where));
  throw usage_error(fmt::format("--devices: {} of {} wanted, which has {}; ask for 1 to {}", k,
                                where, counted(pool.size(), "device"), pool.size()));
}

Ranked rank(const Graph& graph, const std::vector<int>& pool, std::size_t k, Policy policy,
            const BoundOptions& options) {
  const TieBreaker ties(graph);
  if (k >= 2) {
    if (const auto ports = star_ports(graph, pool, options)) {
      return rank_star(pool, *ports, k, ties, policy);
    }
  }
  const Rater rater(graph, pool, options);
  const std::vector<Candidate> candidates = candidates_of(pool, k, rater, ties);
  const Groups groups = rater.first().groups(sets_of(candidates));
  if (policy == Policy::Best && groups.size() > kMostSolved) {
    return find_best(candidates, groups, rater);
  }
  return rank_all(candidates, groups, rater, policy);
}

}  // namespace

std::string_view name(Policy policy) { return kPolicyNames.at(static_cast<std::size_t>(policy)); }

Choice choose(const Graph& graph, int k, Policy policy, const BoundOptions& options, int host) {
  const std::vector<int> pool = pool_of(graph, host);
  check_count(graph, pool, k, host);
  const auto count = static_cast<std::size_t>(k);
  if (policy == Policy::List) {
    throw usage_error("--devices: a list names its devices itself; write it as 0,1,2,3");
  }
  if (policy == Policy::Prefix) {
    const std::span<const int> set = std::span(pool).first(count);
    return {.policy = policy,
            .bound = bound_of(graph, set, options),
            .reason = count == pool.size()
                          ? fmt::format("all of {}", counted(pool.size(), "device"))
                          : fmt::format("the first {} of {}", k, counted(pool.size(), "device"))};
  }
  const Ranked ranked = rank(graph, pool, count, policy, options);
  return {.policy = policy,
          .bound = bound_of(graph, ranked.set, options),
          .reason = reason_of(ranked, policy)};
}

}  // namespace busbar::topo
