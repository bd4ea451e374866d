// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/switched.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

namespace busbar::topo {
namespace {

constexpr double kTolerance = 1e-9;

/// Both directions between one device and one switch.
struct Port {
  double up_GBps = 0;
  double down_GBps = 0;
};

struct DevicePorts {
  std::map<int, Port> by_switch{};
  std::vector<int> links{};
};

/// The NVLinks that end at each device of the set; a link between two of them counts for both.
std::vector<std::vector<int>> nvlinks_of(const Graph& graph, std::span<const int> devices) {
  std::map<int, std::size_t> places;  // of a node in the set
  for (std::size_t k = 0; k < devices.size(); ++k) {
    places[graph.devices.at(static_cast<std::size_t>(devices[k]))] = k;
  }
  std::vector<std::vector<int>> links(devices.size());
  for (std::size_t number = 0; number < graph.links.size(); ++number) {
    const Link& link = graph.links[number];
    if (graph.media.at(static_cast<std::size_t>(link.medium)).kind != LinkKind::NvLink) continue;
    for (const int end : {link.from, link.to}) {
      const auto place = places.find(end);
      if (place != places.end()) links[place->second].push_back(static_cast<int>(number));
    }
  }
  return links;
}

/// Ports of each device of the set; nothing where one has NVLink straight to another GPU.
std::vector<DevicePorts> ports_of(const Graph& graph, std::span<const int> devices,
                                  const BoundOptions& options) {
  const std::vector<std::vector<int>> links = nvlinks_of(graph, devices);
  std::vector<DevicePorts> ports(devices.size());
  for (std::size_t k = 0; k < devices.size(); ++k) {
    const int own = graph.devices[static_cast<std::size_t>(devices[k])];
    for (const int number : links[k]) {
      const Link& link = graph.links[static_cast<std::size_t>(number)];
      const bool up = link.from == own;
      const int other = up ? link.to : link.from;
      const NodeKind kind = graph.nodes.at(static_cast<std::size_t>(other)).kind;
      if (kind == NodeKind::Gpu) return {};
      if (kind != NodeKind::NvSwitch) continue;
      Port& port = ports[k].by_switch[other];
      (up ? port.up_GBps : port.down_GBps) +=
          capacity_GBps(graph, link, options.constants, options.flows);
      ports[k].links.push_back(number);
    }
  }
  return ports;
}

double whole_port(const DevicePorts& ports) {
  Port sum;
  for (const auto& [number, port] : ports.by_switch) {
    sum.up_GBps += port.up_GBps;
    sum.down_GBps += port.down_GBps;
  }
  return std::min(sum.up_GBps, sum.down_GBps);
}

/// What one ring carries when each switch takes what its narrowest port can.
double evenly(const std::vector<DevicePorts>& ports) {
  double sum = 0;
  for (const auto& [number, first] : ports.front().by_switch) {
    double least = std::numeric_limits<double>::infinity();
    for (const DevicePorts& device : ports) {
      const auto port = device.by_switch.find(number);
      if (port == device.by_switch.end()) return 0;
      least = std::min({least, port->second.up_GBps, port->second.down_GBps});
    }
    sum += least;
  }
  return sum;
}

/// NCCL's prediction: n channels at the greatest listed speed s of which each GPU's port carries
/// n + 1, in 2(n-1)/n of all-reduce: 2 e s (n-1), with e of src/graph/tuning.cc and the lists of
/// src/graph/search.cc, Blackwell's as of 2.29.2: before that 45 was not on it.
std::optional<double> nccl_in_switch(double port_GBps, double n, bool blackwell) {
  constexpr std::array kHopper{60.0, 50.0, 40.0, 30.0, 24.0, 20.0, 15.0, 12.0, 11.0, 6.0, 3.0};
  constexpr std::array kBlackwell{90.0, 80.0, 70.0, 60.0, 50.0, 45.0,
                                  40.0, 30.0, 24.0, 20.0, 19.0, 18.0};
  constexpr double kHopperEfficiency = 0.85;
  constexpr double kBlackwellEfficiency = 0.74;
  const std::span<const double> speeds =
      blackwell ? std::span<const double>(kBlackwell) : std::span<const double>(kHopper);
  const auto speed = std::find_if(speeds.begin(), speeds.end(),
                                  [&](double one) { return one * (n + 1) <= port_GBps; });
  if (speed == speeds.end()) return std::nullopt;
  return 2 * (blackwell ? kBlackwellEfficiency : kHopperEfficiency) * *speed * (n - 1);
}

std::optional<double> in_switch(const Graph& graph, const DevicePorts& ports, double port_GBps,
                                double n, ConstantSet constants) {
  for (const auto& [number, port] : ports.by_switch) {
    if (!graph.nodes.at(static_cast<std::size_t>(number)).reduces) return std::nullopt;
  }
  // A GPU sends its whole buffer for the others' sums, and its own share once for all.
  if (constants != ConstantSet::Nccl) return 2 * port_GBps * (n - 1) / (n + 1);
  const Link& link = graph.links[static_cast<std::size_t>(ports.links.front())];
  const Medium& medium = graph.media[static_cast<std::size_t>(link.medium)];
  constexpr double kBlackwellLink = 40;  // GB/s: 40.1 of one link, where Hopper has 20.6
  return nccl_in_switch(port_GBps, n, medium.nccl_GBps >= kBlackwellLink);
}

}  // namespace

std::optional<SwitchedDomain> switched_domain(const Graph& graph, std::span<const int> devices,
                                              const BoundOptions& options) {
  const std::vector<DevicePorts> ports = ports_of(graph, devices, options);
  if (ports.empty()) return std::nullopt;
  SwitchedDomain domain{.port_GBps = std::numeric_limits<double>::infinity()};
  for (const DevicePorts& device : ports) {
    domain.port_GBps = std::min(domain.port_GBps, whole_port(device));
  }
  if (!std::isfinite(domain.port_GBps) || evenly(ports) < domain.port_GBps * (1 - kTolerance) ||
      domain.port_GBps <= 0) {
    return std::nullopt;
  }
  for (const DevicePorts& device : ports) {
    domain.links.insert(domain.links.end(), device.links.begin(), device.links.end());
    if (whole_port(device) > domain.port_GBps * (1 + kTolerance)) continue;
    domain.narrowest.insert(domain.narrowest.end(), device.links.begin(), device.links.end());
  }
  domain.in_switch_GBps = in_switch(graph, ports.front(), domain.port_GBps,
                                    static_cast<double>(devices.size()), options.constants);
  return domain;
}

}  // namespace busbar::topo
