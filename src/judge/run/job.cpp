// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/job.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/round_robin.hpp"
#include "bootstrap/socket.hpp"

namespace busbar::judge {
namespace {

/// What the measuring programs take by -f.
constexpr Bytes kLargestFactor = Bytes{1} << 20U;

/// Rows that have everything but the size and the buffer mode in common.
struct RowGroup {
  std::set<Bytes> sizes{};
  std::set<std::string_view> modes{};  ///< "in", "out"
};

std::map<std::string, RowGroup> row_groups(const Specification& specification,
                                           const LaunchJob& job) {
  std::map<std::string, RowGroup> groups;
  for (const Rule& rule : specification.rules) {
    if (rule.device_set != job.device_set || !contains(rule.collectives, job.collective)) continue;
    RowGroup& group = groups[rule.type];
    group.sizes.insert(rule.sizes.begin(), rule.sizes.end());
    group.modes.insert(rule.in_place ? "in" : "out");
  }
  return groups;
}

std::string program(const LaunchSetup& setup, const std::string& collective) {
  return fmt::format("{}{}{}_perf", setup.programs, setup.programs.empty() ? "" : "/", collective);
}

/// A program with its arguments on nodes, with as many ranks on each.
Words launched(const LaunchSetup& setup, const std::vector<std::string>& nodes, int ranks_per_node,
               Words program) {
  RankLaunch launch{.hosts = nodes,
                    .ranks = static_cast<int>(nodes.size()) * ranks_per_node,
                    .ranks_per_host = ranks_per_node,
                    .arguments = setup.arguments};
  if (nodes.size() == 1 && is_this_host(nodes.front()) && setup.launcher.words.empty()) {
    launch.hosts.clear();
  } else {
    launch.hostfile = setup.text_file(host_lines(setup.launcher, launch), "");
  }
  if (!setup.launcher.starts_each_rank()) {
    launch.program = std::move(program);
    return launch_command(setup.launcher, launch);
  }
  const bool is_local = setup.launcher.words.empty();
  Words words{program.front(), "-g", fmt::format("{}", launch.ranks), "--launcher",
              is_local ? "local" : setup.launcher.words};
  if (!is_local) append(words, {"--hosts", "@" + launch.hostfile});
  words.insert(words.end(), program.begin() + 1, program.end());
  return words;
}

/// "8-15": the ranks of a node.
std::string rank_range(std::size_t node, int ranks_per_node) {
  const auto each = static_cast<std::size_t>(ranks_per_node);
  const std::size_t first = node * each;
  return each == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + each - 1);
}

/// The rounds of a job as --groups takes them: on the command line, or where it has no room for
/// them in a file, which the first node must see.
std::string groups_option(const LaunchSetup& setup, const LaunchJob& job, int ranks_per_node) {
  constexpr std::size_t kMost = 100'000;  // Linux takes 128 KiB in a word
  std::vector<std::string> lines;
  for (const NumberedRound& round : job.rounds) {
    for (std::size_t group = 0; group < round.pairs.size(); ++group) {
      const auto [first, second] = round.pairs[group];
      lines.push_back(fmt::format("{},{},{}+{}", round.number, group,
                                  rank_range(first, ranks_per_node),
                                  rank_range(second, ranks_per_node)));
    }
  }
  std::string text = join(lines, "/");
  if (text.size() <= kMost) return text;
  text = join(lines, "\n") + "\n";
  std::ranges::replace(text, '+', ' ');
  return setup.text_file(text, ".csv");
}

/// The command of a job whose program has these options beside.
Words command_of(const Specification& specification, const LaunchSetup& setup, const LaunchJob& job,
                 const Words& options) {
  const DeviceSetRule& set = specification.device_set(job.device_set);
  Words words{program(setup, job.collective), "--backend", specification.run.backend};
  // Sooner than the launch is killed: the program can name who does not answer.
  constexpr double kShareOfTimeout = 0.75;
  append(words, {"-T", fmt::format("{:g}", kShareOfTimeout * specification.run.timeout_s)});
  if (!set.gpus.empty()) append(words, {"--devices", set.gpus});
  append(words, options);
  // Of nodes that share processors, a pair bound to one processor would look like a slow link.
  const bool shared = specification.run.same_machine && set.kind == SetKind::Pairwise;
  if (shared) append(words, {"--bind", "none"});
  append(words, set.backend_options);
  const auto is_of_nccl = [](const auto& fact) { return fact.first.starts_with("nccl_"); };
  if (std::ranges::any_of(set.fingerprint, is_of_nccl)) words.emplace_back("--nccl-choice");
  if (set.kind == SetKind::Rails) append(words, {"--groups", "rails"});
  if (!job.rounds.empty()) {
    append(words, {"--groups", groups_option(setup, job, set.ranks_per_node)});
  }
  for (const auto& [name, value] : set.env) {
    append(words, {"--env", fmt::format("{}={}", name, value)});
  }
  return launched(setup, job.nodes(), set.ranks_per_node, std::move(words));
}

Words contract_options(const RunContract& run) {
  Words words;
  if (run.iterations > 0) append(words, {"-n", fmt::format("{}", run.iterations)});
  if (run.warmup >= 0) append(words, {"-w", fmt::format("{}", run.warmup)});
  append(words, {"-c", run.check_data ? "1" : "0"});
  return words;
}

std::string shell_text(const std::string& word) {
  if (is_plain(word)) return word;
  return "'" + join(split(word, '\''), "'\\''") + "'";
}

/// Instances at the same time; all rails are one job. `like` has number, purpose and collective.
Unit unit_of(const DeviceSetRule& set, std::span<const Instance> instances, LaunchJob like) {
  like.device_set = set.id;
  Unit unit;
  for (const Instance& instance : instances) {
    if (unit.empty() || set.kind != SetKind::Rails) unit.push_back(like);
    unit.back().instances.push_back(instance);
  }
  return unit;
}

/// Instances that share no node, round by round; a pairwise set's are drawn when it is launched.
std::vector<std::vector<Instance>> rounds_of(const DeviceSetRule& set,
                                             std::span<const std::string> nodes) {
  if (set.kind == SetKind::Pairwise) return {{fleet_instance({nodes.begin(), nodes.end()})}};
  return {instances_of(set, nodes)};
}

}  // namespace

std::string job_name(const LaunchJob& job) {
  return job.instances.size() == 1 ? job.instances.front().name : "rails";
}

std::vector<SizeRun> size_runs(const std::vector<Bytes>& sizes) {
  std::vector<SizeRun> runs;
  for (std::size_t i = 0; i < sizes.size();) {
    SizeRun run{.first = sizes[i], .last = sizes[i]};
    std::size_t next = i + 1;
    const bool has_factor = next < sizes.size() && sizes[i] > 0 && sizes[next] % sizes[i] == 0 &&
                            sizes[next] / sizes[i] <= kLargestFactor;
    if (has_factor) run.factor = sizes[next] / sizes[i];
    while (has_factor && next < sizes.size() && sizes[next] == run.last * run.factor) {
      run.last = sizes[next++];
    }
    runs.push_back(run);
    i = next;
  }
  return runs;
}

std::vector<Words> commands_of(const Specification& specification, const LaunchSetup& setup,
                               const LaunchJob& job) {
  if (job.soak_s > 0) {
    const std::string size = fmt::format("{}", specification.soak->sizes.front());
    Words options{"--csv", "-", "-b", size, "-e", size, "--placement", "out"};
    append(options, {"--duration", fmt::format("{:g}", job.soak_s), "--timeline", "-"});
    if (!specification.run.check_data) append(options, {"-c", "0"});
    return {command_of(specification, setup, job, options)};
  }
  std::vector<Words> commands;
  for (const auto& [type, group] : row_groups(specification, job)) {
    const std::string mode(group.modes.size() > 1 ? "both" : *group.modes.begin());
    for (const SizeRun& run : size_runs({group.sizes.begin(), group.sizes.end()})) {
      Words options{"--csv",       "-",
                    "-b",          fmt::format("{}", run.first),
                    "-e",          fmt::format("{}", run.last),
                    "-f",          fmt::format("{}", run.factor),
                    "-d",          type,
                    "--placement", mode};
      append(options, contract_options(specification.run));
      commands.push_back(command_of(specification, setup, job, options));
    }
  }
  return commands;
}

Words touch_command(const LaunchSetup& setup, const std::string& collective,
                    const std::string& node) {
  Words words{program(setup, collective), "--version", "--facts", "-"};
  constexpr int kAnyPort = 1;
  const bool by_name = setup.launcher.starts_each_rank() && !setup.launcher.words.empty();
  if (by_name && setup.has_groups) {
    append(words, {"--rendezvous", Address{.host = node, .port = kAnyPort}.text()});
  }
  return launched(setup, {node}, 1, std::move(words));
}

std::string breaking_node(std::string_view log, const std::vector<std::string>& nodes,
                          int ranks_per_node) {
  // Ours, Hydra's, Slurm's.
  static const std::array<std::regex, 3> kNames{
      std::regex(R"(rank (\d+) on \S+ (does not answer|is behind|ended before))"),
      std::regex(R"(RANK (\d+) PID \d+ RUNNING AT)"),
      std::regex(R"(srun: error: \S+: task (\d+):)")};
  for (const std::regex& pattern : kNames) {
    std::match_results<std::string_view::const_iterator> found;
    if (!std::regex_search(log.begin(), log.end(), found, pattern)) continue;
    const auto rank = to_number<int>(found[1].str());
    const auto place = static_cast<std::size_t>(rank.value_or(0) / ranks_per_node);
    if (rank && place < nodes.size()) return nodes[place];
  }
  return {};
}

std::string command_text(const Words& words) { return join_each(words, " ", shell_text); }

std::vector<std::vector<Instance>> soaked_rounds(const DeviceSetRule& set,
                                                 std::span<const std::string> nodes) {
  if (set.kind != SetKind::Pairwise) return {instances_of(set, nodes)};
  return mapped(round_robin(nodes.size()), [&](const RoundOfPairs& round) {
    return mapped(round, [&](const NumberPair& pair) { return pair_instance(nodes, pair); });
  });
}

Instance fleet_instance(std::vector<std::string> nodes) {
  std::string name = counted(nodes.size(), "node");
  return {.name = std::move(name), .nodes = std::move(nodes)};
}

std::vector<Unit> plan_units(const Specification& specification, std::span<const std::string> nodes,
                             std::mt19937_64& random, bool soak) {
  std::vector<Unit> alone;
  std::vector<Unit> together;
  const auto add = [&](const DeviceSetRule& set, int launch) {
    const auto rounds = soak ? soaked_rounds(set, nodes) : rounds_of(set, nodes);
    std::vector<Unit>& units = set.kind == SetKind::PerNode ? alone : together;
    for (const std::string& collective : collectives_of(specification, set.id)) {
      for (const std::vector<Instance>& instances : rounds) {
        units.push_back(unit_of(set, instances, {.launch = launch, .collective = collective}));
      }
    }
  };
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const DeviceSetRule& set : specification.device_sets) add(set, launch);
  }
  shuffle(alone, random);
  shuffle(together, random);
  append(alone, together);
  return alone;
}

std::vector<Unit> rerun_units(const Specification& specification,
                              std::span<const std::string> nodes, const Acceptance& acceptance) {
  std::vector<Unit> units;
  if (specification.noise.on_noisy != OnNoisy::Rerun) return units;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const CheckResult& result : acceptance.verdicts) {
    if (result.outcome != Outcome::Inconclusive || result.decided_by != DecidedBy::Noisy) continue;
    const DeviceSetRule& set = specification.device_set(result.device_set);
    const bool together = set.kind == SetKind::Rails || set.kind == SetKind::Pairwise;
    const std::string what = together ? set.id : result.instance;
    if (result.attempts > static_cast<std::size_t>(specification.noise.max_reruns) ||
        !seen.insert({set.id, what, result.collective}).second) {
      continue;
    }
    std::vector<Instance> again = rounds_of(set, nodes).front();
    std::erase_if(again, [&](const Instance& one) { return !together && one.name != what; });
    for (int launch = 0; !again.empty() && launch < specification.run.launches; ++launch) {
      units.push_back(unit_of(set, again,
                              {.launch = launch,
                               .attempt = static_cast<int>(result.attempts),
                               .purpose = Purpose::Rerun,
                               .collective = result.collective}));
    }
  }
  return units;
}

}  // namespace busbar::judge
