// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "study/dataset.hpp"
#include "study/workload/workload.hpp"

namespace busbar::workload_command {

constexpr double kLeast = 1e-9;
constexpr double kMost = 1e15;

/// Options of `busbar workload`; what a request has of them is in it.
struct WorkloadOptions {
  std::vector<std::string> curves{};  ///< files
  std::string setting{};              ///< of curves with rows of several
  std::vector<double> busbw_GBps{};
  std::set<int> ranks{};  ///< none: those of the curves
  std::vector<std::string> models{};
  std::string models_file{};
  std::optional<double> parameters{};
  std::optional<double> throughput{};
  std::optional<double> compute_ms{};
  std::optional<double> batch{};
  study::WorkloadRequest request{};
  std::optional<std::string> json{};
};

using O = WorkloadOptions;

template <auto Member>
void set_number(O& options, View option, View text) {
  options.*Member = parse_number(option, text, kLeast, kMost);
}

void add_ranks(O& options, View option, View text) {
  constexpr int kMostRanks = 10'000'000;
  for (const std::string& part : split(text, ',')) {
    options.ranks.insert(static_cast<int>(parse_integer(option, part, 2, kMostRanks)));
  }
}

void set_type(O& options, View option, View text) {
  const auto types = filtered(kTypes, &TypeInfo::floating);
  const auto names = mapped<std::string>(types, &TypeInfo::name);
  options.request.type = types[parse_choice(option, text, names)].type;
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--curve", "FILE", set::value<&O::curves>},
    {"--setting", "TEXT", set::value<&O::setting>},
    {"--busbw", "GBPS",
     [](O& o, View n, View v) { o.busbw_GBps.push_back(parse_number(n, v, kLeast, kMost)); }},
    {"--ranks", "LIST", add_ranks},
    {"--model", "LIST", [](O& o, View, View v) { append(o.models, split(v, ',')); }},
    {"--models", "FILE", set::file<&O::models_file>},
    {"--parameters", "N",
     [](O& o, View n, View v) { o.parameters = parse_number(n, v, 1, kMost); }},
    {"--dtype", "TYPE", set_type},
    {"--bucket", "SIZE",
     [](O& o, View n, View v) { o.request.bucket = parse_positive_bytes(n, v); }},
    {"--throughput", "N", set_number<&O::throughput>},
    {"--compute-ms", "N", set_number<&O::compute_ms>},
    {"--batch", "N", set_number<&O::batch>},
    {"--overlap", "X",
     [](O& o, View n, View v) { o.request.overlaps.push_back(parse_number(n, v, 0, 1)); }},
    {"--target", "E",
     [](O& o, View n, View v) { o.request.target = parse_number(n, v, 0.001, 0.999); }},
    {"--json", "[=FILE]", set::value<&O::json>},
});
constexpr std::array<View, 1> kExclusive{"--throughput,--compute-ms"};
constexpr CommandLineTable<O> kTable{{.program = "busbar workload",
                                      .help = "docs/workload-options.md",
                                      .most_positionals = 0,
                                      .exclusive = kExclusive},
                                     kOptions};

std::vector<study::WorkloadModel> chosen_models(const O& options) {
  std::vector<study::WorkloadModel> known = study::built_in_workload_models();
  if (!options.models_file.empty()) {
    const auto text = read_file(options.models_file);
    if (!text) throw usage_error("--models {}: this file cannot be read", options.models_file);
    study::add_workload_models(known, *text, options.models_file);
  }
  const auto names = mapped(known, &study::WorkloadModel::name);
  auto chosen = mapped(options.models, [&](const std::string& name) {
    return known[parse_choice("--model", name, names)];
  });
  if (options.parameters) chosen.push_back({.name = "given", .parameters = *options.parameters});
  if (chosen.empty()) chosen = known;
  if (chosen.size() > 1 && (options.throughput || options.compute_ms || options.batch)) {
    throw usage_error("--throughput, --compute-ms and --batch are of one model: --model NAME");
  }
  return chosen;
}

study::WorkloadCase case_of(const study::WorkloadModel& model, const O& options) {
  const Bytes size = info(options.request.type).size;
  study::WorkloadCase job{.model = model.name,
                          .bytes = static_cast<Bytes>(std::round(model.parameters)) * size};
  if (options.compute_ms) job.compute_s = *options.compute_ms / 1e3;
  if (options.throughput) {
    const double batch = options.batch.value_or(model.batch);
    if (batch == 0) throw usage_error("--throughput: {} has no batch; add --batch N", model.name);
    job.compute_s = batch / *options.throughput;
  }
  return job;
}

std::vector<study::RateCurve> read_curves(const O& options) {
  std::vector<study::Dataset> datasets;
  for (const std::string& path : options.curves) {
    datasets.push_back(study::load_dataset(path));
    keep_setting(datasets.back(), options.setting);
  }
  std::vector<study::RateCurve> curves = study::rates_of(datasets, info(options.request.type).name);
  const auto measured = set_of(curves, &study::RateCurve::ranks);
  std::set<int> ranks = options.ranks.empty() ? measured : options.ranks;
  if (ranks.empty()) ranks = {2, 4, 8, 16};
  constexpr Bytes kAnySize = std::numeric_limits<Bytes>::max();
  for (const double GBps : options.busbw_GBps) {
    for (const int n : ranks) {
      curves.push_back({fmt::format("{:g}-GBps", GBps), n, false, {{1, GBps}, {kAnySize, GBps}}});
    }
  }
  if (curves.empty()) {
    throw usage_error(
        "workload: missing rates; give --curve FILE.csv of allreduce_perf, or --busbw GBPS");
  }
  std::erase_if(curves, [&](const auto& curve) { return !ranks.contains(curve.ranks); });
  for (const int wanted : ranks) {
    if (any_has(curves, wanted, &study::RateCurve::ranks)) continue;
    throw usage_error("--ranks {}: no curve has that many ranks; there are {}", wanted,
                      fmt::join(measured, ", "));
  }
  return curves;
}

Status run(O& options, const Arguments& /*line*/) {
  constexpr double kTwoThirds = 2.0 / 3;  // the backward pass, which yields the gradients
  study::WorkloadRequest& request = options.request;
  if (request.overlaps.empty()) request.overlaps = {0, kTwoThirds};
  request.curves = read_curves(options);
  request.cases = mapped(chosen_models(options), [&](const study::WorkloadModel& model) {
    return case_of(model, options);
  });
  fmt::print("{}", choose_output(options.json, study::workload_json(request),
                                 study::workload_text(request)));
  return Status::Ok;
}

}  // namespace busbar::workload_command

busbar::Command busbar::make_workload_command() {
  return command_of<workload_command::kTable, workload_command::run>();
}
