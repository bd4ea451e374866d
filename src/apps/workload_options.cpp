// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_options.hpp"

#include <algorithm>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "apps/command_parser.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "study/workload_inverse.hpp"

namespace busbar {
namespace {

constexpr int kMostRanks = 10'000'000;
constexpr double kLeast = 1e-9;
constexpr double kMost = 1e15;

/// Texts of options before they have a meaning.
struct Texts {
  std::vector<std::string> curves{};
  std::vector<std::string> busbw{};
  std::vector<std::string> ranks{};
  std::vector<std::string> models{};
  std::vector<std::string> throughput{};
  std::vector<std::string> compute_ms{};
  std::vector<std::string> batch{};
  std::vector<std::string> overlaps{};
  std::string parameters{};
  std::string type{};
  std::string bucket{};
  std::string target{};
  std::string efficiency{};
  std::string share{};
  std::string speedup{};
};

void declare(CLI::App& app, WorkloadOptions& options, Texts& texts) {
  app.set_help_flag();
  app.allow_extras();
  app.add_flag("-h,--help", options.help);
  app.add_option("--curve", texts.curves);
  app.add_option("--busbw", texts.busbw);
  app.add_option("--ranks", texts.ranks);
  app.add_flag("--in-place", options.in_place);
  app.add_option("--model", texts.models);
  app.add_option("--models", options.models_file);
  app.add_option("--parameters", texts.parameters);
  app.add_option("--dtype", texts.type);
  app.add_option("--bucket", texts.bucket);
  app.add_option("--throughput", texts.throughput);
  app.add_option("--compute-ms", texts.compute_ms);
  app.add_option("--batch", texts.batch);
  app.add_option("--overlap", texts.overlaps);
  app.add_flag("--strong", options.strong);
  app.add_option("--target", texts.target);
  app.add_option("--efficiency", texts.efficiency);
  app.add_option("--share", texts.share);
  app.add_option("--speedup", texts.speedup);
  app.add_flag("--json", options.json);
  app.add_flag("--markdown", options.markdown);
  app.add_option("--csv", options.csv);
  app.add_option("-o,--output", options.out);
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 1) option->allow_extra_args(false);
  }
}

/// "dgx-2=x.csv" has a name, "./a=b.csv" has none.
Assigned<std::string> parse_assigned(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || text.find('/') < equals) return {.value = text};
  return {.name = text.substr(0, equals), .value = text.substr(equals + 1)};
}

std::vector<Assigned<double>> parse_numbers(const std::string& option,
                                            const std::vector<std::string>& texts) {
  std::vector<Assigned<double>> numbers;
  for (const std::string& text : texts) {
    const Assigned<std::string> parts = parse_assigned(text);
    numbers.push_back(
        {.name = parts.name, .value = parse_number(option, parts.value, kLeast, kMost)});
  }
  return numbers;
}

/// The words of an option that may be given again and takes lists.
std::vector<std::string> parse_words(std::string_view option,
                                     const std::vector<std::string>& texts) {
  std::vector<std::string> words;
  for (const std::string& text : texts) {
    for (std::string& word : split(text, ',')) {
      if (word.empty()) throw usage_error(fmt::format("{}: '{}' has an empty part", option, text));
      words.push_back(std::move(word));
    }
  }
  return words;
}

std::vector<int> parse_ranks(const std::vector<std::string>& texts) {
  std::vector<int> ranks;
  for (const std::string& word : parse_words("--ranks", texts)) {
    ranks.push_back(static_cast<int>(parse_integer("--ranks", word, 2, kMostRanks)));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

/// A share as 0.5 or 1/2.
double parse_share(std::string_view option, const std::string& text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos) return parse_number(option, text, 0, 1);
  const double over = parse_number(option, text.substr(0, slash), 0, kMost);
  const double under = parse_number(option, text.substr(slash + 1), kLeast, kMost);
  if (over > under) {
    throw usage_error(fmt::format("{}: {} is out of range; give 0 to 1", option, text));
  }
  return over / under;
}

/// A share that is neither nothing nor all.
double parse_inner_share(std::string_view option, const std::string& text, std::string_view why) {
  const double share = parse_share(option, text);
  if (share > 0 && share < 1) return share;
  throw usage_error(fmt::format("{}: {} {}; give a number above 0 and below 1", option, text, why));
}

DataType parse_type(const std::string& text) {
  std::vector<std::string> names;
  for (const TypeInfo& known : kTypes) {
    if (!known.floating) continue;
    if (known.name == text) return known.type;
    names.emplace_back(known.name);
  }
  throw usage_error(
      fmt::format("--dtype: gradients are none of '{}'; there are {}", text, join(names, ", ")));
}

/// A speed-up needs the number of ranks that it was reached with.
double efficiency_of(const std::string& text, const std::vector<int>& ranks) {
  const double speedup = parse_number("--speedup", text, kLeast, kMost);
  if (ranks.size() != 1) {
    throw usage_error("--speedup: of how many ranks? give one --ranks N");
  }
  if (speedup >= ranks.front()) {
    throw usage_error(
        fmt::format("--speedup: {} on {} ranks is linear or better, which tells nothing of the "
                    "links; give less than {}",
                    text, ranks.front(), ranks.front()));
  }
  return efficiency_of_speedup(speedup, ranks.front());
}

void apply_reported(WorkloadOptions& options, const Texts& texts) {
  constexpr std::string_view kWhy = "tells nothing of the links";
  const auto given = [&](const std::string& text, std::string_view option) {
    if (text.empty()) return false;
    if (!options.reported_as.empty()) {
      throw usage_error("--efficiency, --share and --speedup say the same; give one");
    }
    options.reported_as = fmt::format("{} {}", option, text);
    return true;
  };
  if (given(texts.efficiency, "--efficiency")) {
    options.reported_efficiency = parse_inner_share("--efficiency", texts.efficiency, kWhy);
  }
  if (given(texts.share, "--share")) {
    options.reported_efficiency =
        efficiency_of_share(parse_inner_share("--share", texts.share, kWhy));
  }
  if (given(texts.speedup, "--speedup")) {
    options.reported_efficiency = efficiency_of(texts.speedup, options.ranks);
  }
  if (options.reported_efficiency && options.ranks.size() != 1) {
    throw usage_error(
        fmt::format("{}: reported of how many ranks? give one --ranks N", options.reported_as));
  }
}

void apply(WorkloadOptions& options, const Texts& texts) {
  constexpr double kTwoThirds = 2.0 / 3;  // the backward pass, of which gradients come
  for (const std::string& text : texts.curves) options.curves.push_back(parse_assigned(text));
  options.busbw = parse_numbers("--busbw", texts.busbw);
  options.ranks = parse_ranks(texts.ranks);
  options.models = parse_words("--model", texts.models);
  options.throughput = parse_numbers("--throughput", texts.throughput);
  options.compute_ms = parse_numbers("--compute-ms", texts.compute_ms);
  options.batch = parse_numbers("--batch", texts.batch);
  for (const std::string& word : parse_words("--overlap", texts.overlaps)) {
    options.overlaps.push_back(parse_share("--overlap", word));
  }
  if (options.overlaps.empty()) options.overlaps = {0, kTwoThirds};
  if (!texts.parameters.empty()) {
    options.parameters = parse_number("--parameters", texts.parameters, 1, kMost);
  }
  if (!texts.type.empty()) options.type = parse_type(texts.type);
  if (!texts.bucket.empty()) {
    options.bucket = parse_bytes("--bucket", texts.bucket);
    if (options.bucket == 0) {
      throw usage_error("--bucket: 0 is no size; leave it out for one message");
    }
  }
  if (!texts.target.empty()) {
    options.target = parse_inner_share("--target", texts.target, "is no aim");
  }
  apply_reported(options, texts);
}

void check(const CLI::App& app, const WorkloadOptions& options) {
  for (const std::string& word : app.remaining()) {
    if (word.starts_with('-')) {
      throw usage_error(fmt::format("unknown option {}; see busbar workload -h", word));
    }
    throw usage_error(fmt::format(
        "workload: '{}' follows no option; a curve is given by --curve {}", word, word));
  }
  if (options.json && options.markdown) {
    throw usage_error("--json and --markdown are two forms; give one");
  }
  if (!options.csv.empty() && options.csv == options.out) {
    throw usage_error(fmt::format("--csv and -o: {} is one file; give each a name", options.csv));
  }
  if (options.curves.empty() && options.busbw.empty() && !options.reported_efficiency) {
    throw usage_error(
        "workload: how fast are the links? give --curve FILE.csv of allreduce_perf, or --busbw "
        "GBPS");
  }
}

}  // namespace

WorkloadOptions parse_workload_options(std::span<char* const> arguments) {
  WorkloadOptions options;
  Texts texts;
  CLI::App app;
  declare(app, options, texts);
  parse_arguments(app, arguments, "workload");
  if (options.help) return options;
  apply(options, texts);
  check(app, options);
  return options;
}

}  // namespace busbar
