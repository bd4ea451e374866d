// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/packing.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <glpk.h>

#include "base/error.hpp"
#include "topo/bounds/ring_problem.hpp"
#include "topo/bounds/ring_search.hpp"

namespace busbar::topo {
namespace {

constexpr int kSearchFirst = 11;  // from here on local search is quicker than Held and Karp
constexpr int kStarts = 8;
constexpr int kMostRounds = 4000;  // ends what rounding keeps alive; dozens are usual

/// Resources that a ring takes, each once, with how often.
std::vector<Use> uses_of(const RingProblem& problem, const std::vector<int>& order) {
  std::vector<Use> sum;
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (const Use& use : *problem.hop(order[k], order[(k + 1) % order.size()])) {
      const auto there = std::ranges::find(sum, use.resource, &Use::resource);
      if (there == sum.end()) {
        sum.push_back(use);
      } else {
        there->times += use.times;
      }
    }
  }
  return sum;
}

/// The restricted master program: rates of the rings found so far. GLPK counts from 1.
class Master {
 public:
  explicit Master(const std::vector<double>& capacity) : program_(glp_create_prob()) {
    glp_term_out(GLP_OFF);
    glp_set_obj_dir(program_, GLP_MAX);
    if (!capacity.empty()) glp_add_rows(program_, static_cast<int>(capacity.size()));
    for (std::size_t row = 0; row < capacity.size(); ++row) {
      glp_set_row_bnds(program_, static_cast<int>(row) + 1, GLP_UP, 0, capacity[row]);
    }
    glp_init_smcp(&parameters_);
    parameters_.msg_lev = GLP_MSG_OFF;
    parameters_.tol_bnd = kTolerance;
    parameters_.tol_dj = kTolerance;
  }
  Master(const Master&) = delete;
  Master& operator=(const Master&) = delete;
  ~Master() { glp_delete_prob(program_); }

  void add(const std::vector<Use>& uses) {
    std::vector<int> rows{0};
    std::vector<double> times{0};
    for (const Use& use : uses) {
      rows.push_back(use.resource + 1);
      times.push_back(use.times);
    }
    const int column = glp_add_cols(program_, 1);
    glp_set_col_bnds(program_, column, GLP_LO, 0, 0);
    glp_set_obj_coef(program_, column, 1);
    glp_set_mat_col(program_, column, static_cast<int>(uses.size()), rows.data(), times.data());
  }

  /// From the basis of the last time, which new columns leave feasible.
  void solve() {
    if (glp_simplex(program_, &parameters_) == 0 && glp_get_status(program_) == GLP_OPT) return;
    glp_std_basis(program_);
    if (glp_simplex(program_, &parameters_) != 0 || glp_get_status(program_) != GLP_OPT) {
      throw runtime_failure("the packing of rings: GLPK found no optimum");
    }
  }

  [[nodiscard]] double value() const { return glp_get_obj_val(program_); }
  [[nodiscard]] double rate(std::size_t ring) const {
    return glp_get_col_prim(program_, static_cast<int>(ring) + 1);
  }
  [[nodiscard]] double price(std::size_t resource) const {
    return std::max(0.0, glp_get_row_dual(program_, static_cast<int>(resource) + 1));
  }

 private:
  glp_prob* program_;
  glp_smcp parameters_{};
};

/// Rings that are cheap at given prices of the resources.
class Pricing {
 public:
  explicit Pricing(const RingProblem& problem)
      : problem_(problem),
        complete_(problem.n <= kMostHeldKarp),
        table_(complete_ ? problem.n : 2),
        cost_(problem.hops.size(), kInfinity) {}

  [[nodiscard]] bool complete() const { return complete_; }

  /// Rings under `below`, cheapest first. `proven` says whether none is cheaper than the first.
  std::vector<PricedRing> rings(const std::vector<double>& prices, double below, bool& proven) {
    set_costs(prices);
    proven = false;
    std::vector<PricedRing> found;
    if (!complete_ || problem_.n >= kSearchFirst) {
      found = search_rings(cost_, problem_.n, kStarts);
      std::erase_if(found, [&](const PricedRing& ring) { return ring.cost >= below; });
    }
    if (complete_ && found.empty()) {
      found = table_.cheapest(cost_);
      proven = true;
    }
    return found;
  }

 private:
  void set_costs(const std::vector<double>& prices) {
    for (std::size_t k = 0; k < cost_.size(); ++k) {
      if (!problem_.hops[k]) continue;
      cost_[k] = 0;
      for (const Use& use : *problem_.hops[k]) {
        cost_[k] += use.times * prices[static_cast<std::size_t>(use.resource)];
      }
    }
  }

  const RingProblem& problem_;
  bool complete_;
  HeldKarp table_;
  std::vector<double> cost_;
};

/// One run of column generation.
class Generation {
 public:
  Generation(const RingProblem& problem, const PackingOptions& options)
      : problem_(problem), options_(options), pricing_(problem), master_(problem.capacity) {}

  RingPacking run() {
    RingPacking result;
    // Where the prices prove the bound, nothing else may: they are the certificate.
    result.upper = kInfinity;
    if (!pricing_.complete()) {
      result.upper = std::min(quick_upper(problem_), options_.known_upper.value_or(kInfinity));
    }
    if (!start(result)) return result;
    bool more = true;
    for (int round = 0; more && round < kMostRounds; ++round) {
      master_.solve();
      more = improve(result);
    }
    finish(result);
    return result;
  }

 private:
  /// Rings that are cheap when every resource costs as much as it is scarce. False: all is said.
  bool start(RingPacking& result) {
    std::vector<double> prices(problem_.capacity.size());
    std::ranges::transform(problem_.capacity, prices.begin(),
                           [](double capacity) { return 1 / capacity; });
    bool proven = false;
    const std::vector<PricedRing> rings = pricing_.rings(prices, kInfinity, proven);
    result.dual.assign(problem_.capacity.size(), 0);
    if (rings.empty()) {
      if (proven) result.upper = 0;
      result.exact = proven || result.upper == 0;
      return false;
    }
    if (rings.front().cost <= 0) {
      result.value = kInfinity;
      result.upper = kInfinity;
      result.rings = {{.order = rings.front().order, .rate = kInfinity}};
      return false;
    }
    return add(rings);
  }

  bool add(const std::vector<PricedRing>& rings) {
    bool added = false;
    for (const PricedRing& ring : rings) {
      if (!known_.insert(ring.order).second) continue;
      master_.add(uses_of(problem_, ring.order));
      orders_.push_back(ring.order);
      added = true;
    }
    return added;
  }

  /// Adds rings that pay at the prices of the last solution. Every price vector proves a bound:
  /// its worth over the cheapest ring.
  bool improve(RingPacking& result) {
    double worth = 0;
    std::vector<double> prices(problem_.capacity.size());
    for (std::size_t k = 0; k < prices.size(); ++k) {
      prices[k] = master_.price(k);
      worth += prices[k] * problem_.capacity[k];
    }
    result.value = master_.value();
    if (!pricing_.complete() && result.value >= result.upper * (1 - kTolerance)) {
      result.dual = std::move(prices);
      return false;
    }
    bool proven = false;
    std::vector<PricedRing> rings = pricing_.rings(prices, 1 - kTolerance, proven);
    if (proven && !rings.empty() && worth < result.upper * rings.front().cost) {
      const double least = rings.front().cost;
      result.upper = worth / least;
      for (double& price : prices) price /= least;
      result.dual = std::move(prices);
    } else if (!pricing_.complete()) {
      result.dual = std::move(prices);
    }
    if (options_.cutoff && result.upper < *options_.cutoff) return false;
    if (result.value >= result.upper * (1 - kTolerance)) return false;
    std::erase_if(rings, [](const PricedRing& ring) { return ring.cost >= 1 - kTolerance / 100; });
    return add(rings);
  }

  void finish(RingPacking& result) const {
    result.exact = result.value >= result.upper * (1 - kTolerance);
    if (result.exact) result.upper = result.value;
    for (std::size_t k = 0; k < orders_.size(); ++k) {
      const double rate = master_.rate(k);
      if (rate > kTolerance * result.value) {
        result.rings.push_back({.order = orders_[k], .rate = rate});
      }
    }
  }

  const RingProblem& problem_;
  const PackingOptions& options_;
  Pricing pricing_;
  Master master_;
  std::vector<std::vector<int>> orders_{};
  std::set<std::vector<int>> known_{};
};

/// Both devices' only ring: the scarcest resource limits it; those equally scarce share the price.
RingPacking pack_pair(const RingProblem& problem) {
  RingPacking result{.dual = std::vector<double>(problem.capacity.size(), 0)};
  if (!problem.hop(0, 1) || !problem.hop(1, 0)) return result;
  const std::vector<Use> uses = uses_of(problem, {0, 1});
  const auto limit_of = [&](const Use& use) {
    return problem.capacity[static_cast<std::size_t>(use.resource)] / use.times;
  };
  result.value = kInfinity;
  for (const Use& use : uses) result.value = std::min(result.value, limit_of(use));
  std::vector<Use> scarce;
  std::ranges::copy_if(uses, std::back_inserter(scarce), [&](const Use& use) {
    return limit_of(use) <= result.value * (1 + kTolerance);
  });
  for (const Use& use : scarce) {
    result.dual[static_cast<std::size_t>(use.resource)] =
        1 / (use.times * static_cast<double>(scarce.size()));
  }
  result.upper = result.value;
  result.rings = {{.order = {0, 1}, .rate = result.value}};
  return result;
}

}  // namespace

RingPacking pack_rings(const RingProblem& problem, const PackingOptions& options) {
  if (problem.n < 2) return {};
  if (problem.n == 2) return pack_pair(problem);
  return Generation(problem, options).run();
}

}  // namespace busbar::topo
