// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_options.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/spec/specification.hpp"

namespace busbar {
namespace {

struct TaskName {
  std::string_view name;
  AcceptTask task;
};
constexpr std::array kTasks{TaskName{"run", AcceptTask::Run}, TaskName{"judge", AcceptTask::Judge},
                            TaskName{"lint", AcceptTask::Lint},
                            TaskName{"baseline", AcceptTask::Baseline},
                            TaskName{"list", AcceptTask::List}};

/// Texts of options before they have a meaning.
struct Texts {
  std::optional<std::string> hosts{};
  std::string seed{};
  std::optional<std::string> at_once{};
  std::vector<std::string> assumed{};
};

void declare_common(CLI::App& app, AcceptOptions& options, Texts& texts) {
  app.add_option("--profile", options.profile);
  app.add_option("--rule", options.rules)->allow_extra_args(false);
  app.add_option("--hosts", texts.hosts);
  app.add_flag("--dump-spec", options.dump_specification);
  app.add_option("--assume", texts.assumed)->allow_extra_args(false);
}

void declare_outputs(CLI::App& app, AcceptOptions& options) {
  app.add_flag("--strict", options.strict);
  app.add_flag("-v,--verbose", options.verbose);
  app.add_option("--verdicts", options.outputs.verdicts);
  app.add_option("--junit", options.outputs.junit);
  app.add_option("--json", options.outputs.json);
  app.add_option("--prometheus", options.outputs.prometheus);
  app.add_option("--markdown", options.outputs.markdown);
  app.add_option("--html", options.outputs.html);
}

void declare_run(CLI::App& app, AcceptOptions& options, Texts& texts) {
  app.add_option("--hostfile", options.hostfile);
  app.add_option("--seed", texts.seed);
  app.add_flag("--serial", options.serial);
  app.add_option("--at-once", texts.at_once);
  app.add_option("--mpiexec", options.mpiexec);
  app.add_option("--programs", options.programs);
}

/// Only the options that the task has: another is unknown to it.
void declare(CLI::App& app, AcceptOptions& options, Texts& texts, bool& help) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", help);
  if (options.task == AcceptTask::List) {
    app.add_option("--profile", options.profile);
    return;
  }
  declare_common(app, options, texts);
  const bool judges = options.task == AcceptTask::Run || options.task == AcceptTask::Judge;
  if (judges) declare_outputs(app, options);
  if (options.task == AcceptTask::Run) declare_run(app, options, texts);
  if (options.task == AcceptTask::Run || options.task == AcceptTask::Baseline) {
    app.add_option("-o,--output", options.output);
  }
}

AcceptTask parse_task(const std::string& word) {
  if (word == "-h" || word == "--help") return AcceptTask::Help;
  std::vector<std::string> names;
  for (const TaskName& known : kTasks) {
    if (known.name == word) return known.task;
    names.emplace_back(known.name);
  }
  const std::string near = nearest_word(word, names);
  throw usage_error(fmt::format("accept: '{}' is none of {}{}", word, join(names, ", "),
                                near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

std::vector<std::string> parse_hosts(const std::string& text) {
  std::vector<std::string> hosts = split(text, ',');
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts[i].empty()) {
      throw usage_error(fmt::format("--hosts {}: a name is empty; write h1,h2,h3", text));
    }
    if (std::find(hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(i), hosts[i]) !=
        hosts.begin() + static_cast<std::ptrdiff_t>(i)) {
      throw usage_error(fmt::format("--hosts {}: {} is there twice", text, hosts[i]));
    }
  }
  return hosts;
}

void take_texts(AcceptOptions& options, const Texts& texts) {
  if (texts.hosts) options.hosts = parse_hosts(*texts.hosts);
  if (!texts.seed.empty()) {
    options.seed = static_cast<std::uint64_t>(
        parse_integer("--seed", texts.seed, 0, std::numeric_limits<std::int64_t>::max()));
  }
  if (texts.at_once) {
    options.at_once =
        static_cast<int>(parse_integer("--at-once", *texts.at_once, 1, judge::kMostAtOnce));
  }
  for (const std::string& fact : texts.assumed) {
    const std::size_t place = fact.find('=');
    if (place == 0 || place == std::string::npos || place + 1 == fact.size()) {
      throw usage_error(
          fmt::format("--assume {}: write KEY=VALUE, as in --assume gpu='NVIDIA H200'", fact));
    }
    options.assumed[fact.substr(0, place)] = fact.substr(place + 1);
  }
}

/// SPEC and FILES, where the task has them.
void take_words(AcceptOptions& options, const std::vector<std::string>& words,
                const std::string& task) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word.starts_with('-')) {
      throw usage_error(
          fmt::format("accept {} has no option {}; see busbar accept -h", task, word));
    }
  }
  if (options.task != AcceptTask::List && words.empty()) {
    throw usage_error(fmt::format(
        "accept {}: by what? give a specification: a file, or a name of busbar accept list", task));
  }
  if (!words.empty()) options.specification = words.front();
  const bool takes_files =
      options.task == AcceptTask::Judge || options.task == AcceptTask::Baseline;
  if (takes_files) {
    options.files.assign(words.begin() + 1, words.end());
  } else if (words.size() > 1) {
    throw usage_error(
        fmt::format("accept {} takes nothing more, and there is '{}'{}", task, words.back(),
                    options.task == AcceptTask::Run ? "; arguments of mpiexec follow --" : ""));
  }
}

void check(const AcceptOptions& options) {
  if (options.dump_specification) return;
  if (options.task == AcceptTask::Run && options.output.empty()) {
    throw usage_error("accept run: where to? give a new folder by -o DIR");
  }
  if (options.task == AcceptTask::Baseline && options.output.empty()) {
    throw usage_error("accept baseline: where to? give a new file by -o FILE.csv");
  }
  const bool needs_files =
      options.task == AcceptTask::Judge || options.task == AcceptTask::Baseline;
  if (needs_files && options.files.empty()) {
    throw usage_error(
        "accept: of what? give CSVs, or the folder of an accept run, behind the specification");
  }
  if (options.serial && options.at_once.value_or(1) > 1) {
    throw usage_error("--at-once: --serial is one launch at a time; give one of them");
  }
  if (!options.hosts.empty() && !options.hostfile.empty()) {
    throw usage_error("--hosts and --hostfile name the same; leave one out");
  }
}

}  // namespace

AcceptOptions parse_accept_options(std::span<char* const> arguments) {
  AcceptOptions options;
  if (arguments.empty()) {
    throw usage_error(
        "accept: what? there are run, judge, lint, baseline and list; see busbar accept -h");
  }
  const std::string task = arguments.front();
  options.task = parse_task(task);
  if (options.task == AcceptTask::Help) return options;
  const auto words = arguments.subspan(1);
  const auto bar = std::find_if(words.begin(), words.end(),
                                [](const char* word) { return std::string_view(word) == "--"; });
  if (bar != words.end()) options.launcher_arguments.assign(bar + 1, words.end());
  if (bar != words.end() && options.task != AcceptTask::Run) {
    throw usage_error(fmt::format("accept {} launches nothing that -- could be for", task));
  }
  CLI::App app;
  Texts texts;
  bool help = false;
  declare(app, options, texts, help);
  parse_arguments(app, {words.data(), static_cast<std::size_t>(bar - words.begin())}, "accept");
  if (help) return {};
  take_words(options, app.remaining(), task);
  take_texts(options, texts);
  check(options);
  return options;
}

}  // namespace busbar
