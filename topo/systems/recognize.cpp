// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/recognize.hpp"

#include <cctype>
#include <tuple>

#include "base/options.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/graph/constants.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

std::string bare_name(std::string_view name) {
  std::string text = lower(trim(name));
  for (const std::string_view vendor : {"nvidia ", "amd "}) {
    if (text.starts_with(vendor)) text.erase(0, vendor.size());
  }
  return text;
}

/// "8 NVIDIA H100 80GB HBM3"; of several kinds each.
std::string gpus_text(const std::vector<std::string>& gpus) {
  std::vector<std::string> parts;
  for (const std::string& name : std::set(gpus.begin(), gpus.end())) {
    const auto number = static_cast<std::size_t>(std::ranges::count(gpus, name));
    parts.push_back(name.empty() ? counted(number, "GPU") + " without a name"
                                 : fmt::format("{} {}", number, name));
  }
  return parts.empty() ? "no GPU" : join(parts, " and ");
}

/// "NV18 between any two", "NV1, NV2 or none between two".
std::string links_text(const MachineIdentity& identity) {
  const std::vector<double> links = identity.gpu_links.value_or(std::vector<double>{});
  const std::set<double> counts(links.begin(), links.end());
  if (counts.empty() || *counts.rbegin() == 0) return "no links between GPUs";
  std::vector<std::string> parts;
  for (const double count : counts) {
    if (count > 0) parts.push_back(gpu_link_label(identity.link_kind, count));
  }
  if (counts.size() == 1) return parts.front() + " between any two";
  if (counts.contains(0)) parts.emplace_back("none");
  return alternatives(parts) + " between two";
}

/// Full names that the GPUs of a system report, each once.
std::vector<std::string> gpu_names_of(const Graph& graph, const MachineIdentity& own) {
  if (!graph.gpu_names.empty()) return graph.gpu_names;
  const std::set<std::string> names(own.gpus.begin(), own.gpus.end());
  return {names.begin(), names.end()};
}

bool has(const std::vector<std::string>& names, const std::string& wanted,
         bool (*fits)(std::string_view, std::string_view)) {
  return std::ranges::any_of(names, [&](const std::string& name) { return fits(name, wanted); });
}

bool is_alike(std::string_view one, std::string_view other) {
  const std::string a = bare_name(one);
  const std::string b = bare_name(other);
  const auto first_word = [](const std::string& text) { return text.substr(0, text.find(' ')); };
  return !a.empty() && !b.empty() && first_word(a) == first_word(b);
}

/// A generic name has at least its vendor's.
bool may_be_vendors(std::string_view generic, std::string_view known) {
  const std::string name = lower(generic);
  const auto has_word = [&](std::string_view word) { return name.find(word) != std::string::npos; };
  const bool is_amd = lower(known).find("amd") != std::string::npos;
  return has_word("nvidia") ? !is_amd : !(has_word("amd") || has_word("radeon")) || is_amd;
}

std::vector<std::string> differences(const MachineIdentity& machine, const MachineIdentity& known,
                                     const std::vector<std::string>& names) {
  std::vector<std::string> found;
  for (const std::string& gpu : std::set(machine.gpus.begin(), machine.gpus.end())) {
    if (is_generic_gpu(gpu) || has(names, gpu, same_gpu)) continue;
    found.push_back(fmt::format("{}, here {}", join(names, " or "), gpu));
  }
  if (machine.gpus.size() != known.gpus.size()) {
    found.push_back(
        fmt::format("{}, here {}", counted(known.gpus.size(), "GPU"), machine.gpus.size()));
  } else if (const auto& links = machine.gpu_links;
             links && (links != known.gpu_links || (!links->empty() && links->back() > 0 &&
                                                    machine.link_kind != known.link_kind))) {
    found.push_back(fmt::format("{}, here {}", links_text(known), links_text(machine)));
  } else if (machine.switch_pairs > 0 && machine.switch_pairs != known.switch_pairs) {
    found.push_back(fmt::format("{} of GPUs behind one PCIe switch, here {}",
                                counted(known.switch_pairs, "pair"), machine.switch_pairs));
  }
  return found;
}

/// More adapters than a system has may be for storage or the host's own network.
bool has_fewer_nics(const MachineIdentity& machine, const MachineIdentity& known) {
  return machine.nics && *machine.nics < known.nics.value_or(0);
}

std::string reason(const MachineIdentity& machine, const MachineIdentity& known, bool is_product) {
  std::string text = is_product && machine.product_given ? "by the product name that was given"
                     : is_product                        ? "by its product name"
                     : is_unnamed(machine)               ? "by links alone"
                     : machine.gpu_links                 ? "by its GPUs and links"
                                                         : "by its GPUs";
  if (has_fewer_nics(machine, known)) {
    text += fmt::format(", though with {} for its {} (give --nic for several hosts)",
                        counted(*machine.nics, "NIC"), *known.nics);
  }
  return text;
}

/// Empty where no source has a name at all.
std::string generic_text(const MachineIdentity& identity) {
  if (identity.gpus.empty() || identity.gpus.front().empty()) return {};
  if (identity.gpus.front() == kUnnamedAmdGpu) return {};
  return fmt::format(": '{}' is what drivers call a GPU that they do not know",
                     identity.gpus.front());
}

Error no_system(const MachineIdentity& identity, std::string_view option,
                const std::vector<SystemMatch>& matches) {
  constexpr std::size_t kMostNear = 3;
  if (is_unnamed(identity)) {
    return Error{
        Status::Unavailable,
        fmt::format(
            "{}: no source has the names of the GPUs ({}){}, and no built-in "
            "system has such links and PCIe switches; add what nvidia-smi --query-gpu or amd-smi "
            "static prints (--query FILE), or name the system",
            option, to_text(identity), generic_text(identity))};
  }
  std::vector<std::string> near;
  for (std::size_t i = 0; i < std::min(kMostNear, matches.size()); ++i) {
    if (matches[i].differences.empty()) continue;
    near.push_back(
        fmt::format("{} has {}", matches[i].system, join(matches[i].differences, " and ")));
  }
  return Error{Status::Unavailable,
               fmt::format("{}: no built-in system is this machine ({}){}; name one, or write your "
                           "own: busbar topo save",
                           option, to_text(identity), near.empty() ? "" : ": " + join(near, "; "))};
}

/// Refuses to guess the links of GPUs that no source reports.
void check_links(const MachineIdentity& identity, std::string_view option,
                 const std::vector<SystemMatch>& fitting) {
  if (identity.gpu_links || set_of(fitting, &SystemMatch::gpu_links).size() == 1) return;
  throw Error{Status::Unavailable,
              fmt::format("{}: {} may be {}, which differ in the links between their GPUs, and "
                          "these are not reported here: name one",
                          option, gpus_text(identity.gpus),
                          alternatives(mapped(fitting, &SystemMatch::system)))};
}

/// Pairs of GPUs whose shortest way has PCIe switches only.
std::size_t switch_pairs(const Graph& graph, const std::vector<int>& gpus) {
  std::size_t pairs = 0;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      auto way = shortest_way(graph, gpus[i], gpus[j]);
      if (way.empty()) continue;
      way.erase(way.begin());  // which ends at the GPU
      const bool only = std::ranges::all_of(way, [&](const Link* link) {
        return node_of(graph, link->to).kind == NodeKind::PcieSwitch;
      });
      pairs += only ? 1 : 0;
    }
  }
  return pairs;
}

}  // namespace

MachineIdentity identity_of(const Graph& graph) {
  MachineIdentity identity;
  const std::vector<int> gpus = filtered(graph.devices, [&](int number) {
    return node_of(graph, number).kind == NodeKind::Gpu && node_of(graph, number).host <= 0;
  });
  std::vector<double> counts;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    identity.gpus.push_back(node_of(graph, gpus[i]).model);
    for (std::size_t j = 0; j < i; ++j) counts.push_back(gpu_links(graph, gpus[i], gpus[j]));
  }
  std::ranges::sort(counts);
  if (graph.gpu_links_known && (counts.empty() || counts.back() == 0)) {
    identity.switch_pairs = switch_pairs(graph, gpus);
  }
  if (graph.gpu_links_known) identity.gpu_links = std::move(counts);
  for (const Medium& medium : graph.media) {
    if (is_gpu_link(medium.kind)) identity.link_kind = medium.kind;
  }
  const std::size_t nics = count_of(
      graph.nodes, [](const Node& node) { return node.kind == NodeKind::Nic && node.host <= 0; });
  if (nics > 0) identity.nics = nics;
  return identity;
}

void add_dmi(MachineIdentity& identity, const std::string& folder) {
  identity.vendor = first_line_of(folder + "/sys_vendor");
  identity.product = first_line_of(folder + "/product_name");
}

std::string to_text(const MachineIdentity& identity) {
  std::string text = gpus_text(identity.gpus);
  if (identity.gpu_links && identity.gpus.size() > 1) text += ", " + links_text(identity);
  const std::string made = identity.vendor + ' ' + identity.product;
  const std::string_view by = trim(made);
  return by.empty() ? text : fmt::format("{}; {}", text, by);
}

std::string alternatives_text(const SystemMatch& match) {
  if (match.alternatives.empty()) return {};
  return fmt::format(
      "it may also be {} (the same GPUs, another network or PCIe tree): if so, name it",
      alternatives(match.alternatives));
}

std::string candidates_text(const MachineIdentity& identity) {
  std::set<std::string> gpus;
  std::vector<std::string> names;
  std::size_t all = 0;
  for (const SystemMatch& match : match_systems(identity)) {
    if (!match.differences.empty()) continue;
    ++all;
    if (gpus.insert(match.gpu).second) names.push_back(match.system);
  }
  const std::string with_others =
      all == names.size() ? "" : fmt::format("; {} with those that differ in their network", all);
  return fmt::format("{}{}: {}{} (by {} alone{})", to_text(identity), generic_text(identity),
                     names.size() == 1 ? "may be " : "one of ", join(names, ", "),
                     identity.gpu_links ? "links" : "the number of GPUs", with_others);
}

bool is_unnamed(const MachineIdentity& identity) {
  return !identity.gpus.empty() && std::ranges::all_of(identity.gpus, is_generic_gpu);
}

bool same_gpu(std::string_view one, std::string_view other) {
  return bare_name(one) == bare_name(other);
}

bool begins_gpu(std::string_view name, std::string_view whole) {
  const std::string part = bare_name(name);
  const std::string all = bare_name(whole);
  if (part.empty() || part == all) return !part.empty();
  const auto has_such = [&](const BuiltInSystem& system) {  // "H200" beside "H200 NVL"
    const Graph& host = system.machine.host;
    return has(gpu_names_of(host, identity_of(host)), std::string(name), same_gpu);
  };
  return all.starts_with(part) && std::isalnum(static_cast<unsigned char>(all[part.size()])) == 0 &&
         std::ranges::none_of(built_in_systems(), has_such);
}

std::vector<SystemMatch> match_systems(const MachineIdentity& identity) {
  struct Candidate {
    SystemMatch match;
    std::tuple<bool, bool, bool, bool, std::size_t, bool> order{};  ///< the most alike first
  };
  std::vector<Candidate> candidates;
  for (const BuiltInSystem& system : built_in_systems()) {
    const MachineIdentity known = identity_of(system.machine.host);
    if (known.gpus.empty()) continue;
    const std::vector<std::string> names = gpu_names_of(system.machine.host, known);
    const bool is_product = !identity.product.empty() && system.is_called(identity.product);
    const bool is_gpu = !identity.gpus.empty() && has(names, identity.gpus.front(), same_gpu);
    const bool is_near = !identity.gpus.empty() && has(names, identity.gpus.front(), is_alike);
    const bool may_be = is_unnamed(identity) && identity.gpus.size() == known.gpus.size() &&
                        may_be_vendors(identity.gpus.front(), names.front());
    if (!is_product && !is_gpu && !is_near && !may_be) continue;
    Candidate candidate{.match = {.system = system.name(),
                                  .reason = reason(identity, known, is_product),
                                  .differences = differences(identity, known, names),
                                  .gpu = names.front(),
                                  .by_product = is_product,
                                  .fewer_nics = has_fewer_nics(identity, known),
                                  .gpu_links = known.gpu_links.value_or(std::vector<double>{})}};
    // Of systems that differ in their network only, the one that others are based on.
    candidate.order = {!candidate.match.differences.empty(),
                       !is_product,
                       !is_gpu,
                       system.machine.hosts > 1,
                       system.based_on,
                       candidate.match.fewer_nics};
    candidates.push_back(std::move(candidate));
  }
  std::ranges::stable_sort(candidates, {}, &Candidate::order);
  return mapped(candidates, &Candidate::match);
}

SystemMatch recognize(const MachineIdentity& identity, std::string_view option,
                      const SystemFilter& serves) {
  const std::vector<SystemMatch> matches = match_systems(identity);
  std::vector<SystemMatch> fitting = matches;
  std::erase_if(fitting, [&](const SystemMatch& match) {
    return !match.differences.empty() || (serves && !serves(match.system));
  });
  if (fitting.empty()) throw no_system(identity, option, matches);
  SystemMatch found = fitting.front();
  if (found.by_product) return found;
  const bool is_open = is_unnamed(identity);
  std::ranges::stable_sort(fitting, [](const auto& one, const auto& other) {
    return !one.fewer_nics && other.fewer_nics;
  });
  if (is_open) found = {.reason = found.reason};
  if (!is_open) check_links(identity, option, fitting);
  for (const SystemMatch& other : fitting) {
    if (other.system != found.system) found.alternatives.push_back(other.system);
  }
  return found;
}

WantedSystem wanted_system(const MachineIdentity& identity, const SystemFilter& serves) {
  const SystemMatch match = recognize(identity, kAutoSystem, serves);
  if (match.system.empty()) {
    throw Error{Status::Unavailable, fmt::format("{}: {}; name the system (--system NAME)",
                                                 kAutoSystem, candidates_text(identity))};
  }
  std::string note = fmt::format("auto: {}, {}: {}", match.system, match.reason, to_text(identity));
  const bool several = identity.nodes > 1 && !match.alternatives.empty();
  if (several) note += "; " + alternatives_text(match);
  return {.name = match.system, .note = std::move(note)};
}

WantedSystem wanted_system(const std::string& name, const std::string& nvidia_smi,
                           const SystemFilter& serves) {
  if (name != kAutoSystem) return {.name = name};
  MachineIdentity identity = identity_of(assemble(probe_machine(nvidia_smi)));
  if (identity.gpus.empty()) {
    throw Error{Status::Unavailable,
                "auto: no GPU is visible on this host; name the system (on a host with GPUs, "
                "busbar topo recognize prints its name)"};
  }
  add_dmi(identity);
  return wanted_system(identity, serves);
}

}  // namespace busbar::topo
