// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/bottleneck.hpp"

namespace busbar::topo {
namespace {

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
class LinkGroup {
 public:
  /// `all`: of the medium, that the rings may take. `owners`: what the links belong to, where that
  /// is known; `set`: the devices. Both are nodes.
  LinkGroup(const Graph& graph, Links links, Links all, std::set<int> owners, std::set<int> set)
      : graph_(graph),
        links_(std::move(links)),
        all_(std::move(all)),
        owners_(std::move(owners)),
        set_(std::move(set)) {
    // What lies deeper in the machine is known by its own ends.
    const bool touch = each(
        [&](const Link& link) { return owners_.contains(link.from) || owners_.contains(link.to); });
    if (!touch) owners_ = ends();
  }

  [[nodiscard]] std::string text() const {
    const Link& first = *links_.front();
    if (links_.size() == 1) return describe(graph_, first);
    const Link& second = *links_[1];
    if (links_.size() == 2 && second.from == first.to && second.to == first.from) {
      return fmt::format("{} {}↔{}", medium(), node(first.from).name, node(first.to).name);
    }
    if (owners_ == set_) {
      const bool gpus = node(*set_.begin()).kind == NodeKind::Gpu;
      return fmt::format("{} of every {}", medium(), gpus ? "GPU" : "processor");
    }
    if (std::string text = of_one_node(); !text.empty()) return text;
    if (links_.size() == all_.size() && owners_.size() != 2) {
      return fmt::format("every {}", medium());
    }
    constexpr std::size_t kMostNames = 4;
    if (!owners_.empty() && owners_.size() <= kMostNames) {
      return fmt::format("{} of {}", medium(), names(owners_));
    }
    if (links_.size() == 2) {
      return fmt::format("{} and {}", describe(graph_, first), describe(graph_, second));
    }
    if (std::string text = of_every_host(); !text.empty()) return text;
    return fmt::format("{:g} of {:g} {} links", cables(links_), cables(all_), medium());
  }

 private:
  [[nodiscard]] const Node& node(int number) const { return node_of(graph_, number); }
  [[nodiscard]] const std::string& medium() const {
    return medium_of(graph_, *links_.front()).name;
  }
  [[nodiscard]] bool each(auto&& holds) const {
    return std::ranges::all_of(links_, [&](const Link* link) { return holds(*link); });
  }

  [[nodiscard]] std::string of_one_node() const {
    for (const int hub : {links_.front()->from, links_.front()->to}) {
      const NodeKind kind = node(hub).kind;
      if (kind == NodeKind::NvSwitch || kind == NodeKind::Network ||
          !each([&](const Link& link) { return link.from == hub || link.to == hub; })) {
        continue;
      }
      const bool out = each([&](const Link& link) { return link.from == hub; });
      const bool in = each([&](const Link& link) { return link.to == hub; });
      return fmt::format("{} {} {}", medium(), out ? "out of" : in ? "into" : "of", node(hub).name);
    }
    return {};
  }

  /// The ends by which people know the links: a device, else a network card, else the part that is
  /// nearest to the devices. Of devices of the set only those; nothing where two devices share a
  /// link.
  [[nodiscard]] std::set<int> ends() const {
    const auto rank = [&](int number) {
      constexpr std::array kOrder{NodeKind::Nic,  NodeKind::PcieSwitch, NodeKind::HostBridge,
                                  NodeKind::Numa, NodeKind::Package,    NodeKind::NvSwitch};
      const NodeKind kind = node(number).kind;
      if (kind == NodeKind::Gpu || kind == NodeKind::Processor) return -1;
      const NodeKind known = kind == NodeKind::Network ? NodeKind::NvSwitch : kind;
      return static_cast<int>(std::ranges::find(kOrder, known) - kOrder.begin());
    };
    std::set<int> ends;
    for (const Link* link : links_) {
      if (rank(link->from) < 0 && rank(link->to) < 0) return {};
      ends.insert(rank(link->from) <= rank(link->to) ? link->from : link->to);
    }
    std::set<int> own;
    std::set_intersection(ends.begin(), ends.end(), set_.begin(), set_.end(),
                          std::inserter(own, own.end()));
    return own.empty() ? ends : own;
  }

  [[nodiscard]] std::string names(const std::set<int>& numbers) const {
    return join_and(mapped(numbers, [this](int number) { return node(number).name; }));
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
    for (const auto& hosts : {known, limiting}) {
      for (const auto& [host, links] : hosts) {
        if (cables(links) != count) return {};
      }
    }
    return fmt::format("the {:g} {} links of every host", count, medium());
  }

  const Graph& graph_;
  Links links_;
  Links all_;
  std::set<int> owners_;
  std::set<int> set_;
};

/// How often each hop takes a resource: [from][to], or [to][from]; infinite where there is no hop.
using Takings = std::vector<std::vector<double>>;

Takings takings_of(const RingProblem& problem, int resource, bool leaving) {
  return square_matrix(to_size(problem.n), [&](std::size_t one, std::size_t other) {
    const auto from = static_cast<int>(leaving ? one : other);
    const Hop& hop = problem.hop(from, static_cast<int>(leaving ? other : one));
    if (!hop) return kInfinity;
    double times = 0;
    for (const Use& use : *hop) times += use.resource == resource ? use.times : 0;
    return times;
  });
}

/// Hops without the resource lead from the first device to all others.
bool are_joined_without(const Takings& taken) {
  std::vector<bool> reached(taken.size());
  std::vector<std::size_t> order{0};
  reached[0] = true;
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (std::size_t to = 0; to < taken.size(); ++to) {
      if (reached[to] || taken[order[k]][to] > 0) continue;
      reached[to] = true;
      order.push_back(to);
    }
  }
  return order.size() == taken.size();
}

/// Every ring takes the resource at least so often: a hop leaves and a hop reaches each device, and
/// a ring needs a hop that takes it where the others do not join all devices.
double least_of_ring(const RingProblem& problem, int resource) {
  double most = 0;
  double smallest = kInfinity;
  bool joined = true;
  for (const bool leaving : {true, false}) {
    const Takings taken = takings_of(problem, resource, leaving);
    double sum = 0;
    for (const std::vector<double>& hops : taken) {
      sum += *std::ranges::min_element(hops);
      for (const double one : hops) smallest = one > 0 ? std::min(smallest, one) : smallest;
    }
    most = std::max(most, sum);
    joined = joined && are_joined_without(taken);
  }
  return most > 0 || joined ? most : smallest;
}

/// Devices through which no more can pass, out or in, and the resources that say so.
Limiting by_devices(const RingProblem& problem, double most) {
  std::set<int> narrow;
  std::set<int> full;
  for (int device = 0; device < problem.n; ++device) {
    for (const bool leaving : {true, false}) {
      const DeviceUpper upper = device_upper(problem, device, leaving);
      if (upper.value > most) continue;
      narrow.insert(device);
      full.insert(upper.resources.begin(), upper.resources.end());
    }
  }
  return {.resources = {full.begin(), full.end()}, .devices = {narrow.begin(), narrow.end()}};
}

}  // namespace

std::string limit_text(const Graph& graph, const Limiting& limit, std::span<const int> all,
                       std::span<const int> set) {
  const auto nodes = [&](std::span<const int> devices) {
    return set_of(devices, [&](int index) { return graph.devices.at(to_size(index)); });
  };
  const auto of_medium = [&](std::span<const int> numbers, int medium) {
    Links links;
    for (const int number : numbers) {
      const Link& link = graph.links.at(to_size(number));
      if (link.medium == medium) links.push_back(&link);
    }
    return links;
  };
  std::vector<int> media;
  for (const int number : limit.resources) {
    const int medium = graph.links.at(to_size(number)).medium;
    if (std::ranges::find(media, medium) == media.end()) media.push_back(medium);
  }
  constexpr std::size_t kMostMedia = 2;
  std::vector<std::string> parts;
  for (const int medium : std::span(media).first(std::min(media.size(), kMostMedia))) {
    const LinkGroup group(graph, of_medium(limit.resources, medium), of_medium(all, medium),
                          nodes(limit.devices), nodes(set));
    parts.push_back(group.text());
  }
  if (media.size() > kMostMedia) parts.emplace_back("and others");
  return join(parts, "; ");
}

Limiting limiting(const RingProblem& problem, const RingPacking& packing) {
  const double most = packing.value * (1 + kTolerance);
  Limiting result;
  result.resources = filtered(first_numbers(problem.capacity.size()), [&](int k) {
    return problem.capacity[to_size(k)] <= most * least_of_ring(problem, k);
  });
  if (!result.resources.empty()) return result;
  result = by_devices(problem, most);
  if (!result.resources.empty() || !packing.exact || packing.dual.empty()) return result;
  constexpr double kPositive = 1e-7;
  const double dearest = *std::ranges::max_element(packing.dual);
  for (std::size_t k = 0; k < packing.dual.size(); ++k) {
    if (packing.dual[k] > kPositive * dearest) result.resources.push_back(static_cast<int>(k));
  }
  return result;
}

}  // namespace busbar::topo
