// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

constexpr int kMostLaunches = 10'000;
constexpr int kMostReruns = 100;

/// A whole number, or `automatic` for "auto"; `missing` where the key is.
int number_or_auto(const TomlFields& table, std::string_view key, int low, int automatic,
                   int missing) {
  const toml::node* found = table.find(key);
  if (found == nullptr) return missing;
  if (!found->is_string()) {
    return table.integer(key, low, std::numeric_limits<int>::max(), missing);
  }
  if (table.text(key) != "auto") {
    throw table.fault(key, fmt::format("{} must be a whole number or \"auto\"", key));
  }
  return automatic;
}

bool flag_or(const TomlFields& table, std::string_view key, bool missing) {
  return table.has(key) ? table.flag(key) : missing;
}

OnNoisy read_on_noisy(const TomlFields& noise) {
  static_cast<void>(noise.required("on_noisy"));
  const auto word = noise.one_of("on_noisy", {"rerun", "inconclusive", "warn"}).value_or(1);
  if (word == 0) return OnNoisy::Rerun;
  return word == 1 ? OnNoisy::Inconclusive : OnNoisy::Warn;
}

Decide read_decide(const TomlFields& noise, OnNoisy on_noisy) {
  if (noise.text("decide") == "best") {
    throw noise.fault("decide",
                      "decide = \"best\" is refused: the best of several attempts passes a bad "
                      "machine sooner or later; write \"all_samples\" or \"last\"");
  }
  const bool last = noise.one_of("decide", {"all_samples", "last"}).value_or(0) == 1;
  if (last && on_noisy != OnNoisy::Rerun) {
    throw noise.fault("decide", R"(decide = "last" means nothing without on_noisy = "rerun")");
  }
  return last ? Decide::Last : Decide::AllSamples;
}

}  // namespace

void read_run_numbers(const TomlFields& table, RunContract& run) {
  run.launches = table.integer("launches", 1, kMostLaunches, run.launches);
  run.min_launches = table.integer("min_launches", 1, kMostLaunches, run.min_launches);
  run.iterations = number_or_auto(table, "iterations", 1, 0, run.iterations);
  run.warmup = number_or_auto(table, "warmup", 0, -1, run.warmup);
  run.timeout_s = table.positive("timeout_s", run.timeout_s);
  if (run.min_launches > run.launches) {
    const std::string_view key = table.has("min_launches") ? "min_launches" : "launches";
    throw table.fault(key, fmt::format("min_launches ({}) is more than launches ({}): no verdict "
                                       "could be told",
                                       run.min_launches, run.launches));
  }
}

RunContract read_run(const TomlFields& file) {
  const TomlFields fields = table_of(file, "run");
  fields.allow_only({"launches", "min_launches", "iterations", "warmup", "check_data", "timeout_s",
                     "reach_timeout_s", "backend", "parallel", "at_once"});
  for (const char* key : {"launches", "min_launches", "timeout_s"}) {
    static_cast<void>(fields.required(key));
  }
  RunContract run;
  read_run_numbers(fields, run);
  run.check_data = flag_or(fields, "check_data", run.check_data);
  run.reach_timeout_s = fields.positive("reach_timeout_s", run.reach_timeout_s);
  if (fields.has("backend")) run.backend = fields.required_text("backend");
  run.parallel = flag_or(fields, "parallel", run.parallel);
  if (fields.has("at_once")) run.at_once = fields.integer("at_once", 1, kMostAtOnce, 1);
  return run;
}

void read_noise_numbers(const TomlFields& table, NoiseGate& noise) {
  noise.max_cv = table.positive("max_cv", noise.max_cv);
  if (noise.max_cv > 1) {
    throw table.fault("max_cv", "max_cv is a fraction: 0.02 is 2 %; it must be at most 1");
  }
  if (table.has("max_reruns") && noise.on_noisy != OnNoisy::Rerun) {
    throw table.fault("max_reruns", "max_reruns means nothing without on_noisy = \"rerun\"");
  }
  noise.max_reruns = table.integer("max_reruns", 0, kMostReruns, noise.max_reruns);
}

NoiseGate read_noise(const TomlFields& file) {
  const TomlFields fields = table_of(file, "noise");
  fields.allow_only({"max_cv", "on_noisy", "max_reruns", "decide"});
  static_cast<void>(fields.required("max_cv"));
  NoiseGate noise{.on_noisy = read_on_noisy(fields)};
  if (noise.on_noisy == OnNoisy::Rerun) static_cast<void>(fields.required("max_reruns"));
  read_noise_numbers(fields, noise);
  noise.decide = read_decide(fields, noise.on_noisy);
  return noise;
}

}  // namespace busbar::judge
