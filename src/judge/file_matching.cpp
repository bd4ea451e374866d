// SPDX-License-Identifier: BSD-3-Clause
#include "judge/file_matching.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "judge/observation.hpp"

namespace busbar::judge {
namespace {

/// "collective=allreduce ranks=2 nodes=1 ..." of the head: what a file without rows was to have.
FilePart part_of_head(const Dataset& dataset) {
  const std::string split = dataset.setting("split");
  return {.collective = dataset.setting("collective"),
          .ranks = to_number<int>(dataset.setting("ranks")).value_or(0),
          .nodes = to_number<int>(dataset.setting("nodes")).value_or(0),
          .grouped = !split.empty() && split != "none"};
}

/// "0-3,6" as numbers; nothing where it is no list of devices.
std::optional<std::set<int>> numbers_of(const std::string& list) {
  std::set<int> numbers;
  for (const std::string& item : split(list, ',')) {
    const std::vector<std::string> ends = split(item, '-');
    const auto first = to_number<int>(ends.front());
    const auto last = to_number<int>(ends.back());
    if (!first || !last || ends.size() > 2) return {};
    for (int number = *first; number <= *last; ++number) numbers.insert(number);
  }
  return numbers;
}

}  // namespace

std::vector<FilePart> parts_of(const ObservationFile& file) {
  using Key = std::tuple<std::string, int, int, bool, std::string>;
  std::map<Key, FilePart> parts;
  for (const Record& r : file.dataset.records) {
    const bool grouped = r.group.has_value();
    const std::string devices = grouped ? std::string() : r.device_set;
    FilePart& part = parts[{r.collective, r.ranks, r.nodes, grouped, devices}];
    if (part.records.empty()) part = {r.collective, r.ranks, r.nodes, grouped, devices, {}};
    part.records.push_back(r);
  }
  std::vector<FilePart> list;
  for (auto& [key, part] : parts) list.push_back(std::move(part));
  if (list.empty()) list.push_back(part_of_head(file.dataset));
  return list;
}

bool may_be_devices(const std::string& measured, const std::string& wanted) {
  const auto want = numbers_of(wanted);
  if (!want) return true;
  const std::vector<std::string> hosts = split(measured, ';');
  return std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
    const auto have = numbers_of(host);
    return !have || *have == *want;
  });
}

namespace {

/// The name of a list that has it, also where one of both has a domain: "h1" and "h1.example.org".
std::string known_name(const std::string& host, const std::vector<std::string>& known) {
  const auto brief = [](const std::string& name) { return name.substr(0, name.find('.')); };
  for (const std::string& name : known) {
    if (name == host) return name;
  }
  for (const std::string& name : known) {
    const bool one_short =
        name.find('.') == std::string::npos || host.find('.') == std::string::npos;
    if (one_short && brief(name) == brief(host)) return name;
  }
  return host;
}

/// Where a part was measured: names of its nodes, reported or made up.
std::vector<std::string> nodes_of(const ObservationFile& file, const FilePart& part,
                                  const std::vector<std::string>& known,
                                  std::vector<std::string>& notes) {
  std::vector<std::string> hosts;
  for (const std::string& host : split(file.dataset.fact("hosts"), ' ')) {
    if (!host.empty()) hosts.push_back(known_name(host, known));
  }
  const auto wanted = static_cast<std::size_t>(std::max(part.nodes, 1));
  if (hosts.size() == wanted || (part.nodes == 0 && !hosts.empty())) return hosts;
  if (known.size() == wanted) return known;
  std::vector<std::string> names{file.dataset.label};
  for (std::size_t i = 1; i < wanted; ++i) {
    names.push_back(fmt::format("{} {}", file.dataset.label, i + 1));
  }
  notes.push_back(fmt::format("{} does not name its {}: {} stands for it", file.dataset.path,
                              wanted == 1 ? "host" : "hosts", join(names, ", ")));
  return names;
}

bool has_shape(const DeviceSetRule& set, std::size_t nodes, std::size_t all,
               const std::vector<std::string>& names) {
  switch (set.kind) {
    case SetKind::PerNode: return nodes == 1;
    case SetKind::Pairwise: return nodes == 2 || (is_bisected(set, all) && nodes > 1);
    case SetKind::List:
      return nodes == set.nodes.size() &&
             std::is_permutation(names.begin(), names.end(), set.nodes.begin());
    case SetKind::Rails:
    case SetKind::Whole: break;
  }
  return nodes == all;
}

std::string instance_name(const DeviceSetRule& set, const std::vector<std::string>& nodes) {
  if (set.kind == SetKind::PerNode || set.kind == SetKind::Pairwise) return join(nodes, "+");
  return "all";
}

/// A part with its place, before sets are asked.
struct Placed {
  const ObservationFile* file = nullptr;
  FilePart part{};
  std::vector<std::string> nodes{};
};

bool fits(const DeviceSetRule& set, const Placed& placed, const std::vector<std::string>& all) {
  if (!has_all(all, placed.nodes)) return false;
  const bool rails = set.kind == SetKind::Rails;
  const std::size_t nodes = placed.nodes.size();
  const std::size_t ranks =
      nodes * (rails ? 1U : static_cast<std::size_t>(std::max(set.ranks_per_node, 1)));
  return rails == placed.part.grouped && placed.part.ranks == static_cast<int>(ranks) &&
         has_shape(set, nodes, all.size(), placed.nodes) &&
         may_be_devices(placed.part.devices, set.gpus);
}

bool is_asked(const Specification& specification, const std::string& set,
              const std::string& collective) {
  const auto& rules = specification.expectations;
  return std::any_of(rules.begin(), rules.end(), [&](const Expectation& rule) {
    return rule.device_set == set && std::find(rule.collectives.begin(), rule.collectives.end(),
                                               collective) != rule.collectives.end();
  });
}

/// The same nodes in another order are the same instance.
std::vector<std::string> in_order(std::vector<std::string> nodes,
                                  const std::vector<std::string>& all) {
  const auto place = [&](const std::string& node) {
    return std::find(all.begin(), all.end(), node);
  };
  std::sort(nodes.begin(), nodes.end(), [&](const std::string& left, const std::string& right) {
    return place(left) < place(right);
  });
  return nodes;
}

/// "node: 8 ranks on each node": what the sets measure by which a rule judges the collective.
std::vector<std::string> wanted_of(const Specification& specification,
                                   const std::string& collective) {
  std::vector<std::string> wanted;
  for (const DeviceSetRule& set : specification.device_sets) {
    if (!is_asked(specification, set.id, collective)) continue;
    const bool rails = set.kind == SetKind::Rails;
    const auto ranks = static_cast<std::size_t>(rails ? 1 : std::max(set.ranks_per_node, 1));
    wanted.push_back(fmt::format("{} ({}, {} on each node{})", set.id, name(set.kind),
                                 counted(ranks, "rank"),
                                 set.gpus.empty() ? "" : ", GPUs " + set.gpus));
  }
  return wanted;
}

std::string misfit(const Placed& placed, const Specification& specification) {
  const std::vector<std::string> wanted = wanted_of(specification, placed.part.collective);
  return fmt::format("{}: no device set of the specification wants {} of {} on {}; {}",
                     placed.file->dataset.path, placed.part.collective,
                     counted(static_cast<std::size_t>(std::max(placed.part.ranks, 0)), "rank"),
                     join(placed.nodes, ", "),
                     wanted.empty() ? "no rule is for it" : "there is " + join(wanted, ", "));
}

/// All parts of all files, and the nodes that there are.
struct Placement {
  std::vector<Placed> parts{};
  std::vector<std::string> nodes{};
};

Placement place(const std::vector<ObservationFile>& files, const std::vector<std::string>& known,
                std::vector<std::string>& notes) {
  Placement placement{.nodes = known};
  for (const ObservationFile& file : files) {
    for (FilePart& part : parts_of(file)) {
      std::vector<std::string> nodes = nodes_of(file, part, known, notes);
      for (const std::string& node : nodes) {
        if (known.empty() && !has_node(placement.nodes, node)) placement.nodes.push_back(node);
      }
      placement.parts.push_back(
          {.file = &file, .part = std::move(part), .nodes = std::move(nodes)});
    }
  }
  return placement;
}

std::vector<ObservationFile> read_all(std::span<const std::string> paths) {
  std::vector<ObservationFile> files;
  for (const std::string& path : paths) {
    files.push_back(read_observation_file(path));
    const Dataset& dataset = files.back().dataset;
    if (dataset.records.empty() && !dataset.facts.contains("configuration")) {
      throw usage_error(
          fmt::format("{}: no row in it, and no head that names whose they would be", path));
    }
  }
  return files;
}

}  // namespace

std::vector<Observation> observe_files(const Specification& specification,
                                       std::span<const std::string> paths,
                                       std::vector<std::string>& notes) {
  const std::vector<ObservationFile> files = read_all(paths);
  const Placement placement = place(files, specification.system.nodes, notes);
  std::vector<Observation> observations;
  std::map<std::tuple<std::string, std::string, std::string>, int> launches;
  for (const Placed& placed : placement.parts) {
    bool wanted = false;
    for (const DeviceSetRule& set : specification.device_sets) {
      const std::string& collective = placed.part.collective;
      const bool fitting = fits(set, placed, placement.nodes);
      if (!fitting || !is_asked(specification, set.id, collective)) continue;
      wanted = true;
      const std::vector<std::string> nodes = in_order(placed.nodes, placement.nodes);
      const std::string instance = instance_name(set, nodes);
      observations.push_back({.device_set = set.id,
                              .instance = instance,
                              .nodes = nodes,
                              .launch = launches[{set.id, instance, collective}]++,
                              .collective = collective,
                              .file = placed.file->dataset.path,
                              .failure = placed.file->failure,
                              .facts = placed.file->dataset.facts,
                              .records = placed.part.records});
    }
    if (!wanted) notes.push_back(misfit(placed, specification));
  }
  return observations;
}

}  // namespace busbar::judge
