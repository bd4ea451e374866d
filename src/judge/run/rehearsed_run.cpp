// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/rehearsed_run.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/splitmix64.hpp"
#include "base/text.hpp"
#include "format/csv_writer.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "judge/judge.hpp"
#include "judge/rule_check.hpp"
#include "judge/run/campaign.hpp"
#include "model/collective.hpp"
#include "model/flag.hpp"

namespace busbar::judge {
namespace {

/// The rules that compare pairs, measured as the plan has it, by whatever the rows are.
Specification of_pairs(Specification specification, const FleetPlan& plan) {
  const auto is_pairs = [](const DeviceSetRule& set) { return set.kind == SetKind::Pairwise; };
  std::erase_if(specification.rules,
                [&](const Rule& rule) { return !is_rehearsed(specification, rule); });
  std::erase_if(specification.device_sets, std::not_fn(is_pairs));
  for (DeviceSetRule& set : specification.device_sets) {
    set.partners = static_cast<int>(plan.partners);
    set.fingerprint.clear();
  }
  specification.system.fingerprint.clear();
  specification.system.nodes.clear();
  specification.facts.clear();
  specification.baseline.reset();
  specification.run.backend = "auto";
  specification.run.launches = static_cast<int>(plan.launches);
  specification.run.min_launches =
      std::min(specification.run.min_launches, specification.run.launches);
  specification.run.rehearsal = true;
  return specification;
}

/// Measures as the nodes of a simulated fleet would.
class SimulatedNodes {
 public:
  SimulatedNodes(const Specification& specification, SimulatedFleet fleet,
                 std::vector<std::string> names, const LaunchTimes& times, Rehearsal& rehearsal)
      : specification_(specification),
        fleet_(std::move(fleet)),
        names_(std::move(names)),
        times_(times),
        rehearsal_(rehearsal) {
    for (std::size_t i = 0; i < names_.size(); ++i) numbers_[names_[i]] = i;
    count(1, 0);  // each node by itself
  }

  [[nodiscard]] bool answers(const std::string& node) const {
    return !fleet_.dead().contains(numbers_.at(node));
  }

  [[nodiscard]] LaunchResult launch(const Job& job) {
    const std::uint64_t number = launches_++;
    const std::vector<const Rule*> rules = rules_of(job);
    count(job.rounds.size(), rules.size());
    LaunchResult result{.seconds = times_.start};
    const int each = specification_.device_set(job.device_set).ranks_per_node;
    for (std::size_t place = 0; place < job.nodes().size(); ++place) {
      if (!fleet_.hanging().contains(numbers_.at(job.nodes()[place]))) continue;
      result.log = fmt::format("timeout: no progress: rank {} on {} does not answer",
                               place * static_cast<std::size_t>(each), job.nodes()[place]);
      result.failure = result.log;
      result.exit_code = exit_code(Status::Runtime);
      return result;
    }
    result.csv = csv_header();
    for (const NumberedRound& round : job.rounds) {
      for (std::size_t group = 0; group < round.pairs.size(); ++group) {
        for (const Rule* rule : rules) add_rows(result.csv, *rule, job, round, group, number);
      }
    }
    return result;
  }

  [[nodiscard]] const SimulatedFleet& fleet() const { return fleet_; }
  [[nodiscard]] const std::set<NumberPair>& measured() const { return measured_; }

 private:
  void count(std::size_t rounds, std::size_t rows) {
    ++rehearsal_.launches;
    rehearsal_.rounds += std::max<std::size_t>(rounds, 1);
    rehearsal_.seconds +=
        times_.start + static_cast<double>(std::max<std::size_t>(rounds, 1)) *
                           (times_.connect + times_.row * static_cast<double>(rows));
  }

  [[nodiscard]] std::vector<const Rule*> rules_of(const Job& job) const {
    std::vector<const Rule*> rules;
    for (const Rule& rule : specification_.rules) {
      if (rule.device_set == job.device_set && contains(rule.collectives, job.collective)) {
        rules.push_back(&rule);
      }
    }
    return rules;
  }

  void add_rows(std::string& csv, const Rule& rule, const Job& job, const NumberedRound& round,
                std::size_t group, std::uint64_t launch) {
    const auto [first, second] = round.pairs[group];
    const std::size_t one = numbers_.at(job.nodes()[first]);
    const std::size_t other = numbers_.at(job.nodes()[second]);
    if (job.purpose == Purpose::Measure) measured_.insert(pair_of(one, other));
    const auto each =
        static_cast<std::size_t>(specification_.device_set(job.device_set).ranks_per_node);
    const auto ranks = [&](std::size_t place) {
      return fmt::format("{}-{}", place * each, (place + 1) * each - 1);
    };
    for (const Bytes size : rule.sizes) {
      const double rate = std::exp(*fleet_.log_rate(one, other, launch));
      const double low = std::exp(*fleet_.log_rate(one, other, launch, true));
      Record row{.collective = job.collective,
                 .backend = "sim",
                 .ranks = static_cast<int>(2 * each),
                 .nodes = 2,
                 .type = rule.type,
                 .op = rule.op,
                 .in_place = rule.in_place,
                 .size = size,
                 .flags = std::string(name(Flag::Simulated))};
      const Collective* known = find_collective(job.collective);
      row.busbw_GBps = rate * kHealthyGBps;
      row.algbw_GBps = *row.busbw_GBps / (known == nullptr ? 1 : known->bus_factor(row.ranks));
      row.time_median_us = static_cast<double>(size) / (*row.algbw_GBps * 1e3);
      row.time_mean_us = row.time_min_us = row.time_median_us;
      row.time_p90_us = row.time_p99_us = row.time_max_us = *row.time_median_us * rate / low;
      row.wrong = 0;
      row.round = static_cast<int>(round.number);
      row.group = static_cast<int>(group);
      row.hosts = names_[one] + " " + names_[other];
      row.group_ranks = ranks(first) + " " + ranks(second);
      csv += csv_row(row);
    }
  }

  static constexpr double kHealthyGBps = 100;

  const Specification& specification_;
  SimulatedFleet fleet_;
  std::vector<std::string> names_;
  const LaunchTimes& times_;
  Rehearsal& rehearsal_;
  std::map<std::string, std::size_t> numbers_{};
  std::set<NumberPair> measured_{};
  std::uint64_t launches_ = 0;
};

constexpr const char* kMark = "# a rehearsal: the rows of its launches are simulated\n";

/// Removes what an earlier rehearsal left, unless there is anything else.
void clear_rehearsal(const std::string& folder) {
  if (!read_file(folder + "/spec.toml").value_or("").starts_with(kMark)) return;
  const std::filesystem::directory_iterator entries(folder);
  const std::vector<std::filesystem::path> files(begin(entries), end(entries));
  const std::vector<std::string> own{"spec.toml", "launches.csv", "levels.csv", "notes.txt"};
  const auto is_own = [&](const std::filesystem::path& path) {
    const std::string name = path.filename();
    const bool is_launch = name.find_first_of("0123456789") == 0 && path.extension() == ".csv";
    return contains(own, name) || is_launch;
  };
  if (!std::ranges::all_of(files, is_own)) return;
  for (const std::filesystem::path& file : files) std::filesystem::remove(file);
}

using FaultNames = std::set<std::string>;

/// What the judge blames, with the names of planted_names().
FaultNames blamed_names(const Acceptance& acceptance) {
  FaultNames names;
  for (const Suspect& suspect : acceptance.suspects) {
    names.insert(suspect.path.empty() ? join(suspect.nodes, "-") : suspect.path);
  }
  for (const NodeAccount& node : acceptance.nodes) {
    const bool is_bad = node.state == NodeState::Failed || node.state == NodeState::NoData;
    if (is_bad) names.insert(node.node);
  }
  return names;
}

}  // namespace

bool is_rehearsed(const Specification& specification, const Rule& rule) {
  return rule.compare == RuleKind::Fleet &&
         specification.device_set(rule.device_set).kind == SetKind::Pairwise;
}

Rehearsal rehearse_run(const Specification& specification, const FleetPlan& plan,
                       const Noise& noise, const std::vector<PlantedFault>& faults,
                       const LaunchTimes& times, std::uint64_t seed, const std::string& folder,
                       const std::string& text) {
  const Specification pairs = of_pairs(specification, plan);
  const std::vector<NodePath> paths =
      plan.paths.empty() ? simulated_paths(plan.nodes, plan.levels) : plan.paths;
  std::vector<std::string> names;
  for (std::size_t node = 0; node < plan.nodes; ++node) names.push_back(fmt::format("n{}", node));
  const std::string levels = paths.front().empty() ? "" : levels_csv(names, paths);
  std::optional<HostLevels> placed;
  if (!levels.empty()) placed.emplace(levels, "levels.csv");
  Rehearsal rehearsal;
  SimulatedNodes nodes(pairs, {paths, noise, faults, seed}, names, times, rehearsal);
  clear_rehearsal(folder);
  RunFolder run(folder,
                {.specification = specification.file,
                 .profile = specification.profile,
                 .rules = mapped(pairs.rules, &Rule::id),
                 .seed = fmt::format("{}", seed),
                 .nodes = names,
                 .levels = levels},
                kMark + text);
  const auto input = [&](std::span<const Observation> observations) {
    return JudgeInput{.specification = pairs,
                      .observations = observations,
                      .nodes = names,
                      .levels = placed ? &*placed : nullptr};
  };
  Campaign campaign(
      {.specification = pairs,
       .nodes = names,
       .seed = seed,
       .levels = placed ? &*placed : nullptr,
       .judge = [&](auto observations) { return judge_all(input(observations)); },
       .screen =
           [&](auto observations, const DeviceSetRule& set) {
             return suspects_to_repeat(set, input(observations));
           },
       .simulated = {.answers = [&](const std::string& node) { return nodes.answers(node); },
                     .launch = [&](const Job& job) { return nodes.launch(job); }}},
      run);
  static_cast<void>(campaign.run());
  const FaultNames blamed = blamed_names(judge_all(input(run.journal().lines)));
  compare_faults(rehearsal, nodes.fleet(), blamed, nodes.measured());
  return rehearsal;
}

}  // namespace busbar::judge
