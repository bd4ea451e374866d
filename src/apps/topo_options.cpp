// SPDX-License-Identifier: BSD-3-Clause
#include "apps/topo_options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {
namespace {

constexpr int kMostDevices = 100'000;

const std::vector<std::string>& actions() {
  static const std::vector<std::string> kActions{"show",    "summary", "bound", "choose",
                                                 "classes", "compare", "save"};
  return kActions;
}

/// "did you mean choose?" or the list.
std::string advice(const std::string& word, const std::vector<std::string>& known,
                   std::string_view otherwise) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? std::string(otherwise) : fmt::format("did you mean {}?", near);
}

/// Texts of options before they have a meaning.
struct Texts {
  std::vector<std::string> devices{};
  std::string count{};
  std::string policy{};
  std::string constants{};
  std::string flows{};
  std::string hosts{};
  std::string nic{};
};

/// A source that the last machine has already begins the next one.
void take_source(std::vector<MachineSource>& machines, std::string MachineSource::*source,
                 const std::string& value) {
  const bool whole = source == &MachineSource::system;
  if (machines.empty() || whole || !machines.back().system.empty() ||
      !(machines.back().*source).empty()) {
    machines.emplace_back();
  }
  machines.back().*source = value;
}

/// Files of which one machine may have two never begin another.
void take_source(std::vector<MachineSource>& machines,
                 std::vector<std::string> MachineSource::*source, const std::string& value) {
  if (machines.empty() || !machines.back().system.empty()) machines.emplace_back();
  (machines.back().*source).push_back(value);
}

/// Options whose order assigns them to a machine.
void declare_sources(CLI::App& app, TopoOptions& options) {
  const auto add = [&](const std::string& name, auto source) {
    const auto take = [&options, source, name](const std::string& value) {
      if (value.empty()) throw usage_error(name + " needs a value");
      take_source(options.machines, source, value);
    };
    app.add_option_function<std::string>(name, take)->trigger_on_parse();
  };
  add("--system", &MachineSource::system);
  add("--smi", &MachineSource::smi);
  add("--query", &MachineSource::query);
  add("--hwloc", &MachineSource::hwloc);
  add("--nccl-xml", &MachineSource::nccl_xml);
  add("--p2p", &MachineSource::p2p);
  add("--nvlink", &MachineSource::nvlink);
}

void declare(CLI::App& app, TopoOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  declare_sources(app, options);
  app.add_option("--nvidia-smi", options.nvidia_smi);
  app.add_option("--devices", texts.devices);
  app.add_option("-k,--count", texts.count);
  app.add_option("--policy", texts.policy);
  app.add_flag("--partition", options.partition);
  app.add_option("--constants", texts.constants);
  app.add_option("--flows", texts.flows);
  app.add_flag("--json", options.json);
  app.add_flag("--dot", options.dot);
  app.add_option("--svg", options.svg);
  app.add_option("--name", options.name);
  app.add_option("-o,--output", options.out);
  app.add_option("--hosts", texts.hosts);
  app.add_option("--nic", texts.nic);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 1) option->allow_extra_args(false);
  }
}

topo::ConstantSet parse_constants(const std::string& text) {
  std::vector<std::string> words;
  for (const auto set :
       {topo::ConstantSet::Nominal, topo::ConstantSet::Reported, topo::ConstantSet::Nccl}) {
    if (text == name(set)) return set;
    words.emplace_back(name(set));
  }
  throw usage_error(fmt::format("--constants: '{}' is none of {}", text, join(words, ", ")));
}

topo::Policy parse_policy(const std::string& text) {
  const topo::Selection selection = topo::parse_selection("--policy", text);
  if (selection.policy != topo::Policy::List) return selection.policy;
  throw usage_error(
      "--policy: a list is given by --devices; a policy is best, worst, median or prefix");
}

int parse_count(std::string_view option, const std::string& text, int low) {
  return static_cast<int>(parse_integer(option, text, low, kMostDevices));
}

/// "8x50": adapters of each host and GB/s per direction of each; "50" leaves their number open.
topo::NetworkRequest parse_nic(const std::string& text) {
  constexpr double kSlowest = 0.001;
  constexpr double kFastest = 10'000;
  topo::NetworkRequest request;
  const auto times = text.find('x');
  if (times != std::string::npos) {
    request.adapters = parse_count("--nic", text.substr(0, times), 1);
  }
  const std::string rate = times == std::string::npos ? text : text.substr(times + 1);
  request.adapter_GBps = parse_number("--nic", rate, kSlowest, kFastest);
  return request;
}

HostsRequest parse_hosts(const Texts& texts) {
  constexpr int kMostHosts = 1 << 16;
  if (texts.hosts.empty())
    throw usage_error("--nic joins several hosts; give their number by --hosts N");
  HostsRequest request{.hosts =
                           static_cast<int>(parse_integer("--hosts", texts.hosts, 2, kMostHosts))};
  if (!texts.nic.empty()) request.network = parse_nic(texts.nic);
  return request;
}

void apply(TopoOptions& options, const Texts& texts) {
  for (const std::string& text : texts.devices) {
    options.devices.push_back(topo::parse_selection("--devices", text));
  }
  if (!texts.count.empty()) options.count = parse_count("-k", texts.count, 1);
  if (!texts.policy.empty()) options.policy = parse_policy(texts.policy);
  if (!texts.constants.empty()) options.bound.constants = parse_constants(texts.constants);
  if (!texts.flows.empty()) options.bound.flows = parse_count("--flows", texts.flows, 0);
  if (!texts.hosts.empty() || !texts.nic.empty()) options.hosts = parse_hosts(texts);
}

/// The one word that is no option: the action.
std::string take_action(const std::vector<std::string>& words) {
  std::string action;
  for (const std::string& word : words) {
    if (word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar topo -h", word));
    }
    if (!action.empty()) {
      throw usage_error(
          fmt::format("'{}' follows no option; one action at a time, see busbar topo -h", word));
    }
    action = word;
  }
  const auto& known = actions();
  if (action.empty() || std::find(known.begin(), known.end(), action) != known.end()) return action;
  throw usage_error(fmt::format(
      "topo: '{}' is no action; {}", action,
      advice(action, known, "there are show, summary, bound, choose, classes, compare and save")));
}

bool has_files(const MachineSource& machine) {
  return !machine.smi.empty() || !machine.query.empty() || !machine.hwloc.empty() ||
         !machine.nccl_xml.empty() || !machine.p2p.empty() || !machine.nvlink.empty();
}

void check_machines(const TopoOptions& options) {
  const auto& machines = options.machines;
  if (std::any_of(machines.begin(), machines.end(),
                  [](const MachineSource& machine) { return machine.p2p.size() > 2; })) {
    throw usage_error("--p2p: two files at most, of -p2p r and of -p2p w");
  }
  if (machines.size() <= 1 || options.action == "compare") return;
  const bool systems = std::any_of(machines.begin(), machines.end(),
                                   [](const MachineSource& one) { return !one.system.empty(); });
  if (systems && std::any_of(machines.begin(), machines.end(), has_files)) {
    throw usage_error(
        "--system is a whole machine; leave out --smi, --p2p, --nvlink, --query, --hwloc and "
        "--nccl-xml");
  }
  throw usage_error(fmt::format("{}: one at a time; several machines are for busbar topo compare",
                                systems ? "--system" : "--smi, --query, --hwloc, --nccl-xml"));
}

void check(const TopoOptions& options) {
  const auto only = [&](bool given, std::string_view option, std::string_view action) {
    if (given && options.action != action) {
      throw usage_error(fmt::format("{} belongs to busbar topo {}", option, action));
    }
  };
  only(options.dot, "--dot", "show");
  only(!options.svg.empty(), "--svg", "show");
  only(options.partition, "--partition", "choose");
  only(!options.name.empty(), "--name", "save");
  only(!options.out.empty(), "-o", "save");
  only(options.hosts.has_value(), "--hosts", "save");
  if (options.json && options.dot) throw usage_error("--json and --dot are two forms; give one");
  if (options.json && options.action == "save") {
    throw usage_error(
        "--json: save writes a system file, which is TOML; busbar topo show has --json");
  }
  if (options.devices.size() > 1 && options.action != "compare") {
    throw usage_error("--devices: one set at a time; several are for busbar topo compare");
  }
  check_machines(options);
}

}  // namespace

TopoOptions parse_topo_options(std::span<char* const> arguments) {
  TopoOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "topo");
  if (options.help) return options;
  options.action = take_action(app.remaining());
  if (options.action.empty()) options.action = "show";
  apply(options, texts);
  check(options);
  return options;
}

}  // namespace busbar
