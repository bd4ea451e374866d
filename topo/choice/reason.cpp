// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/reason.hpp"

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::topo {
namespace {

std::string ties_of(const Ranked& ranked) {
  return ranked.decided.empty() ? "" : "; " + join(ranked.decided, ", then ");
}

std::string equals_of(const Ranked& ranked) {
  if (ranked.equal == 0) return "";
  if (ranked.equal == 1) return " in 1 of them";
  if (ranked.equal == kManySets) return " in most of them";
  return fmt::format(" in {} of them", ranked.equal);
}

std::string share_of_best(const Figures& own, const Figures& best) {
  constexpr double kHalf = 0.5;
  const double share = own.bound_GBps / best.bound_GBps;
  if (same_figure(share, kHalf)) return "half of the best";
  return fmt::format("{:.2g} % of the best", share * 100);
}

}  // namespace

std::string describe(const Figures& figures) {
  const std::string rate = fmt::format("{:.4g} GB/s", figures.bound_GBps);
  if (figures.bound_GBps <= 0) return "no ring at all";
  return figures.ring_GBps > 0 ? rate : rate + " without an NVLink ring";
}

std::string reason_of(const Ranked& ranked, Policy policy) {
  const std::string ties = ties_of(ranked);
  if (ranked.set.size() < 2) return fmt::format("one device of {}{}", ranked.sets, ties);
  const std::string own = describe(ranked.own);
  if (ranked.sets == 1) return "the only set: " + own;
  const std::string sets = counted_sets(ranked.sets);
  if (ranked.worst && same_figures(ranked.best, *ranked.worst)) {
    return fmt::format("{} of {}: all have {}{}", name(policy), sets, own, ties);
  }
  const std::string equals = equals_of(ranked);
  if (policy == Policy::Worst) {
    return fmt::format("worst of {}: {}{}, instead of {}: {}, {}{}", sets, own, equals,
                       describe(ranked.best), share_of_best(ranked.own, ranked.best),
                       describe_set(ranked.best_set), ties);
  }
  const std::string worst = ranked.worst ? ", worst " + describe(*ranked.worst) : "";
  const std::string best = policy == Policy::Median ? ", best " + describe(ranked.best) : "";
  return fmt::format("{} of {}: {}{}{}{}{}", name(policy), sets, own, equals, best, worst, ties);
}

}  // namespace busbar::topo
