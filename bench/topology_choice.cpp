// SPDX-License-Identifier: BSD-3-Clause
// Seconds of choosing devices, and their share of what each may take: under 1 is within it.
#include <chrono>
#include <cstdio>
#include <random>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "topo/choice/choose.hpp"

namespace busbar::topo {
namespace {

Graph graph_of(const std::vector<std::vector<int>>& links) {
  Graph graph{.name = "bench"};
  const int medium = add_medium(graph, {.name = "NVLink 2", .nominal_GBps = 25});
  for (std::size_t i = 0; i < links.size(); ++i) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", i)}));
    for (std::size_t j = 0; j < i; ++j) {
      if (links[i][j] == 0) continue;
      add_cable(graph, graph.devices[i], graph.devices[j], medium, links[i][j]);
    }
  }
  return graph;
}

/// Zero to two links between any two of 16 GPUs: no two sets are alike.
Graph uneven_mesh(unsigned seed) {
  constexpr std::size_t kDevices = 16;
  std::mt19937 random(seed);
  std::vector<std::vector<int>> links(kDevices, std::vector<int>(kDevices, 0));
  for (std::size_t i = 0; i < kDevices; ++i) {
    for (std::size_t j = 0; j < i; ++j) links[i][j] = static_cast<int>(random() % 3);
  }
  return graph_of(links);
}

Graph cube_mesh() {
  return graph_of({{0, 1, 1, 2, 2, 0, 0, 0},
                   {1, 0, 2, 1, 0, 2, 0, 0},
                   {1, 2, 0, 2, 0, 0, 1, 0},
                   {2, 1, 2, 0, 0, 0, 0, 1},
                   {2, 0, 0, 0, 0, 1, 1, 2},
                   {0, 2, 0, 0, 1, 0, 2, 1},
                   {0, 0, 1, 0, 1, 2, 0, 2},
                   {0, 0, 0, 1, 2, 1, 2, 0}});
}

Graph switched_domain(int devices) {
  Graph graph{.name = "bench"};
  const int medium = add_medium(graph, {.name = "NVLink 5", .nominal_GBps = 50});
  const int hub = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch"});
  for (int i = 0; i < devices; ++i) {
    constexpr int kPerNode = 2;
    graph.devices.push_back(
        add_node(graph, {.name = fmt::format("GPU{}", i), .numa = i / kPerNode}));
    add_cable(graph, graph.devices.back(), hub, medium, 18);
  }
  return graph;
}

template <class Work>
void report(std::string_view what, double limit_s, const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
  fmt::print("{:<44} {:>9.4f} s  {:>7.4f} of {} s\n", what, time.count(), time.count() / limit_s,
             limit_s);
}

void run() {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Graph mesh = uneven_mesh(seed);
    report(fmt::format("best 8 of 16 unlike GPUs, seed {}", seed), 2,
           [&] { (void)choose(mesh, 8, Policy::Best); });
  }
  const Graph domain = switched_domain(72);
  report("best k of 72 in one domain, all 72 k together", 0.1, [&] {
    for (int k = 1; k <= 72; ++k) (void)choose(domain, k, Policy::Best);
  });
  const Graph cube = cube_mesh();
  report("classes of all 255 sets of a cube mesh", 0.2, [&] {
    for (int k = 1; k <= 8; ++k) (void)classes_of(cube, k);
  });
}

}  // namespace
}  // namespace busbar::topo

int main() { busbar::topo::run(); }
