// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/job.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// What the measuring programs take by -f.
constexpr Bytes kLargestFactor = Bytes{1} << 20U;

/// Rows that have everything but the size and the placement in common.
struct RowGroup {
  std::set<Bytes> sizes{};
  bool in_place = false;
  bool out_of_place = false;
};
using RowGroups = std::map<std::pair<std::string, std::string>, RowGroup>;  // by type and op

bool reduces(const std::string& collective) {
  return collective == "allreduce" || collective == "reduce" || collective == "reducescatter";
}

RowGroups row_groups(const Specification& specification, const Job& job) {
  RowGroups groups;
  for (const Expectation& rule : specification.expectations) {
    const bool wanted = rule.device_set == job.device_set &&
                        std::find(rule.collectives.begin(), rule.collectives.end(),
                                  job.collective) != rule.collectives.end();
    if (!wanted) continue;
    RowGroup& group = groups[{rule.type, reduces(job.collective) ? rule.op : std::string()}];
    group.sizes.insert(rule.sizes.begin(), rule.sizes.end());
    (rule.in_place ? group.in_place : group.out_of_place) = true;
  }
  return groups;
}

std::string_view placement(const RowGroup& group) {
  if (group.in_place && group.out_of_place) return "both";
  return group.in_place ? "in" : "out";
}

std::string program(const LaunchSetup& setup, const std::string& collective) {
  return fmt::format("{}{}{}_perf", setup.programs, setup.programs.empty() ? "" : "/", collective);
}

void append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

Words launch_words(const LaunchSetup& setup, const std::vector<std::string>& nodes,
                   int ranks_per_node) {
  Words words{setup.mpiexec};
  append(words, setup.arguments);
  append(words, {"-hosts", join(nodes, ","), "-np",
                 fmt::format("{}", nodes.size() * static_cast<std::size_t>(ranks_per_node)), "-ppn",
                 fmt::format("{}", ranks_per_node)});
  return words;
}

/// All that does not depend on the rows.
Words start_words(const Specification& specification, const LaunchSetup& setup, const Job& job) {
  const DeviceSetRule& set = specification.device_set(job.device_set);
  const std::string path = program(setup, job.collective);
  if (specification.run.backend == "sim") {
    return {path,
            "--backend",
            "sim",
            "--system",
            specification.ceiling.system,
            "--ranks",
            fmt::format("{}", job.nodes.size() * static_cast<std::size_t>(set.ranks_per_node))};
  }
  Words words = launch_words(setup, job.nodes, set.ranks_per_node);
  if (set.kind == SetKind::Rails) {
    append(words, {"-genv", "NCCL_TESTS_SPLIT", fmt::format("MOD {}", set.ranks_per_node)});
  }
  append(words, {path, "--backend", specification.run.backend, "-T",
                 fmt::format("{:g}", specification.run.timeout_s)});
  if (!set.gpus.empty()) append(words, {"--devices", set.gpus});
  return words;
}

Words contract_words(const RunContract& run) {
  Words words;
  if (run.iterations > 0) append(words, {"-n", fmt::format("{}", run.iterations)});
  if (run.warmup >= 0) append(words, {"-w", fmt::format("{}", run.warmup)});
  append(words, {"-c", run.check_data ? "1" : "0"});
  return words;
}

bool needs_quotes(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  return word.empty() || word.find_first_not_of(kPlain) != std::string::npos;
}

std::string shell_quoted(const std::string& word) {
  if (!needs_quotes(word)) return word;
  std::string text = "'";
  for (const char character : word) {
    if (character == '\'') {
      text += "'\\''";
    } else {
      text += character;
    }
  }
  return text + "'";
}

}  // namespace

std::string job_name(const Job& job) {
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
                               const Job& job) {
  std::vector<Words> commands;
  for (const auto& [key, group] : row_groups(specification, job)) {
    for (const SizeRun& run : size_runs({group.sizes.begin(), group.sizes.end()})) {
      Words words = start_words(specification, setup, job);
      append(words, {"--csv", "-", "-b", fmt::format("{}", run.first), "-e",
                     fmt::format("{}", run.last), "-f", fmt::format("{}", run.factor), "-d",
                     key.first, "--placement", std::string(placement(group))});
      if (!key.second.empty()) append(words, {"-o", key.second});
      append(words, contract_words(specification.run));
      commands.push_back(std::move(words));
    }
  }
  return commands;
}

Words touch_command(const LaunchSetup& setup, const std::string& collective,
                    const std::string& node) {
  Words words = launch_words(setup, {node}, 1);
  append(words, {program(setup, collective), "--version"});
  return words;
}

std::string command_text(const Words& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_quoted(word);
  return text;
}

std::vector<std::string> collectives_of(const Specification& specification,
                                        const std::string& device_set) {
  std::vector<std::string> collectives;
  for (const Expectation& rule : specification.expectations) {
    if (rule.device_set != device_set) continue;
    for (const std::string& collective : rule.collectives) {
      const bool known =
          std::find(collectives.begin(), collectives.end(), collective) != collectives.end();
      if (!known) collectives.push_back(collective);
    }
  }
  return collectives;
}

}  // namespace busbar::judge
