// SPDX-License-Identifier: BSD-3-Clause
#include <cerrno>
#include <filesystem>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/output_file.hpp"
#include "format/topo_text.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/choice/choose.hpp"
#include "topo/probes/amd_smi.hpp"
#include "topo/probes/host_tree.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/recognize.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace topo_command {

using topo::Graph;

/// One machine's sources: a system, or captured files.
struct MachineSource {
  std::string system{};
  std::string smi{};
  std::string query{};
  std::string hwloc{};
  std::string nccl_xml{};
  std::string p2p{};
  std::string nvlink{};

  [[nodiscard]] std::string first_capture() const {
    std::vector<std::string> paths{smi, query, nccl_xml, hwloc, nvlink, p2p};
    std::erase(paths, "");
    return paths.empty() ? "" : paths.front();
  }
};

struct TopoOptions {
  std::vector<MachineSource> machines{};  ///< none: this machine
  std::string nvidia_smi = "nvidia-smi";

  std::vector<topo::Selection> devices{};
  std::optional<int> count{};  ///< -k
  topo::Policy policy = topo::Policy::Best;
  topo::BoundOptions bound{};

  std::optional<std::string> json{};
  std::string svg{};                              ///< a file to write
  std::string name{};                             ///< of the system to save
  std::string out{};                              ///< of the system to save
  std::string instance{};                         ///< a cloud's name of the machine
  std::string gpu{};                              ///< name of its GPUs
  std::optional<int> hosts{};                     ///< equal machines that a network joins
  std::optional<topo::NetworkRequest> network{};  ///< none: the machine's own
};

using O = TopoOptions;

constexpr int kMostDevices = 100'000;

/// A source that the last machine has already begins the next one.
template <auto Source>
void add_source(O& options, View option, View text) {
  if (text.empty()) throw usage_error("{} needs a value", option);
  auto& machines = options.machines;
  if (machines.empty() || !machines.back().system.empty() || option == "--system" ||
      !(machines.back().*Source).empty()) {
    machines.emplace_back();
  }
  set::value<Source>(machines.back(), option, text);
}

void set_policy(O& options, View option, View text) {
  options.policy = topo::parse_selection(option, text).policy;
  if (options.policy != topo::Policy::List) return;
  throw usage_error("{}: expected best, worst or prefix; use --devices for a list", option);
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--system", "NAME|FILE|auto", add_source<&MachineSource::system>},
    {"--smi", "FILE", add_source<&MachineSource::smi>},
    {"--query", "FILE", add_source<&MachineSource::query>},
    {"--hwloc", "FILE", add_source<&MachineSource::hwloc>},
    {"--nccl-xml", "FILE", add_source<&MachineSource::nccl_xml>},
    {"--p2p", "FILE", add_source<&MachineSource::p2p>},
    {"--nvlink", "FILE", add_source<&MachineSource::nvlink>},
    {"--nvidia-smi", "PATH", set::value<&O::nvidia_smi>},
    {"--devices", "LIST",
     [](O& o, View n, View v) { o.devices.push_back(topo::parse_selection(n, v)); }},
    {"-k,--count", "N", set::integer<&O::count, 1, kMostDevices>},
    {"--policy", "WHICH", set_policy},
    {"--constants", "WHICH",
     [](O& o, View n, View v) { o.bound.constants = parse_value<topo::ConstantSet>(n, v); }},
    {"--flows", "N",
     [](O& o, View n, View v) {
       o.bound.flows = static_cast<int>(parse_integer(n, v, 0, kMostDevices));
     }},
    {"--json", "[=FILE]", set::value<&O::json>},
    {"--svg", "FILE", set::value<&O::svg>, "show"},
    {"--name", "NAME", set::value<&O::name>, "save"},
    {"-o,--output", "FILE", set::value<&O::out>, "save"},
    {"--hosts,--nodes", "N", set::integer<&O::hosts, 2, 1 << 16>},
    {"--nic", "[COUNTx]GBPS", [](O& o, View n, View v) { o.network = topo::parse_network(n, v); }},
    {"--instance", "NAME", set::value<&O::instance>, "recognize"},
    {"--gpu", "NAME", set::value<&O::gpu>},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar topo",
     .help = "docs/topo-options.md",
     .commands = "show,summary,bound,choose,classes,compare,recognize,save",
     .default_command = "show",
     .most_positionals = 64},
    kOptions};

/// Each a machine of its own, by what is in the file: topo -m, a tree or a system; else its name.
void add_positionals(O& options, const Arguments& line) {
  if (!line.positionals.empty() && line.command != "compare") {
    throw usage_error("unexpected argument '{}'; give it with --system or --smi",
                      one_line(line.positionals.front()));
  }
  for (const std::string& name : line.positionals) {
    MachineSource& machine = options.machines.emplace_back();
    const auto text = name.ends_with(".toml") ? std::nullopt : read_file(name);
    if (!text) {
      machine.system = name;
    } else if (!trim(*text).starts_with('<')) {
      machine.smi = name;
    } else {
      (text->find("<topology") == std::string::npos ? machine.nccl_xml : machine.hwloc) = name;
    }
  }
}

void check_machines(const O& options, View action) {
  const auto any = [&](auto holds) { return std::ranges::any_of(options.machines, holds); };
  const bool systems = any([](const MachineSource& machine) { return !machine.system.empty(); });
  if (systems && !options.gpu.empty()) {
    throw usage_error("--gpu names the GPUs of captures or of this machine; --system has names");
  }
  if (options.machines.size() <= 1 || action == "compare") return;
  if (systems && any([](const MachineSource& one) { return !one.first_capture().empty(); })) {
    throw usage_error(
        "--system is a whole machine; leave out --smi, --p2p, --nvlink, --query, --hwloc and "
        "--nccl-xml");
  }
  throw usage_error("{}: one at a time; for several machines use busbar topo compare",
                    systems ? "--system" : "--smi, --query, --p2p, --nvlink, --hwloc, --nccl-xml");
}

void check(const O& options, View action) {
  if (options.network && !options.hosts) {
    throw usage_error("--nic joins several hosts; give their number with --hosts N");
  }
  if (options.json && action == "save") {
    throw usage_error("--json has no effect with save, which writes TOML; use busbar topo show");
  }
  if (options.devices.size() > 1 && action != "compare") {
    throw usage_error("--devices: one set at a time; for several use busbar topo compare");
  }
  check_machines(options, action);
}

/// Takes what is read of a capture where there is one.
template <class Part, class Parse>
void read(Part& part, const char* option, const std::string& path, const Parse& parse) {
  if (path.empty()) return;
  const auto text = read_file(path);
  if (!text) {
    throw usage_error("{}: cannot read {}: {}", option, path,
                      std::generic_category().message(errno));
  }
  part = parse(*text, path);
}

/// What nvidia-smi or AMD's tools print.
topo::SmiProbe read_smi(const MachineSource& source) {
  topo::SmiProbe smi;
  read(smi, "--smi", source.smi, [](const std::string& text, const std::string& path) {
    if (topo::is_amd_topology(text)) return topo::parse_amd_topology(text, path);
    return topo::SmiProbe{.matrix = topo::parse_smi_matrix(text, path)};
  });
  read(smi.gpus, "--query", source.query, [&](const std::string& text, const std::string& path) {
    if (!topo::is_amd_gpus(text)) return topo::parse_smi_query(text, path);
    smi.tool = "amd-smi";
    return topo::parse_amd_gpus(text, path);
  });
  read(smi.nvlink, "--nvlink", source.nvlink, topo::parse_nvlink_status);
  read(smi.p2p, "--p2p", source.p2p, topo::parse_smi_p2p);
  return smi;
}

/// The first capture lends the machine its name.
Graph from_captures(const MachineSource& source, const std::string& gpu) {
  topo::Sources sources{.name = std::filesystem::path(source.first_capture()).stem().string(),
                        .gpu = gpu,
                        .smi = read_smi(source)};
  read(sources.nccl, "--nccl-xml", source.nccl_xml, topo::parse_nccl_xml);
  read(sources.hwloc, "--hwloc", source.hwloc, topo::parse_hwloc_xml);
  if (const auto problem = topo::contradiction(sources)) {
    throw usage_error(*problem + "; give captures of one machine, taken on the same day");
  }
  return topo::assemble(sources);
}

/// Probes that contradict each other are not a mistake of the user.
Graph this_machine(const TopoOptions& options) {
  topo::Sources sources = topo::probe_machine(options.nvidia_smi);
  sources.gpu = options.gpu;
  Graph graph = topo::assemble(sources);
  if (const auto problem = topo::contradiction(sources)) {
    graph.warnings.push_back("sources disagree: " + *problem);
  }
  return graph;
}

/// As many of the host as --hosts, with a label for each pair of devices.
Graph join_hosts(const Graph& host, const TopoOptions& options) {
  constexpr std::size_t kMost = 128;
  const auto hosts = static_cast<std::size_t>(*options.hosts);
  if (device_count(host) * hosts > kMost) {
    throw usage_error(
        "--hosts {}: more than {} devices; busbar expect and a simulation take more (--backend "
        "sim)",
        hosts, kMost);
  }
  Graph joined = topo::copy_hosts(topo::with_network(host, options.network), *options.hosts);
  label_devices(joined);
  return joined;
}

Graph named_system(const std::string& name, const std::string& nvidia_smi) {
  const topo::WantedSystem system = topo::wanted_system(name, nvidia_smi);
  if (!system.note.empty()) fmt::print(stderr, "busbar: {}\n", system.note);
  return topo::load_system(system.name);
}

/// Reads system files, captures, or this machine.
std::vector<Graph> read_machines(const TopoOptions& options, View action) {
  std::vector<Graph> machines;
  for (const MachineSource& source : options.machines) {
    machines.push_back(source.system.empty() ? from_captures(source, options.gpu)
                                             : named_system(source.system, options.nvidia_smi));
  }
  if (machines.empty()) machines.push_back(this_machine(options));
  if (options.hosts && action != "save") {
    for (Graph& machine : machines) machine = join_hosts(machine, options);
  }
  if (!options.name.empty()) machines.back().name = options.name;
  for (const Graph& machine : machines) {
    if (!machine.devices.empty()) continue;
    throw usage_error("{}: no source shows a GPU or a processor; give --smi, --hwloc or --nccl-xml",
                      machine.name);
  }
  std::map<std::string, int> same;  // captures in different folders may have one name
  for (Graph& machine : machines) {
    const int number = ++same[machine.name];
    if (number > 1) machine.name += fmt::format(" ({})", number);
  }
  return machines;
}

int size_of(const Graph& graph) { return static_cast<int>(graph.devices.size()); }

/// As JSON where that is asked for.
void print(const TopoOptions& options, const std::string& json, const std::string& text) {
  fmt::print("{}", choose_output(options.json, json, text));
}

void show(const Graph& graph, const TopoOptions& options) {
  if (!options.svg.empty()) {
    OutputFile(options.svg, "--svg", OutputFile::Mode::New)
        .append(svg_picture(graph, options.bound.constants));
  }
  if (options.json || options.svg.empty()) {
    print(options, show_json(graph), show_text(graph, options.bound.constants));
  }
}

void summary(const Graph& graph, const TopoOptions& options) {
  const std::vector<topo::SetComparison> sets = topo::summarize(graph, options.bound);
  print(options, summary_json(graph, sets), summary_text(graph, sets));
}

/// What a selection, -k and --policy ask for.
topo::Choice selected(const Graph& graph, const TopoOptions& options,
                      const topo::Selection& selection) {
  const bool list = selection.policy == topo::Policy::List;
  const int k =
      list ? static_cast<int>(selection.devices.size()) : options.count.value_or(size_of(graph));
  if (list && options.count && *options.count != k) {
    throw usage_error("-k {}: --devices names {}; leave -k out", *options.count, k);
  }
  return topo::select_devices(graph, k, selection, options.bound);
}

/// The same of --devices, or by a policy.
topo::Choice selected(const Graph& graph, const TopoOptions& options, topo::Policy policy) {
  return selected(
      graph, options,
      options.devices.empty() ? topo::Selection{.policy = policy} : options.devices.front());
}

void bound(const Graph& graph, const TopoOptions& options) {
  const topo::Bound bound = selected(graph, options, topo::Policy::Prefix).bound;
  print(options, bound_json(graph, bound), bound_text(graph, bound, options.bound.constants));
}

void choose(const Graph& graph, const TopoOptions& options) {
  if (!options.count && options.devices.empty()) {
    throw usage_error("choose: missing number of devices; give -k N");
  }
  const topo::Choice choice = selected(graph, options, options.policy);
  print(options, choice_json(graph, choice), choice_text(graph, choice, options.bound.constants));
}

void classes(const Graph& graph, const TopoOptions& options) {
  std::vector<ClassesOfSize> sizes;
  const int first = options.count.value_or(2);
  const int last = options.count.value_or(size_of(graph));
  for (int k = first; k <= last; ++k) {
    sizes.push_back({.k = k, .classes = topo::classes_of(graph, k, options.bound)});
  }
  print(options, classes_json(graph, sizes), classes_text(sizes));
}

/// Sets of one system, or systems at the same number of devices: -k, or powers of two.
std::vector<topo::SetComparison> compared(const std::vector<Graph>& graphs,
                                          const TopoOptions& options) {
  if (!options.devices.empty()) {
    if (graphs.size() > 1) {
      throw usage_error("compare: several --devices of one --system, or several --system with -k");
    }
    const auto sets = mapped(options.devices, [&](const topo::Selection& selection) {
      return selected(graphs.front(), options, selection).bound.devices;
    });
    return topo::compare_sets(graphs.front(), sets, options.bound);
  }
  int most = 0;
  for (const Graph& graph : graphs) most = std::max(most, size_of(graph));
  std::vector<int> ks;
  const int last = options.count.value_or(most);
  for (int k = options.count.value_or(2); k <= last; k *= 2) ks.push_back(k);
  return topo::compare_systems(graphs, ks, options.policy, options.bound);
}

void compare(const std::vector<Graph>& graphs, const TopoOptions& options) {
  const std::vector<topo::SetComparison> rows = compared(graphs, options);
  if (rows.empty()) throw usage_error("compare: -k is larger than every system; reduce it");
  print(options, compare_json(graphs, rows), compare_text(rows));
}

/// Which built-in system the machine is, or by its links may be.
Status recognize(const Graph& graph, const TopoOptions& options) {
  topo::MachineIdentity identity = topo::identity_of(graph);
  if (options.machines.empty()) topo::add_dmi(identity);
  if (!options.instance.empty()) {
    identity.product = options.instance;
    identity.product_given = true;
  }
  std::optional<topo::SystemMatch> match;
  try {
    match = topo::recognize(identity, "recognize");
  } catch (const Error&) {
    print(options, recognition_json(identity, match), "");
    throw;
  }
  const bool is_open = match->system.empty();
  std::string text =
      is_open ? topo::candidates_text(identity) + "\nto decide, give --query FILE or --gpu NAME\n"
              : fmt::format("{}\n{}: {}\n", match->system, match->reason, topo::to_text(identity));
  if (!is_open && !match->alternatives.empty()) text += topo::alternatives_text(*match) + "\n";
  print(options, recognition_json(identity, match), text);
  return is_open ? Status::Unavailable : Status::Ok;
}

void save(const Graph& graph, const TopoOptions& options) {
  const std::string text =
      options.hosts ? topo::write_system(topo::with_network(graph, options.network), *options.hosts)
                    : topo::write_system(graph);
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    OutputFile(options.out, "-o", OutputFile::Mode::New).append(text);
    fmt::print(stderr, "busbar: wrote {}; use it with --system {}\n", options.out,
               options.out.find('/') == std::string::npos ? "./" + options.out : options.out);
  }
}

std::string list_of_systems() {
  std::string text = "\nSystems for --system:\n";
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    const std::span aliases = std::span(system.names).subspan(1);
    const std::string also = aliases.empty() ? "" : fmt::format(" (also {})", join(aliases, ", "));
    const std::string line =
        fmt::format("  {:<19} {}{}", system.name(), system.machine.host.title, also);
    text += wrapped(line, 100, 22) + "\n";
  }
  return text;
}

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help, list_of_systems());
  add_positionals(options, line);
  check(options, line.command);
  const std::vector<Graph> graphs = read_machines(options, line.command);
  for (const Graph& graph : graphs) {
    std::vector<std::string> warnings = graph.warnings;
    for (std::string& warning : warnings) {
      if (graphs.size() > 1) warning = fmt::format("{}: {}", graph.name, warning);
    }
    print_warnings(warnings);
  }
  if (line.command == "compare") {
    compare(graphs, options);
    return Status::Ok;
  }
  if (line.command == "recognize") return recognize(graphs.front(), options);
  struct Action {
    std::string_view name;
    void (*run)(const Graph&, const TopoOptions&);
  };
  constexpr std::array kActions{Action{"show", show},       Action{"summary", summary},
                                Action{"bound", bound},     Action{"choose", choose},
                                Action{"classes", classes}, Action{"save", save}};
  for (const Action& action : kActions) {
    if (action.name == line.command) action.run(graphs.front(), options);
  }
  return Status::Ok;
}

}  // namespace topo_command

Command make_topo_command() {
  return {"topo", topo_command::run, [] { return syntax_of(topo_command::kTable); }};
}

}  // namespace busbar
