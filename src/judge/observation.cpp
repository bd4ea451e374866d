// SPDX-License-Identifier: BSD-3-Clause
#include "judge/observation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/flag.hpp"
#include "model/host_levels.hpp"

namespace busbar::judge {
namespace {

/// Rows of a file that were measured together, before sets are asked.
struct FilePart {
  const study::FileRows& file;
  std::string collective{};
  int ranks = 0;
  int nodes = 0;
  bool grouped = false;  ///< rows of groups, as of rails
  std::string devices{};
  std::string setting{};  ///< as setting_of has it
  std::vector<Record> records{};
  std::vector<std::string> hosts{};  ///< its nodes, as nodes_of has them
};

/// "collective=allreduce ranks=2 nodes=1 ..." of the head: what a file without rows was to have.
FilePart part_of_head(const study::FileRows& file) {
  const study::Dataset& dataset = file.dataset;
  const std::string groups = dataset.setting("groups");
  return {.file = file,
          .collective = dataset.setting("collective"),
          .ranks = to_number<int>(dataset.setting("ranks")).value_or(0),
          .nodes = to_number<int>(dataset.setting("nodes")).value_or(0),
          .grouped = !groups.empty() && groups != "none"};
}

/// A file's parts; of a file without rows the one that its head names.
std::vector<FilePart> parts_of(const study::FileRows& file) {
  using Key = std::tuple<std::string, int, int, bool, std::string, std::string>;
  std::map<Key, std::vector<Record>> parts;
  for (const Record& r : file.dataset.records) {
    const bool grouped = r.group.has_value();
    const std::string devices = grouped ? std::string() : r.device_set;
    parts[{r.collective, r.ranks, r.nodes, grouped, devices, setting_of(r)}].push_back(r);
  }
  std::vector<FilePart> list;
  for (auto& [key, records] : parts) {
    const auto& [collective, ranks, nodes, grouped, devices, setting] = key;
    list.push_back({file, collective, ranks, nodes, grouped, devices, setting, std::move(records)});
  }
  if (list.empty()) list.push_back(part_of_head(file));
  return list;
}

/// True unless devices of a row ("0,1,2,3;0,1") and of a specification ("0-3") are known and
/// differ.
bool may_be_devices(const std::string& measured, const std::string& wanted) {
  const auto want = parse_ranges(wanted);
  if (!want) return true;
  const std::vector<std::string> hosts = split(measured, ';');
  return std::ranges::all_of(hosts, [&](const std::string& host) {
    const auto have = parse_ranges(host);
    return !have || std::ranges::is_permutation(*have, *want);
  });
}

/// Where a part was measured: names of its nodes, reported or made up.
std::vector<std::string> nodes_of(const FilePart& part, const std::vector<std::string>& known,
                                  std::vector<std::string>& notes) {
  const study::Dataset& dataset = part.file.dataset;
  std::vector<std::string> hosts = split_words(dataset.fact(fact::kHosts));
  if (hosts.empty()) {
    for (const Record& r : part.records) {
      for (const std::string& host : split_words(r.hosts)) add_new(hosts, host);
    }
  }
  for (std::string& host : hosts) host = known_host(host, known);
  if (part.grouped && !hosts.empty()) return hosts;
  const auto wanted = static_cast<std::size_t>(std::max(part.nodes, 1));
  if (hosts.size() == wanted || (part.nodes == 0 && !hosts.empty())) return hosts;
  if (known.size() == wanted) return known;
  std::vector<std::string> names{dataset.label};
  for (std::size_t i = 1; i < wanted; ++i) {
    names.push_back(fmt::format("{} {}", dataset.label, i + 1));
  }
  notes.push_back(fmt::format("{} does not name its {}: {} stands for it", dataset.path,
                              wanted == 1 ? "host" : "hosts", join(names, ", ")));
  return names;
}

bool fits(const DeviceSetRule& set, const FilePart& part, const std::vector<std::string>& all) {
  const std::size_t nodes = part.hosts.size();
  const bool pairs = set.kind == SetKind::Pairwise;
  const bool shape = pairs && part.grouped          ? nodes > 1
                     : pairs                        ? nodes == 2
                     : set.kind == SetKind::PerNode ? nodes == 1
                                                    : nodes == all.size();
  const bool has_groups = pairs || (set.kind == SetKind::Rails) == part.grouped;
  return shape && has_all(all, part.hosts) && has_groups &&
         part.ranks == shape_of(set, pairs ? 2 : nodes).ranks &&
         may_be_devices(part.devices, set.gpus);
}

std::vector<DeviceSetRule> sets_for(const Specification& specification,
                                    const std::string& collective) {
  return filtered(specification.device_sets, [&](const DeviceSetRule& set) {
    return contains(collectives_of(specification, set.id), collective);
  });
}

/// What no set wants, and what there is: "node (per_node, 8 ranks on each node)".
std::string misfit(const FilePart& part, const std::vector<DeviceSetRule>& sets) {
  const std::string wanted = join_each(sets, ", ", [](const DeviceSetRule& set) {
    return fmt::format("{} ({}, {} on each node{})", set.id, name(set.kind),
                       counted(shape_of(set, 1).ranks, "rank"),
                       set.gpus.empty() ? "" : ", GPUs " + set.gpus);
  });
  return fmt::format("{}: no device set of the specification wants {} of {} on {}; {}",
                     part.file.dataset.path, part.collective,
                     counted(std::max(part.ranks, 0), "rank"), join(part.hosts, ", "),
                     wanted.empty() ? "no rule is for it" : "there is " + wanted);
}

/// All parts of all files; `nodes` gets those that they name where none are known.
std::vector<FilePart> place(std::span<const study::FileRows> files, std::vector<std::string>& nodes,
                            std::vector<std::string>& notes) {
  const std::vector<std::string> known = nodes;
  std::vector<FilePart> parts;
  for (const study::FileRows& file : files) {
    for (FilePart& part : parts_of(file)) {
      part.hosts = nodes_of(part, known, notes);
      for (const std::string& node : part.hosts) {
        if (known.empty()) add_new(nodes, node);
      }
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

/// Throws Error (Usage) for rows of several settings, which are not launches of one.
void require_one_setting(std::span<const FilePart> parts, const FilePart& of) {
  const auto same =
      filtered(parts, [&](const FilePart& one) { return one.collective == of.collective; });
  const auto settings = set_of(same, &FilePart::setting);
  if (settings.size() < 2) return;
  throw usage_error("{}: rows of {} of {}", of.file.dataset.path, of.collective,
                    study::settings_to_choose(settings));
}

/// Throws Error (Usage) for a file that says nothing.
void require_content(std::span<const study::FileRows> files) {
  for (const study::FileRows& file : files) {
    const study::Dataset& dataset = file.dataset;
    if (dataset.records.empty() && dataset.fact(fact::kConfiguration).empty()) {
      throw usage_error("{}: it has neither rows nor a head that names its run", dataset.path);
    }
  }
}

}  // namespace

bool Observation::hung_or_crashed() const {
  constexpr std::array kOrderly{Status::Ok, Status::Wrong, Status::Usage, Status::Unavailable,
                                Status::Skipped};
  return !failure.empty() && exit_code != kNotMade &&
         std::ranges::find(kOrderly, exit_code, busbar::exit_code) == kOrderly.end();
}

std::string file_failure(const study::Dataset& dataset) {
  const bool none = dataset.cut.empty() && dataset.records.empty();
  const std::string why = none ? "no row in it" : dataset.cut;
  return why.empty() ? "" : fmt::format("{}: {}", dataset.path, why);
}

std::vector<Instance> instances_of(const DeviceSetRule& set, std::span<const std::string> nodes) {
  const std::vector<std::string> all(nodes.begin(), nodes.end());
  if (set.kind == SetKind::Whole) return {{.name = "all", .nodes = all}};
  if (set.kind != SetKind::Rails) {
    return mapped(nodes, [](const std::string& node) { return Instance{node, {node}}; });
  }
  std::vector<Instance> rails;
  for (int rail = 0; rail < set.ranks_per_node; ++rail) {
    rails.push_back({.name = fmt::format("rail {}", rail), .nodes = all, .group = rail});
  }
  return rails;
}

Instance pair_instance(std::span<const std::string> nodes, const NumberPair& pair) {
  const std::vector<std::string> both{nodes[pair.first], nodes[pair.second]};
  return {.name = join(both, "+"), .nodes = both};
}

std::set<std::string> hosts_of(const Observation& observation) {
  const std::vector<std::string> hosts = split_words(value_of(observation.facts, fact::kHosts));
  for (const Record& row : observation.records) {
    if (has_flag(row, Flag::Imported)) return {};  // logs cut names
  }
  return {hosts.begin(), hosts.end()};
}

bool belongs_to(const Observation& observation, const DeviceSetRule& set,
                const Instance& instance) {
  if (observation.device_set != set.id || observation.purpose == Purpose::Confirm) return false;
  const bool has_group = observation.group == -1 || observation.group == instance.group;
  const std::vector<std::string>& nodes = observation.nodes;
  return has_group && nodes.size() == instance.nodes.size() &&
         std::is_permutation(nodes.begin(), nodes.end(), instance.nodes.begin());
}

std::vector<std::string> collectives_of(const Specification& specification,
                                        const std::string& device_set) {
  std::vector<std::string> collectives;
  for (const Rule& rule : specification.rules) {
    if (rule.device_set != device_set) continue;
    for (const std::string& collective : rule.collectives) add_new(collectives, collective);
  }
  return collectives;
}

bool has_all(std::span<const std::string> nodes, std::span<const std::string> wanted) {
  return std::ranges::all_of(wanted,
                             [&](const std::string& node) { return contains(nodes, node); });
}

std::vector<Observation> observe_files(const Specification& specification,
                                       std::span<const study::FileRows> files,
                                       std::vector<std::string>& notes) {
  require_content(files);
  for (const study::FileRows& file : files) append(notes, file.notes);
  std::vector<std::string> all = specification.system.nodes;
  const std::vector<FilePart> parts = place(files, all, notes);
  std::vector<Observation> observations;
  std::map<std::tuple<std::string, std::string, std::string>, int> launches;
  for (const FilePart& part : parts) {
    const std::string& collective = part.collective;
    const auto sets = sets_for(specification, collective);
    // The same nodes in another order are the same instance.
    const auto nodes =
        filtered(all, [&](const std::string& node) { return contains(part.hosts, node); });
    bool wanted = false;
    for (const DeviceSetRule& set : sets) {
      if (!fits(set, part, all)) continue;
      require_one_setting(parts, part);
      wanted = true;
      const bool named = set.kind == SetKind::PerNode || set.kind == SetKind::Pairwise;
      const std::string instance = named ? join(nodes, "+") : "all";
      observations.push_back({.device_set = set.id,
                              .instance = instance,
                              .nodes = nodes,
                              .launch = launches[{set.id, instance, collective}]++,
                              .collective = collective,
                              .file = part.file.dataset.path,
                              .failure = file_failure(part.file.dataset),
                              .facts = part.file.dataset.facts,
                              .records = part.records});
    }
    if (!wanted) notes.push_back(misfit(part, sets));
  }
  return observations;
}

}  // namespace busbar::judge
