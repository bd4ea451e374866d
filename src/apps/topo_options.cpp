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
  static const std::vector<std::string> kActions{"show",    "bound",   "choose",
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
};

void declare(CLI::App& app, TopoOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("--system", options.systems);
  app.add_option("--smi", options.smi);
  app.add_option("--p2p", options.p2p);
  app.add_option("--nvlink", options.nvlink);
  app.add_option("--query", options.query);
  app.add_option("--hwloc", options.hwloc);
  app.add_option("--nccl-xml", options.nccl_xml);
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

void apply(TopoOptions& options, const Texts& texts) {
  for (const std::string& text : texts.devices) {
    options.devices.push_back(topo::parse_selection("--devices", text));
  }
  if (!texts.count.empty()) options.count = parse_count("-k", texts.count, 1);
  if (!texts.policy.empty()) options.policy = parse_policy(texts.policy);
  if (!texts.constants.empty()) options.bound.constants = parse_constants(texts.constants);
  if (!texts.flows.empty()) options.bound.flows = parse_count("--flows", texts.flows, 0);
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
      advice(action, known, "there are show, bound, choose, classes, compare and save")));
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
  if (options.json && options.dot) throw usage_error("--json and --dot are two forms; give one");
  if (options.json && options.action == "save") {
    throw usage_error(
        "--json: save writes a system file, which is TOML; busbar topo show has --json");
  }
  if (options.p2p.size() > 2) {
    throw usage_error("--p2p: two files at most, of -p2p r and of -p2p w");
  }
  if (options.systems.size() > 1 && options.action != "compare") {
    throw usage_error("--system: one at a time; several are for busbar topo compare");
  }
  if (options.devices.size() > 1 && options.action != "compare") {
    throw usage_error("--devices: one set at a time; several are for busbar topo compare");
  }
  const bool files = !options.smi.empty() || !options.p2p.empty() || !options.nvlink.empty() ||
                     !options.query.empty() || !options.hwloc.empty() || !options.nccl_xml.empty();
  if (files && !options.systems.empty()) {
    throw usage_error(
        "--system is a whole machine; leave out --smi, --p2p, --nvlink, --query, --hwloc and "
        "--nccl-xml");
  }
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
