// SPDX-License-Identifier: BSD-3-Clause
#include "apps/topo_command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "apps/topo_input.hpp"
#include "base/child_process.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "report/output_file.hpp"
#include "report/topo_text.hpp"
#include "topo/choice/choose.hpp"
#include "topo/choice/partition.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using topo::Graph;

int size_of(const Graph& graph) { return static_cast<int>(graph.devices.size()); }

/// The file must be new: nothing that is there is replaced.
void write_file(const std::string& option, const std::string& path, const std::string& text) {
  OutputFile(path, option, OutputFile::Mode::New).append(text);
}

/// On stderr, so that what is piped on stays as it is; JSON has them, too.
void print_warnings(const Graph& graph, bool several) {
  for (const std::string& warning : graph.warnings) {
    fmt::print(stderr, "busbar: warning: {}{}\n", several ? graph.name + ": " : "", warning);
  }
}

void draw_svg(const Graph& graph, const TopoOptions& options) {
  OutputFile file(options.svg, "--svg", OutputFile::Mode::New);
  const std::string dot_path = options.svg + ".dot";
  OutputFile(dot_path, "--svg", OutputFile::Mode::New)
      .append(show_dot(graph, options.bound.constants));
  const CommandResult result = run_command("dot", {"-Tsvg", dot_path});
  std::remove(dot_path.c_str());
  if (result.not_found) {
    std::remove(options.svg.c_str());
    throw Error{Status::Unavailable,
                "--svg: there is no dot here; install graphviz, or take --dot"};
  }
  if (result.exit_status != 0 || result.timed_out) {
    std::remove(options.svg.c_str());
    throw Error{Status::Runtime, fmt::format("--svg: dot failed: {}", one_line(result.err))};
  }
  file.append(result.out);
}

void show(const Graph& graph, const TopoOptions& options) {
  if (!options.svg.empty()) draw_svg(graph, options);
  if (options.dot) {
    fmt::print("{}", show_dot(graph, options.bound.constants));
  } else if (options.json) {
    fmt::print("{}", show_json(graph));
  } else if (options.svg.empty()) {
    fmt::print("{}", show_text(graph, options.bound.constants));
  }
}

void summary(const Graph& graph, const TopoOptions& options) {
  const std::vector<topo::Comparison> sets = topo::summarize(graph, options.bound);
  fmt::print("{}", options.json ? summary_json(graph, sets) : summary_text(graph, sets));
}

/// The devices that --devices, -k and --policy ask for; all without any.
topo::Choice selected(const Graph& graph, const TopoOptions& options, const topo::Selection& wish) {
  const bool list = wish.policy == topo::Policy::List;
  const int k =
      list ? static_cast<int>(wish.devices.size()) : options.count.value_or(size_of(graph));
  if (list && options.count && *options.count != k) {
    throw usage_error(fmt::format("-k {}: --devices names {}; leave -k out", *options.count, k));
  }
  return topo::select_devices(graph, k, wish, options.bound);
}

void bound(const Graph& graph, const TopoOptions& options) {
  const topo::Selection wish =
      options.devices.empty() ? topo::Selection{} : options.devices.front();
  const topo::Choice choice = selected(graph, options, wish);
  fmt::print("{}", options.json ? bound_json(graph, choice.bound)
                                : bound_text(graph, choice.bound, options.bound.constants));
}

void choose(const Graph& graph, const TopoOptions& options) {
  if (!options.count && options.devices.empty()) {
    throw usage_error("choose: how many devices? give -k N");
  }
  if (options.partition) {
    const auto blocks = topo::partition(graph, options.count.value_or(1), options.bound);
    fmt::print("{}", options.json ? partition_json(graph, blocks) : partition_text(graph, blocks));
    return;
  }
  const topo::Selection wish =
      options.devices.empty() ? topo::Selection{.policy = options.policy} : options.devices.front();
  const topo::Choice choice = selected(graph, options, wish);
  fmt::print("{}", options.json ? choice_json(graph, choice)
                                : choice_text(graph, choice, options.bound.constants));
}

void classes(const Graph& graph, const TopoOptions& options) {
  std::vector<ClassesOfSize> sizes;
  const int first = options.count.value_or(2);
  const int last = options.count.value_or(size_of(graph));
  for (int k = first; k <= last; ++k) {
    sizes.push_back({.k = k, .classes = topo::classes_of(graph, k, options.bound)});
  }
  fmt::print("{}", options.json ? classes_json(graph, sizes) : classes_text(sizes));
}

/// Sets of one system, or systems at the same number of devices: -k, or powers of two.
std::vector<topo::Comparison> compared(const std::vector<Graph>& graphs,
                                       const TopoOptions& options) {
  if (!options.devices.empty()) {
    if (graphs.size() > 1) {
      throw usage_error("compare: several --devices of one --system, or several --system with -k");
    }
    std::vector<std::vector<int>> sets;
    for (const topo::Selection& wish : options.devices) {
      sets.push_back(selected(graphs.front(), options, wish).bound.devices);
    }
    return topo::compare_sets(graphs.front(), sets, options.bound);
  }
  std::vector<int> ks;
  const int most =
      size_of(*std::max_element(graphs.begin(), graphs.end(), [](const Graph& a, const Graph& b) {
        return a.devices.size() < b.devices.size();
      }));
  const int last = options.count.value_or(most);
  for (int k = options.count.value_or(2); k <= last; k *= 2) ks.push_back(k);
  return topo::compare_systems(graphs, ks, options.policy, options.bound);
}

void compare(const std::vector<Graph>& graphs, const TopoOptions& options) {
  const std::vector<topo::Comparison> rows = compared(graphs, options);
  if (rows.empty()) throw usage_error("compare: no system has so many devices; give a smaller -k");
  fmt::print("{}", options.json ? compare_json(graphs, rows) : compare_text(rows));
}

void save(const Graph& graph, const TopoOptions& options) {
  const std::string text =
      options.hosts ? topo::write_system(topo::with_network(graph, options.hosts->network),
                                         options.hosts->hosts)
                    : topo::write_system(graph);
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    write_file("-o", options.out, text);
    fmt::print(stderr, "busbar: wrote {}; use it by --system {}\n", options.out,
               options.out.find('/') == std::string::npos ? "./" + options.out : options.out);
  }
}

std::string list_of_systems() {
  std::string text = "\nSystems for --system:\n";
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    const std::string also =
        system.aliases.empty() ? "" : fmt::format(" (also {})", join(system.aliases, ", "));
    text += fmt::format("  {:<16} {}{}\n", system.name, system.title, also);
  }
  return text;
}

}  // namespace

Status run_topo(std::span<char* const> arguments) {
  const TopoOptions options = parse_topo_options(arguments);
  if (options.help) {
    fmt::print("{}{}", help_text_of("topo"), list_of_systems());
    return Status::Ok;
  }
  const std::vector<Graph> graphs = read_machines(options);
  for (const Graph& graph : graphs) print_warnings(graph, graphs.size() > 1);
  if (options.action == "compare") {
    compare(graphs, options);
    return Status::Ok;
  }
  struct Action {
    std::string_view name;
    void (*run)(const Graph&, const TopoOptions&);
  };
  constexpr std::array kActions{Action{"show", show},       Action{"summary", summary},
                                Action{"bound", bound},     Action{"choose", choose},
                                Action{"classes", classes}, Action{"save", save}};
  for (const Action& action : kActions) {
    if (action.name == options.action) action.run(graphs.front(), options);
  }
  return Status::Ok;
}

}  // namespace busbar
