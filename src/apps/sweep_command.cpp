// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/commands.hpp"
#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/interrupt_watch.hpp"
#include "base/lists.hpp"
#include "base/options.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "bootstrap/launcher.hpp"
#include "format/output_file.hpp"
#include "format/progress_line.hpp"
#include "judge/run/job.hpp"
#include "judge/run/launch_queue.hpp"
#include "study/sweep/sweep.hpp"

namespace busbar::sweep_command_line {

namespace fs = std::filesystem;
using study::Pairing;
using study::SweepResult;
using study::SweepVariant;
using study::VariantRuns;

constexpr View kLibraryVariable = "LD_PRELOAD";

struct SweepOptions {
  std::vector<Vary> settings{};
  std::size_t launches = 10;
  std::size_t held_out = 0;
  std::optional<std::string> write{};
  std::optional<std::string> json{};
  std::string folder{};
  std::optional<std::uint64_t> seed{};
  double threshold_percent = 100 * stats::kSettingThreshold;
  Seconds timeout{600};
  bool per_launch = false;
};

using O = SweepOptions;

void add_setting(O& options, View option, const Vary& setting) {
  if (any_has(options.settings, setting.name, &Vary::name)) {
    throw usage_error("{}: {} is varied already", option, setting.name);
  }
  options.settings.push_back(setting);
}

void add_libraries(O& options, View option, View text) {
  Vary setting = parse_vary(option, fmt::format("{}={}", kLibraryVariable, text));
  for (std::string& value : setting.values) {
    if (value == kDefaultValue) continue;
    if (!fs::is_regular_file(value)) throw usage_error("{}: no file {}", option, value);
    value = fs::absolute(value).string();
  }
  add_setting(options, option, setting);
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--vary", "NAME=A,B", [](O& o, View n, View v) { add_setting(o, n, parse_vary(n, v)); }},
    {"--library", "A.so,B.so", add_libraries},
    {"--launches", "N", set::integer<&O::launches, 2, 10000>},
    {"--per-launch", "", set::value<&O::per_launch>},
    {"--threshold", "PCT",
     [](O& o, View n, View v) { o.threshold_percent = parse_number(n, v, 0, 1000); }},
    {"--write", "FILE", set::file<&O::write>},
    {"--held-out", "N", set::integer<&O::held_out, 2, 10000>},
    {"--seed", "N", set::integer<&O::seed, 0>},
    {"--timeout", "TIME", [](O& o, View n, View v) { o.timeout = parse_duration(n, v, 1); }},
    {"--json", "[FILE]", set::value<&O::json>},
    {"-o,--output", "DIR", set::file<&O::folder>},
});
constexpr CommandLineTable<O> kTable{{.program = "busbar sweep", .help = "docs/sweep-options.md"},
                                     kOptions};

/// The rules that will be written, decided before anything is measured.
std::optional<study::RuleTarget> plan_rules(const O& options) {
  if (!options.write) {
    if (options.held_out > 0) throw usage_error("--held-out judges the file of --write FILE");
    return {};
  }
  check_new(*options.write, "--write");
  const study::RuleTarget target = study::rule_target(options.settings);
  if (options.held_out > 0 && target.is_nccl() && std::getenv("NCCL_TUNER_PLUGIN") == nullptr) {
    throw usage_error(
        "--held-out: NCCL reads the file with its example tuner plugin only; name that by "
        "NCCL_TUNER_PLUGIN");
  }
  return target;
}

/// One setting that the program itself can vary, unless variables are asked for.
Pairing pairing_of(const O& options) {
  const bool own = !options.per_launch && options.settings.size() == 1 &&
                   study::is_varied_in_launch(options.settings.front().name);
  if (own) return Pairing::ByLaunch;
  for (const Vary& setting : options.settings) {
    if (std::islower(static_cast<unsigned char>(setting.name.front())) == 0) continue;
    throw usage_error(
        "--vary {}: no environment variable; the program varies it within a launch, as the only "
        "setting and without --per-launch",
        setting.name);
  }
  return Pairing::None;
}

std::string fewest_warning(View option, std::size_t launches, std::size_t tests, Pairing pairing) {
  const std::size_t needed = study::fewest_launches(tests, pairing);
  if (launches >= needed) return {};
  return fmt::format("{} can never show a difference in {}, whatever they measure: give {} {}",
                     counted(launches, "launch"), counted(tests, "comparison"), option, needed);
}

/// What the launches of a turn differ in.
struct TurnLaunch {
  std::string text{};  ///< the variant's
  Variables variables{};
  Words options{};  ///< of the program
};

/// How often a launch was made, and how it ended.
struct LaunchCounts {
  std::size_t good = 0;
  std::size_t bad = 0;
};

/// The command of a launch: its variables reach what starts the ranks and, whatever that passes on,
/// every rank; the CSV is on stdout.
Words sweep_command(const Words& command, const TurnLaunch& launch) {
  Words words = env_words(launch.variables);
  append(words, command);
  append(words, launch.options);
  for (const auto& [name, value] : launch.variables) {
    append(words, Words{"--env", encoded_word(fmt::format("{}={}", name, value))});
  }
  append(words, Words{"--csv", "-"});
  return words;
}

/// Where launches are kept: -o, else a folder that goes away.
class LaunchFolder {
 public:
  explicit LaunchFolder(std::string named) : path_(std::move(named)), is_named_(!path_.empty()) {
    if (is_named_) return;
    std::error_code error;
    path_ = (fs::temp_directory_path(error) / "busbar-launches-XXXXXX").string();
    if (error || mkdtemp(path_.data()) == nullptr) {
      throw Error(Status::Runtime,
                  "cannot make a temporary folder; let TMPDIR name one, or name one with -o");
    }
  }
  LaunchFolder(const LaunchFolder&) = delete;
  LaunchFolder& operator=(const LaunchFolder&) = delete;
  ~LaunchFolder() {
    std::error_code ignored;
    if (!is_named_) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool is_named_;
};

/// From the plan to the report.
class SweepRun {
 public:
  SweepRun(const O& options, Words command)
      : options_(options),
        pairing_(pairing_of(options)),
        rules_(plan_rules(options)),
        variants_(study::variants_of(options.settings)),
        folder_(options.folder),
        command_(std::move(command)) {
    if (rules_) study::keep_writable(*rules_, variants_);
    report_.command = judge::command_text(command_);
    report_.seed = options.seed ? *options.seed : std::random_device()();
    random_.seed(report_.seed);
    constexpr double kPercent = 100;
    report_.threshold = options.threshold_percent / kPercent;
  }

  [[nodiscard]] Status run() {
    if (!measure()) return conclude(Status::Unavailable);
    if (!rules_) return conclude(Status::Ok);
    const std::string text =
        study::rules_text(*rules_, study::size_rules(report_.result.rows), variants_);
    if (text.empty()) {
      warn("--write: no rule, since no size has a winner: nothing is written");
      return conclude(Status::Ok);
    }
    write_new(*options_.write, "--write", text);
    report_.written = *options_.write;
    if (options_.held_out > 0 && !hold_out()) return conclude(Status::Unavailable);
    if (options_.held_out == 0) return conclude(Status::Ok);
    const auto verdicts = report_.held_out.verdicts();
    if (std::ranges::count(verdicts, study::Verdict::Slower) > 0) return conclude(Status::Wrong);
    const bool confirmed = std::ranges::count(verdicts, study::Verdict::Faster) > 0;
    if (!confirmed) warn("--held-out: no row is faster with the file: no winner is confirmed");
    return conclude(confirmed ? Status::Ok : Status::Unavailable);
  }

 private:
  void warn(const std::string& warning) {
    if (warning.empty() || contains(report_.warnings, warning)) return;
    report_.warnings.push_back(warning);
    print_warnings(std::span(&warning, 1));
  }

  /// Which launches the next turn has, in an order that is drawn anew: one that failed twice and
  /// never went well is made no more; none where it is the first, with which all are compared.
  std::vector<std::size_t> next_order(const std::vector<LaunchCounts>& counts) {
    auto order = first_numbers<std::size_t>(counts.size());
    std::erase_if(order, [&](std::size_t i) { return counts[i].good == 0 && counts[i].bad > 1; });
    if (order.empty() || order.front() != 0) return {};
    shuffle(order, random_);
    return order;
  }

  /// The path of its CSV, which is empty where it failed; nothing where it was interrupted.
  std::optional<std::string> make(const TurnLaunch& launch, LaunchCounts& counts,
                                  SweepResult& result) {
    judge::LaunchResult made;
    const std::vector<judge::LaunchCommands> one{{sweep_command(command_, launch)}};
    const auto failure = judge::run_launches(
        one,
        {.timeout = options_.timeout, .at_once = 1, .stop = [&] { return watch_.wait() != 0; }},
        {.begun = {}, .ended = [&](std::size_t, const judge::LaunchResult& end) { made = end; }});
    progress_.clear();
    if (failure) throw Error(Status::Runtime, "sweep: " + *failure);
    if (made.failure == judge::kInterrupted || watch_.wait() != 0) return {};
    const std::string path = fmt::format("{}/{:04}.csv", folder_.path(), ++made_);
    if (made.failure.empty()) {
      ++counts.good;
      OutputFile(path, "-o", OutputFile::Mode::New).append(made.csv);
      return path;
    }
    ++counts.bad;
    const std::size_t turn = result.turns + 1;
    result.failures.push_back({.variant = launch.text, .turn = turn, .reason = made.failure});
    fmt::print(stderr, "busbar: {}: turn {}: {}\n", launch.text, turn, one_line(made.failure));
    return "";
  }

  /// The CSVs of a turn's launches, of which those that failed have none.
  static void add_turn(const std::vector<std::string>& made, Pairing pairing,
                       std::vector<VariantRuns>& runs) {
    for (std::size_t launch = 0; launch < made.size(); ++launch) {
      if (made[launch].empty()) continue;
      const bool together = pairing != Pairing::None;
      const std::span its = together ? std::span(runs) : std::span(runs).subspan(launch, 1);
      for (VariantRuns& variant : its) variant.add(made[launch], together);
    }
  }

  /// Makes so many turns and adds their rows to the variants. False where it was interrupted: the
  /// turn that ran then is lost.
  bool make_turns(View option, const std::vector<TurnLaunch>& launches, std::size_t turns,
                  std::vector<VariantRuns>& runs, SweepResult& result) {
    std::vector<LaunchCounts> counts(launches.size());
    while (result.turns < turns) {
      const std::vector<std::size_t> order = next_order(counts);
      if (order.empty()) break;
      std::vector<std::string> made(launches.size());
      for (const std::size_t i : order) {
        progress_.show(fmt::format("turn {}/{}: {}", result.turns + 1, turns, launches[i].text));
        auto path = make(launches[i], counts[i], result);
        if (!path) return false;
        made[i] = std::move(*path);
      }
      ++result.turns;
      add_turn(made, result.pairing, runs);
      warn_of_few(option, turns, runs, result.pairing);
    }
    return true;
  }

  void warn_of_few(View option, std::size_t turns, const std::vector<VariantRuns>& runs,
                   Pairing pairing) {
    if (runs.front().launches.empty()) return;
    const std::size_t rows = runs.front().launches.back().rows.size();
    warn(fewest_warning(option, turns, rows * (runs.size() - 1), pairing));
    if (options_.held_out == 0) return;
    warn(fewest_warning("--held-out", options_.held_out, rows, Pairing::None));
  }

  /// Launches in turns, each once in a turn; false where it was interrupted.
  bool take_turns(View option, const std::vector<TurnLaunch>& launches, std::size_t turns,
                  const std::vector<std::string>& variants, Pairing pairing, SweepResult& result) {
    std::vector<VariantRuns> runs =
        mapped(variants, [](const std::string& text) { return VariantRuns{.text = text}; });
    result = {.variants = variants, .pairing = pairing};
    const bool whole = make_turns(option, launches, turns, runs, result);
    if (!whole) {
      warn(fmt::format("interrupted after {} of {}", result.turns, counted(turns, "turn")));
    }
    for (VariantRuns& variant : runs) {
      variant.failed = count_of(result.failures, [&](const study::FailedLaunch& failure) {
        return failure.variant == variant.text;
      });
    }
    if (runs.front().launches.empty()) fail_without_rows(whole, result);
    for (const VariantRuns& variant : runs) note_problems(variant);
    result.rows = study::judge_variants(runs, report_.threshold, pairing);
    return whole;
  }

  [[noreturn]] static void fail_without_rows(bool whole, const SweepResult& result) {
    if (!whole) throw Error(Status::Runtime, "sweep: interrupted before the first turn's end");
    throw Error(Status::Runtime,
                fmt::format("sweep: no launch of the first variant gave rows: {}",
                            result.failures.empty() ? "" : result.failures.front().reason));
  }

  void note_problems(const VariantRuns& variant) {
    if (!variant.wrong.empty()) {
      warn(fmt::format("{}: {} with wrong data or a failure: no winner there", variant.text,
                       counted(variant.wrong.size(), "row")));
    }
    const bool has_rows = std::ranges::any_of(
        variant.launches, [](const study::Launch& launch) { return !launch.rows.empty(); });
    for (const Vary& setting : options_.settings) {
      if (!variant.nonblocking || !study::is_of_blocking(setting.name)) continue;
      warn(fmt::format(
          "{} is of blocking collectives, but ranks outnumber processors, so that nonblocking ones "
          "are measured: vary theirs, or give the program --progress block",
          setting.name));
    }
    if (!has_rows) warn(fmt::format("{}: no launch has rows of it", variant.text));
  }

  bool measure() {
    const std::vector<std::string> texts = mapped(variants_, &SweepVariant::text);
    std::vector<TurnLaunch> launches;
    if (pairing_ == Pairing::ByLaunch) {
      const Vary& setting = options_.settings.front();
      const std::string varied = fmt::format("{}={}", setting.name, join(setting.values, ","));
      launches.push_back({.text = setting.name, .options = {"--vary", varied}});
    } else {
      for (const SweepVariant& variant : variants_) {
        launches.push_back({.text = variant.text, .variables = variant.environment()});
      }
    }
    return take_turns("--launches", launches, options_.launches, texts, pairing_, report_.result);
  }

  /// The file against the library's own choice.
  bool hold_out() {
    const std::string path = fs::absolute(*options_.write).string();
    const std::vector<TurnLaunch> launches{
        {.text = std::string(kDefaultValue)},
        {.text = *options_.write, .variables = study::rules_environment(*rules_, path)}};
    const bool whole =
        take_turns("--held-out", launches, options_.held_out, mapped(launches, &TurnLaunch::text),
                   Pairing::None, report_.held_out);
    for (study::SweepRow& row : report_.held_out.rows) row.winner = false;  // it has no rival
    return whole;
  }

  [[nodiscard]] Status conclude(Status status) const {
    fmt::print("{}", choose_output(options_.json, sweep_json(report_), sweep_text(report_)));
    return status;
  }

  const O& options_;
  Pairing pairing_;
  std::optional<study::RuleTarget> rules_;
  std::vector<SweepVariant> variants_;
  LaunchFolder folder_;
  Words command_;
  std::mt19937_64 random_{std::mt19937_64::default_seed};  // NOLINT(cert-msc51-cpp)
  InterruptWatch watch_{};
  ProgressLine progress_{};
  std::size_t made_ = 0;
  study::SweepReport report_{};
};

void check_command(const Arguments& line) {
  if (line.before_dashes > 0) {
    throw usage_error("sweep: unexpected argument '{}'; put -- before the command",
                      line.positionals.front());
  }
  if (line.positionals.empty()) {
    throw usage_error("sweep: no command; expected -- mpirun -np 4 ./allreduce_perf ...");
  }
  for (const std::string& word : line.positionals) {
    if (word != "--csv" && !word.starts_with("--csv=")) continue;
    throw usage_error("sweep: the command has --csv, which sweep gives; keep CSVs with -o DIR");
  }
}

Status run(O& options, const Arguments& line) {
  check_command(line);
  if (options.settings.empty()) throw usage_error("sweep: nothing to vary; give --vary NAME=A,B");
  if (options.json) check_new(*options.json, "--json");
  if (!options.folder.empty()) {
    fs::create_directories(options.folder);
    if (!fs::is_empty(options.folder)) {
      throw usage_error("-o {}: the folder is not empty", options.folder);
    }
  }
  return SweepRun(options, line.positionals).run();
}

}  // namespace busbar::sweep_command_line

busbar::Command busbar::make_sweep_command() {
  return command_of<sweep_command_line::kTable, sweep_command_line::run>();
}
