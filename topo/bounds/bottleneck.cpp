// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bottleneck.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {
namespace {

constexpr std::size_t kMostNames = 4;
constexpr std::size_t kMostMedia = 2;

using Links = std::vector<const Link*>;

/// What people count: a cable is two links here, one each way.
double cables(const Links& links) {
  std::map<std::pair<int, int>, std::array<double, 2>> between;
  for (const Link* link : links) {
    const bool up = link->from < link->to;
    between[std::minmax(link->from, link->to)].at(up ? 0 : 1) += link->count;
  }
  double sum = 0;
  for (const auto& [ends, ways] : between) sum += std::max(ways[0], ways[1]);
  return sum;
}

/// Links of one medium that limit together.
class Group {
 public:
  /// `all`: of the medium, that the rings may take.
  Group(const Graph& graph, Links links, Links all, std::span<const int> owners)
      : graph_(graph), links_(std::move(links)), all_(std::move(all)) {
    for (const int index : owners) {
      owners_.insert(graph.devices.at(static_cast<std::size_t>(index)));
    }
    // What lies deeper in the machine is known by its own ends.
    const bool touch = each_of_them(
        [&](const Link& link) { return owners_.contains(link.from) || owners_.contains(link.to); });
    if (!touch) owners_.clear();
  }

  [[nodiscard]] std::string words(std::span<const int> devices) const {
    const Link& first = *links_.front();
    if (links_.size() == 1) return describe(graph_, first);
    if (links_.size() == 2 && links_[1]->from == first.to && links_[1]->to == first.from) {
      return fmt::format("{} {}↔{}", medium(), node(first.from).name, node(first.to).name);
    }
    const std::set<int> owners = owners_of(devices);
    if (std::string text = of_every_device(owners, devices); !text.empty()) return text;
    if (std::string text = of_one_node(); !text.empty()) return text;
    if (links_.size() == all_.size() && owners.size() != 2) {
      return fmt::format("every {}", medium());
    }
    if (!owners.empty() && owners.size() <= kMostNames) {
      return fmt::format("{} of {}", medium(), names(owners));
    }
    if (links_.size() == 2) {
      return fmt::format("{} and {}", describe(graph_, first), describe(graph_, *links_[1]));
    }
    if (std::string text = of_every_host(); !text.empty()) return text;
    return fmt::format("{:g} of {:g} {} links", cables(links_), cables(all_), medium());
  }

 private:
  [[nodiscard]] const Node& node(int number) const {
    return graph_.nodes.at(static_cast<std::size_t>(number));
  }
  [[nodiscard]] const std::string& medium() const {
    return graph_.media.at(static_cast<std::size_t>(links_.front()->medium)).name;
  }
  [[nodiscard]] bool each_of_them(auto&& holds) const {
    return std::all_of(links_.begin(), links_.end(),
                       [&](const Link* link) { return holds(*link); });
  }

  [[nodiscard]] std::string of_one_node() const {
    const Link& first = *links_.front();
    for (const int hub : {first.from, first.to}) {
      const NodeKind kind = node(hub).kind;
      if (kind == NodeKind::NvSwitch || kind == NodeKind::Network) continue;
      if (!each_of_them([&](const Link& link) { return link.from == hub || link.to == hub; })) {
        continue;
      }
      const bool out = each_of_them([&](const Link& link) { return link.from == hub; });
      const bool in = each_of_them([&](const Link& link) { return link.to == hub; });
      const std::string_view way = out ? "out of" : in ? "into" : "of";
      return fmt::format("{} {} {}", medium(), way, node(hub).name);
    }
    return {};
  }

  /// The end by which people know a link: its device, else its network card, else the part that
  /// is nearest to the devices. -1 between two devices.
  [[nodiscard]] int owner(const Link& link) const {
    const auto rank = [&](int number) {
      switch (node(number).kind) {
        case NodeKind::Gpu:
        case NodeKind::Processor: return 0;
        case NodeKind::Nic: return 1;
        case NodeKind::PcieSwitch: return 2;
        case NodeKind::HostBridge: return 3;
        case NodeKind::Numa: return 4;
        case NodeKind::Package: return 5;
        case NodeKind::NvSwitch:
        case NodeKind::Network: return 6;
      }
      return 6;
    };
    if (rank(link.from) == 0 && rank(link.to) == 0) return -1;
    return rank(link.from) <= rank(link.to) ? link.from : link.to;
  }

  /// Of all links, less what lies behind devices that are named; empty where two devices share one.
  [[nodiscard]] std::set<int> owners_of(std::span<const int> devices) const {
    if (!owners_.empty()) return owners_;
    std::set<int> owners;
    for (const Link* link : links_) owners.insert(owner(*link));
    if (owners.contains(-1)) return {};
    std::set<int> own_devices;
    for (const int index : devices) {
      const int number = graph_.devices.at(static_cast<std::size_t>(index));
      if (owners.contains(number)) own_devices.insert(number);
    }
    return own_devices.empty() ? owners : own_devices;
  }

  [[nodiscard]] std::string of_every_device(const std::set<int>& owners,
                                            std::span<const int> devices) const {
    const bool every = owners.size() == devices.size() &&
                       std::all_of(devices.begin(), devices.end(), [&](int index) {
                         return owners.contains(graph_.devices.at(static_cast<std::size_t>(index)));
                       });
    if (!every) return {};
    const bool gpus = node(*owners.begin()).kind == NodeKind::Gpu;
    return fmt::format("{} of every {}", medium(), gpus ? "GPU" : "processor");
  }

  [[nodiscard]] std::string names(const std::set<int>& numbers) const {
    std::vector<std::string> words;
    for (const int number : numbers) words.push_back(node(number).name);
    if (words.size() == 1) return words.front();
    const std::string last = words.back();
    words.pop_back();
    return fmt::format("{} and {}", join(words, ", "), last);
  }

  /// Those between a host and a network by the host; nothing where one is another link.
  [[nodiscard]] std::map<int, Links> by_host(const Links& links) const {
    std::map<int, Links> hosts;
    for (const Link* link : links) {
      const bool out = node(link->to).kind == NodeKind::Network;
      const Node& network = node(out ? link->to : link->from);
      const Node& end = node(out ? link->from : link->to);
      if (network.kind != NodeKind::Network || end.host < 0) return {};
      hosts[end.host].push_back(link);
    }
    return hosts;
  }

  /// Where all links of a host to the network limit, and the other hosts have as many.
  [[nodiscard]] std::string of_every_host() const {
    const std::map<int, Links> limiting = by_host(links_);
    const std::map<int, Links> known = by_host(all_);
    if (limiting.empty() || known.size() < 2) return {};
    const double count = cables(known.begin()->second);
    const auto has_as_many = [&](const auto& host) { return cables(host.second) == count; };
    if (!std::all_of(known.begin(), known.end(), has_as_many) ||
        !std::all_of(limiting.begin(), limiting.end(), has_as_many)) {
      return {};
    }
    return fmt::format("the {:g} {} links of every host", count, medium());
  }

  const Graph& graph_;
  Links links_;
  Links all_;
  std::set<int> owners_{};
};

}  // namespace

std::string limit_in_words(const Graph& graph, const LimitingLinks& limit,
                           std::span<const int> devices) {
  const auto link = [&](int number) -> const Link& {
    return graph.links.at(static_cast<std::size_t>(number));
  };
  std::vector<int> media;
  for (const int number : limit.links) {
    const int medium = link(number).medium;
    if (std::find(media.begin(), media.end(), medium) == media.end()) media.push_back(medium);
  }
  std::vector<std::string> parts;
  for (const int medium : media) {
    const auto of_medium = [&](const std::vector<int>& numbers) {
      Links links;
      for (const int number : numbers) {
        if (link(number).medium == medium) links.push_back(&link(number));
      }
      return links;
    };
    if (parts.size() < kMostMedia) {
      parts.push_back(
          Group(graph, of_medium(limit.links), of_medium(limit.all), limit.owners).words(devices));
    }
  }
  if (media.size() > kMostMedia) parts.emplace_back("and others");
  return join(parts, "; ");
}

namespace {

constexpr double kTolerance = 1e-9;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How often each hop takes one resource; infinite where there is no hop.
class Takings {
 public:
  Takings(const RingProblem& problem, int resource)
      : n_(static_cast<std::size_t>(problem.n)), times_(problem.hops.size(), kInfinity) {
    for (std::size_t k = 0; k < times_.size(); ++k) {
      if (!problem.hops[k]) continue;
      times_[k] = 0;
      for (const Use& use : *problem.hops[k]) {
        if (use.resource == resource) times_[k] += use.times;
      }
    }
  }

  /// Every ring takes the resource at least so often: a hop leaves and a hop reaches each device,
  /// and a ring needs a hop that takes it where the others do not join all devices.
  [[nodiscard]] double least_of_ring() const {
    const double least = std::max(least_sum(true), least_sum(false));
    return least > 0 || joined_without() ? least : smallest();
  }

 private:
  [[nodiscard]] double at(std::size_t from, std::size_t to) const { return times_[from * n_ + to]; }

  [[nodiscard]] double least_sum(bool leaving) const {
    double sum = 0;
    for (std::size_t i = 0; i < n_; ++i) {
      double least = kInfinity;
      for (std::size_t j = 0; j < n_; ++j) least = std::min(least, leaving ? at(i, j) : at(j, i));
      sum += least;
    }
    return sum;
  }

  [[nodiscard]] double smallest() const {
    double least = kInfinity;
    for (const double times : times_) least = times > 0 ? std::min(least, times) : least;
    return least;
  }

  /// Whether hops that do not take it lead from the first device to all and back.
  [[nodiscard]] bool joined_without() const { return reaches_all(true) && reaches_all(false); }

  [[nodiscard]] bool reaches_all(bool leaving) const {
    std::vector<bool> seen(n_, false);
    std::vector<std::size_t> open{0};
    seen[0] = true;
    std::size_t count = 1;
    while (!open.empty()) {
      const std::size_t here = open.back();
      open.pop_back();
      for (std::size_t there = 0; there < n_; ++there) {
        if (seen[there] || (leaving ? at(here, there) : at(there, here)) > 0) continue;
        seen[there] = true;
        open.push_back(there);
        ++count;
      }
    }
    return count == n_;
  }

  std::size_t n_;
  std::vector<double> times_;
};

/// Devices through which no more can pass, out or in, and the resources that say so.
Limiting by_devices(const RingProblem& problem, double most) {
  Limiting result;
  for (int device = 0; device < problem.n; ++device) {
    for (const DeviceUpper& upper :
         {leaving_upper(problem, device), reaching_upper(problem, device)}) {
      if (upper.value > most) continue;
      if (result.devices.empty() || result.devices.back() != device) {
        result.devices.push_back(device);
      }
      result.resources.insert(result.resources.end(), upper.resources.begin(),
                              upper.resources.end());
    }
  }
  std::sort(result.resources.begin(), result.resources.end());
  result.resources.erase(std::unique(result.resources.begin(), result.resources.end()),
                         result.resources.end());
  return result;
}

}  // namespace

Limiting limiting(const RingProblem& problem, const RingPacking& packing) {
  const double most = packing.value * (1 + kTolerance);
  Limiting result;
  for (std::size_t k = 0; k < problem.capacity.size(); ++k) {
    const double least = Takings(problem, static_cast<int>(k)).least_of_ring();
    if (problem.capacity[k] <= most * least) result.resources.push_back(static_cast<int>(k));
  }
  if (!result.resources.empty()) return result;
  result = by_devices(problem, most);
  if (!result.resources.empty() || !packing.exact || packing.dual.empty()) return result;
  constexpr double kPositive = 1e-7;
  const double dearest = *std::max_element(packing.dual.begin(), packing.dual.end());
  for (std::size_t k = 0; k < packing.dual.size(); ++k) {
    if (packing.dual[k] > kPositive * dearest) result.resources.push_back(static_cast<int>(k));
  }
  return result;
}

}  // namespace busbar::topo
