// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/packing.hpp"

#include <cmath>
#include <numeric>
#include <random>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "topo/bounds/ring_search.hpp"

namespace busbar::topo {
namespace {

constexpr int kSearchFirst = 11;  // from here on local search is quicker than Held and Karp
constexpr int kStarts = 8;
constexpr double kLeastGain = kTolerance / 100;  // beside the 1 of a ring
constexpr double kRounding = 1e-13;              // of coefficients that are near 1
constexpr int kMostRounds = 4000;                // ends what rounding keeps alive; dozens are usual
constexpr int kMostPivots = 20000;               // likewise; a thousand are many

/// What a resource lets through of hops that take it so often.
double alone(const RingProblem& problem, const Use& use) {
  return problem.capacity[static_cast<std::size_t>(use.resource)] / use.times;
}

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

/// The restricted master program, rates of the rings found so far, by the revised primal simplex
/// method. Variables are the resources' slacks, by number, and then the rings. Few resources are
/// ever scarce: columns of the inverse of the basis that are still unit vectors are not stored.
class Master {
 public:
  explicit Master(const std::vector<double>& capacity)
      : levels_(capacity),
        shaken_(capacity),
        basis_(capacity.size()),
        inverse_(capacity.size()),
        gains_(capacity.size(), 0),
        takers_(capacity.size()) {
    std::iota(basis_.begin(), basis_.end(), std::size_t{0});
    std::minstd_rand engine(1);  // NOLINT(cert-msc51-cpp): the same pivots every time
    std::uniform_real_distribution<double> step(0, kTolerance);
    double more = 0;
    for (double& level : shaken_) {  // of equals, the first is the scarcest
      more += step(engine) / static_cast<double>(capacity.size());
      level *= 1 + more;
    }
  }

  void add(const std::vector<Use>& uses) {
    double gain = 1;
    for (const Use& use : uses) {
      const auto resource = static_cast<std::size_t>(use.resource);
      gain += use.times * gains_[resource];
      takers_[resource].push_back({.variable = variables(), .times = use.times});
    }
    rings_.push_back(uses);
    gains_.push_back(gain);
  }

  /// From the basis of the last time, which new rings leave feasible. Equal capacities would make
  /// most pivots gain nothing, or come round again: which come next is decided by shaken ones.
  void solve() {
    for (int pivot = 0; pivot < kMostPivots; ++pivot) {
      const std::size_t entering = best_gain();
      if (entering == variables()) return;
      const std::vector<double> column = column_of(entering);
      replace(limiting_row(column), entering, column);
    }
  }

  [[nodiscard]] double value() const {
    double sum = 0;
    for (std::size_t row = 0; row < basis_.size(); ++row) {
      if (is_ring(basis_[row])) sum += levels_[row];
    }
    return sum;
  }
  [[nodiscard]] double rate(std::size_t ring) const {
    const auto row = std::ranges::find(basis_, basis_.size() + ring);
    return row == basis_.end() ? 0 : levels_[static_cast<std::size_t>(row - basis_.begin())];
  }
  [[nodiscard]] double price(std::size_t resource) const {
    return std::max(0.0, -gains_[resource]);
  }

 private:
  struct Taker {
    std::size_t variable;
    double times;
  };

  [[nodiscard]] std::size_t variables() const { return basis_.size() + rings_.size(); }
  [[nodiscard]] bool is_ring(std::size_t variable) const { return variable >= basis_.size(); }
  [[nodiscard]] std::vector<Use> uses_by(std::size_t variable) const {
    if (is_ring(variable)) return rings_[variable - basis_.size()];
    return {{.resource = static_cast<int>(variable)}};
  }

  /// The variable with the greatest gain; variables() where none has any.
  [[nodiscard]] std::size_t best_gain() const {
    std::size_t best = variables();
    double most = kLeastGain;
    for (std::size_t variable = 0; variable < variables(); ++variable) {
      if (gains_[variable] <= most) continue;
      best = variable;
      most = gains_[variable];
    }
    return best;
  }

  /// What one unit of a variable takes of each of the basis.
  [[nodiscard]] std::vector<double> column_of(std::size_t variable) const {
    std::vector<double> sum(basis_.size(), 0);
    for (const Use& use : uses_by(variable)) {
      const auto resource = static_cast<std::size_t>(use.resource);
      const std::vector<double>& column = inverse_[resource];
      if (column.empty()) sum[resource] += use.times;
      for (std::size_t row = 0; row < column.size(); ++row) sum[row] += use.times * column[row];
    }
    return sum;
  }

  /// Whose variable is the first to reach 0 as the column's grows.
  [[nodiscard]] std::size_t limiting_row(const std::vector<double>& column) const {
    std::size_t limiting = basis_.size();
    double least = kInfinity;
    for (std::size_t row = 0; row < column.size(); ++row) {
      if (column[row] <= kTolerance) continue;
      const double ratio = shaken_[row] / column[row];
      if (ratio >= least) continue;
      limiting = row;
      least = ratio;
    }
    if (limiting == basis_.size()) throw runtime_failure("the packing of rings has no limit");
    return limiting;
  }

  void replace(std::size_t row, std::size_t entering, const std::vector<double>& column) {
    std::vector<std::size_t> others;
    for (std::size_t k = 0; k < column.size(); ++k) {
      if (std::abs(column[k]) > kRounding && k != row) others.push_back(k);
    }
    const auto eliminate = [&](std::vector<double>& from) {
      from[row] /= column[row];
      for (const std::size_t k : others) from[k] -= column[k] * from[row];
    };
    if (inverse_[row].empty()) {
      inverse_[row].assign(basis_.size(), 0);
      inverse_[row][row] = 1;
    }
    const double gain = gains_[entering];
    for (std::size_t resource = 0; resource < inverse_.size(); ++resource) {
      if (inverse_[resource].empty() || std::abs(inverse_[resource][row]) <= kRounding) continue;
      eliminate(inverse_[resource]);
      const double dearer = gain * inverse_[resource][row];
      gains_[resource] -= dearer;
      for (const Taker& taker : takers_[resource]) gains_[taker.variable] -= taker.times * dearer;
    }
    eliminate(levels_);
    eliminate(shaken_);
    for (double& level : shaken_) level = std::max(0.0, level);  // but for rounding they are
    basis_[row] = entering;
  }

  std::vector<double> levels_;      ///< of the variables of the basis, row by row
  std::vector<double> shaken_;      ///< the same with capacities of which no two are alike
  std::vector<std::size_t> basis_;  ///< these variables
  std::vector<std::vector<double>> inverse_;  ///< column by column; empty: a unit vector
  std::vector<double> gains_;  ///< by each unit of a variable; a slack's: less its price
  std::vector<std::vector<Taker>> takers_;  ///< of each resource
  std::vector<std::vector<Use>> rings_{};
};

/// One run of column generation.
class Generation {
 public:
  Generation(const RingProblem& problem, double known_upper)
      : problem_(problem),
        known_upper_(known_upper),
        complete_(problem.n <= kMostHeldKarp),
        table_(complete_ ? problem.n : 2),
        master_(problem.capacity) {}

  RingPacking run() {
    RingPacking result;
    // Where the prices prove the bound, nothing else may: they are the certificate.
    result.upper = kInfinity;
    if (!complete_) result.upper = std::min(quick_upper(problem_), known_upper_);
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
  /// Rings under `below` at these prices of the resources, cheapest first. `proven` says whether
  /// none is cheaper than the first.
  std::vector<PricedRing> cheap_rings(const std::vector<double>& prices, double below,
                                      bool& proven) {
    std::vector<double> cost(problem_.hops.size(), kInfinity);
    for (std::size_t k = 0; k < cost.size(); ++k) {
      if (!problem_.hops[k]) continue;
      cost[k] = 0;
      for (const Use& use : *problem_.hops[k]) {
        cost[k] += use.times * prices[static_cast<std::size_t>(use.resource)];
      }
    }
    std::vector<PricedRing> found;
    if (!complete_ || problem_.n >= kSearchFirst) {
      found = search_rings(cost, problem_.n, kStarts);
      std::erase_if(found, [&](const PricedRing& ring) { return ring.cost >= below; });
    }
    proven = complete_ && found.empty();
    return proven ? table_.cheapest(cost) : found;
  }

  /// Rings that are cheap when every resource costs as much as it is scarce. False: all is said.
  bool start(RingPacking& result) {
    std::vector<double> prices(problem_.capacity.size());
    std::ranges::transform(problem_.capacity, prices.begin(),
                           [](double capacity) { return 1 / capacity; });
    bool proven = false;
    const std::vector<PricedRing> rings = cheap_rings(prices, kInfinity, proven);
    result.dual.assign(problem_.capacity.size(), 0);
    if (rings.empty()) {
      if (proven) result.upper = 0;
      result.exact = proven || result.upper == 0;
      return false;
    }
    if (rings.front().cost <= 0) {
      result.value = result.upper = kInfinity;
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
    if (!complete_ && result.value >= result.upper * (1 - kTolerance)) {
      result.dual = std::move(prices);
      return false;
    }
    bool proven = false;
    std::vector<PricedRing> rings = cheap_rings(prices, 1 - kTolerance, proven);
    if (proven && !rings.empty() && worth < result.upper * rings.front().cost) {
      const double least = rings.front().cost;
      result.upper = worth / least;
      for (double& price : prices) price /= least;
      result.dual = std::move(prices);
    } else if (!complete_) {
      result.dual = std::move(prices);
    }
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
  double known_upper_;
  bool complete_;  ///< pricing finds the cheapest ring
  HeldKarp table_;
  Master master_;
  std::vector<std::vector<int>> orders_{};
  std::set<std::vector<int>> known_{};
};

/// Both devices' only ring: the scarcest resource limits it; those equally scarce share the price.
RingPacking pack_pair(const RingProblem& problem) {
  RingPacking result{.dual = std::vector<double>(problem.capacity.size(), 0)};
  if (!problem.hop(0, 1) || !problem.hop(1, 0)) return result;
  const std::vector<Use> uses = uses_of(problem, {0, 1});
  const auto limit_of = [&](const Use& use) { return alone(problem, use); };
  result.value = kInfinity;
  for (const Use& use : uses) result.value = std::min(result.value, limit_of(use));
  const auto scarce = filtered(
      uses, [&](const Use& use) { return limit_of(use) <= result.value * (1 + kTolerance); });
  for (const Use& use : scarce) {
    result.dual[static_cast<std::size_t>(use.resource)] =
        1 / (use.times * static_cast<double>(scarce.size()));
  }
  result.upper = result.value;
  result.rings = {{.order = {0, 1}, .rate = result.value}};
  return result;
}

}  // namespace

DeviceUpper device_upper(const RingProblem& problem, int device, bool leaving) {
  // Hops that begin (or end) with the same resource have together what that one has, and each what
  // its own path has.
  struct Bundle {
    int edge = 0;
    double together = 0;
    double apart = 0;
    std::vector<int> narrowest{};  // of each hop
  };
  std::vector<Bundle> bundles;
  for (int other = 0; other < problem.n; ++other) {
    const Hop& hop = leaving ? problem.hop(device, other) : problem.hop(other, device);
    if (!hop || other == device) continue;
    if (hop->empty()) return {.value = kInfinity};
    const Use& edge = leaving ? hop->front() : hop->back();
    const Use& narrowest =
        *std::ranges::min_element(*hop, {}, [&](const Use& use) { return alone(problem, use); });
    const auto is_same = [&](const Bundle& bundle) { return bundle.edge == edge.resource; };
    Bundle& bundle = find_or_add(bundles, is_same, Bundle{.edge = edge.resource});
    // The hop that takes the resource least often bounds them all.
    bundle.together = std::max(bundle.together, alone(problem, edge));
    bundle.apart += alone(problem, narrowest);
    bundle.narrowest.push_back(narrowest.resource);
  }
  DeviceUpper upper;
  for (Bundle& bundle : bundles) {
    upper.value += std::min(bundle.together, bundle.apart);
    if (bundle.together <= bundle.apart) std::ranges::fill(bundle.narrowest, bundle.edge);
    append(upper.resources, bundle.narrowest);
  }
  return upper;
}

double quick_upper(const RingProblem& problem) {
  double least = problem.n < 2 ? 0 : kInfinity;
  for (int device = 0; device < problem.n && least > 0; ++device) {
    for (const bool leaving : {true, false}) {
      least = std::min(least, device_upper(problem, device, leaving).value);
    }
  }
  return least;
}

RingPacking pack_rings(const RingProblem& problem, double known_upper) {
  if (problem.n < 2) return {};
  if (problem.n == 2) return pack_pair(problem);
  return Generation(problem, known_upper).run();
}

}  // namespace busbar::topo
