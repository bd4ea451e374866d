// SPDX-License-Identifier: BSD-3-Clause
// Seconds of choosing devices, and their share of what each may take: under 1 is within it.
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "topo/choice/choose.hpp"
#include "topo/systems/system_file.hpp"

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

/// Zero to two links between any two of 16 GPUs: no two sets are alike. Without a seed one link:
/// all are.
Graph mesh(unsigned seed) {
  constexpr std::size_t kDevices = 16;
  std::mt19937 random(seed);
  std::vector<std::vector<int>> links(kDevices, std::vector<int>(kDevices, 1));
  for (std::size_t i = 0; i < kDevices; ++i) {
    for (std::size_t j = 0; j < i && seed > 0; ++j) links[i][j] = static_cast<int>(random() % 3);
  }
  return graph_of(links);
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
  const auto classes_of_8 = [](const std::string& what, const Graph& graph) {
    report(fmt::format("classes of 8 of {}", what), 2, [&] { (void)classes_of(graph, 8); });
  };
  for (const unsigned seed : {1U, 2U, 3U}) {
    classes_of_8(fmt::format("16 unlike GPUs, seed {}", seed), mesh(seed));
  }
  classes_of_8("16 GPUs, each joined to all", mesh(0));
  for (const char* system : {"dgx-2", "mi250-x16", "p3dn-x2", "ac922-x4"}) {
    classes_of_8(fmt::format("the 16 of {}", system), load_system(system));
  }
  const Graph domain = switched_domain(72);
  report("best k of 72 in one domain, all 72 k together", 0.5, [&] {
    for (int k = 1; k <= 72; ++k) (void)choose(domain, k, Policy::Best);
  });
  const Graph cube = load_system("dgx-1v");
  report("classes of all 255 sets of a cube mesh", 0.2, [&] {
    for (int k = 1; k <= 8; ++k) (void)classes_of(cube, k);
  });
}

}  // namespace
}  // namespace busbar::topo

int main() { busbar::topo::run(); }
