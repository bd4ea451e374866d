// SPDX-License-Identifier: BSD-3-Clause
// Times of the bounds of device sets: all 255 sets of a DGX-1V, sixteen devices without symmetry,
// and sets of a 72-GPU NVSwitch domain. Machines are built in, so that only solving is measured.
#include <array>
#include <random>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "topo/bounds/bound.hpp"

namespace busbar::topo {
namespace {

Graph devices(int count) {
  Graph graph{.name = "bench"};
  for (int k = 0; k < count; ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
  }
  return graph;
}

/// DGX-1V: its NVLinks, a PCIe switch for each pair, two packages.
Graph dgx1v() {
  constexpr std::array<std::string_view, 8> kLinks{"01122000", "10210200", "12020010", "21200001",
                                                   "20000112", "02001021", "00101202", "00012120"};
  Graph graph = devices(8);
  const int nvlink = add_medium(graph, {.name = "NVLink 2", .nominal_GBps = 25});
  const int pcie =
      add_medium(graph, {.name = "PCIe 3.0 x16", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int smp = add_medium(graph, {.name = "QPI", .kind = LinkKind::Smp, .nominal_GBps = 38.4});
  for (std::size_t i = 0; i < kLinks.size(); ++i) {
    for (std::size_t j = i + 1; j < kLinks.size(); ++j) {
      const int count = kLinks.at(i)[j] - '0';
      if (count > 0) add_cable(graph, graph.devices[i], graph.devices[j], nvlink, count);
    }
  }
  std::array<int, 2> packages{};
  for (int& package : packages) {
    package = add_node(
        graph, {.kind = NodeKind::Package, .name = fmt::format("CPU{}", graph.nodes.size() - 8)});
  }
  add_cable(graph, packages[0], packages[1], smp);
  for (std::size_t k = 0; k < 4; ++k) {
    const int plx =
        add_node(graph, {.kind = NodeKind::PcieSwitch, .name = fmt::format("PLX{}", k)});
    add_cable(graph, plx, packages.at(k / 2), pcie);
    add_cable(graph, plx, graph.devices[2 * k], pcie);
    add_cable(graph, plx, graph.devices[2 * k + 1], pcie);
  }
  return graph;
}

/// Links of one to six lanes between two of three pairs: no two devices are alike.
Graph irregular(int count) {
  Graph graph = devices(count);
  const int nvlink = add_medium(graph, {.name = "NVLink", .nominal_GBps = 25});
  std::mt19937 engine(1);  // NOLINT(cert-msc51-cpp): the same graph every time
  std::uniform_int_distribution<int> lanes(-2, 6);
  for (std::size_t i = 0; i < graph.devices.size(); ++i) {
    for (std::size_t j = i + 1; j < graph.devices.size(); ++j) {
      if (const int links = lanes(engine); links > 0) {
        add_cable(graph, graph.devices[i], graph.devices[j], nvlink, links);
      }
    }
  }
  return graph;
}

Graph nvl72() {
  Graph graph = devices(72);
  const int nvlink = add_medium(graph, {.name = "NVLink 5", .nominal_GBps = 50});
  const int hub = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch"});
  for (const int gpu : graph.devices) add_cable(graph, gpu, hub, nvlink, 18);
  return graph;
}

std::vector<int> prefix(int count) {
  std::vector<int> set;
  for (int k = 0; k < count; ++k) set.push_back(k);
  return set;
}

void all_sets_of_dgx1v(benchmark::State& state) {
  const Graph graph = dgx1v();
  double sum = 0;
  for ([[maybe_unused]] const auto _ : state) {
    for (unsigned set = 1; set < 256; ++set) {
      std::vector<int> chosen;
      for (int k = 0; k < 8; ++k) {
        if ((set >> static_cast<unsigned>(k) & 1U) != 0) chosen.push_back(k);
      }
      sum += bound_of(graph, chosen).bound_GBps;
    }
  }
  benchmark::DoNotOptimize(sum);
}

void irregular_mesh(benchmark::State& state) {
  const int count = static_cast<int>(state.range(0));
  const Graph graph = irregular(count);
  Bound bound;
  for ([[maybe_unused]] const auto _ : state) bound = bound_of(graph, prefix(count));
  state.counters["GBps"] = bound.bound_GBps;
  state.counters["exact"] = bound.exact ? 1 : 0;
}

void switched(benchmark::State& state) {
  const Graph graph = nvl72();
  Bound bound;
  for ([[maybe_unused]] const auto _ : state) {
    for (int k = 1; k <= 72; ++k) bound = bound_of(graph, prefix(k));
  }
  state.counters["GBps"] = bound.bound_GBps;
}

BENCHMARK(all_sets_of_dgx1v)->Unit(benchmark::kMillisecond);
BENCHMARK(irregular_mesh)->Arg(8)->Arg(12)->Arg(16)->Arg(24)->Unit(benchmark::kMillisecond);
BENCHMARK(switched)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace busbar::topo

BENCHMARK_MAIN();
