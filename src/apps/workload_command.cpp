// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/output_file.hpp"
#include "study/dataset.hpp"
#include "study/workload/output.hpp"
#include "study/workload/simai.hpp"

namespace busbar {
namespace workload_command {

constexpr double kLeast = 1e-9;
constexpr double kMost = 1e15;

/// "[NAME=]VALUE"; no name: of the only one there is.
template <class Value>
struct Assigned {
  std::string name{};
  Value value{};
};

/// Options of `busbar workload`; what a request has of them is in it.
struct WorkloadOptions {
  std::vector<Assigned<std::string>> curves{};  ///< systems and files
  std::string setting{};                        ///< of curves with rows of several
  std::vector<Assigned<double>> busbw{};        ///< systems and GB/s
  bool in_place = false;

  std::vector<std::string> models{};
  std::string models_file{};
  std::optional<double> parameters{};
  std::vector<Assigned<double>> throughput{};
  std::vector<Assigned<double>> compute_ms{};
  std::vector<Assigned<double>> batch{};

  std::optional<double> speedup{};
  study::WorkloadRequest request{.target = 0.9};

  std::optional<std::string> json{};
  bool markdown = false;
  std::string csv{};    ///< a new file of rows, beside the text
  std::string out{};    ///< a new file instead of standard output
  std::string simai{};  ///< a new file of rates, instead of steps
};

using O = WorkloadOptions;

/// "dgx-2=x.csv" has a name, "./a=b.csv" has none.
Assigned<std::string> parse_assigned(View text) {
  const std::size_t equals = text.find('=');
  if (equals == View::npos || text.find('/') < equals) return {.value = std::string(text)};
  return {.name = std::string(text.substr(0, equals)),
          .value = std::string(text.substr(equals + 1))};
}

template <auto Member>
void add_number(O& options, View option, View text) {
  const Assigned<std::string> parts = parse_assigned(text);
  (options.*Member)
      .push_back({.name = parts.name, .value = parse_number(option, parts.value, kLeast, kMost)});
}

/// The parts of a list, none of which is empty.
std::vector<std::string> parse_list(View option, View text) {
  std::vector<std::string> parts = split(text, ',');
  if (std::ranges::find(parts, "") == parts.end()) return parts;
  throw usage_error("{}: '{}' has an empty part", option, text);
}

void add_ranks(O& options, View option, View text) {
  constexpr int kMostRanks = 10'000'000;
  std::vector<int>& ranks = options.request.ranks;
  for (const std::string& part : parse_list(option, text)) {
    ranks.push_back(static_cast<int>(parse_integer(option, part, 2, kMostRanks)));
  }
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

/// A share as 0.5 or 1/2.
double parse_share(View option, View text) {
  const std::size_t slash = text.find('/');
  if (slash == View::npos) return parse_number(option, text, 0, 1);
  const double over = parse_number(option, text.substr(0, slash), 0, kMost);
  const double under = parse_number(option, text.substr(slash + 1), kLeast, kMost);
  if (over > under) {
    throw usage_error("{}: {} is out of range; give 0 to 1", option, text);
  }
  return over / under;
}

/// A share above 0 and below 1.
double parse_inner_share(View option, View text) {
  const double share = parse_share(option, text);
  if (share > 0 && share < 1) return share;
  throw usage_error("{}: {} is out of range; give a number above 0 and below 1", option, text);
}

void set_type(O& options, View option, View text) {
  std::vector<std::string> names;
  std::vector<DataType> types;
  for (const TypeInfo& known : kTypes) {
    if (!known.floating) continue;
    names.emplace_back(known.name);
    types.push_back(known.type);
  }
  options.request.type = types[parse_choice(option, text, names)];
}

/// --efficiency, --share and --speedup, of which the last is an efficiency once the ranks are
/// known.
void set_reported(O& options, View option, View text) {
  options.request.reported_as = fmt::format("{} {}", option, text);
  if (option == "--speedup") {
    options.speedup = parse_number(option, text, kLeast, kMost);
    return;
  }
  const double share = parse_inner_share(option, text);
  options.request.reported_efficiency = option == "--share" ? 1 - share : share;
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--curve", "[NAME=]FILE", [](O& o, View, View v) { o.curves.push_back(parse_assigned(v)); }},
    {"--setting", "TEXT", set::value<&O::setting>},
    {"--busbw", "[NAME=]GBPS", add_number<&O::busbw>},
    {"--ranks", "LIST", add_ranks},
    {"--in-place", "", set::value<&O::in_place>},
    {"--model", "LIST",
     [](O& o, View n, View v) {
       for (std::string& model : parse_list(n, v)) o.models.push_back(std::move(model));
     }},
    {"--models", "FILE", set::value<&O::models_file>},
    {"--parameters", "N",
     [](O& o, View n, View v) { o.parameters = parse_number(n, v, 1, kMost); }},
    {"--dtype", "TYPE", set_type},
    {"--bucket", "SIZE",
     [](O& o, View n, View v) { o.request.bucket = parse_positive_bytes(n, v); }},
    {"--throughput", "[MODEL=]N", add_number<&O::throughput>},
    {"--compute-ms", "[MODEL=]N", add_number<&O::compute_ms>},
    {"--batch", "[MODEL=]N", add_number<&O::batch>},
    {"--overlap", "X",
     [](O& o, View n, View v) {
       for (const std::string& part : parse_list(n, v)) {
         o.request.overlaps.push_back(parse_share(n, part));
       }
     }},
    {"--strong", "", [](O& o, View, View) { o.request.strong = true; }},
    {"--target", "E", [](O& o, View n, View v) { o.request.target = parse_inner_share(n, v); }},
    {"--efficiency", "E", set_reported},
    {"--share", "S", set_reported},
    {"--speedup", "X", set_reported},
    {"--json", "[=FILE]", set::value<&O::json>},
    {"--markdown", "", set::value<&O::markdown>},
    {"--csv", "FILE", set::value<&O::csv>},
    {"--simai", "FILE", set::file<&O::simai>},
    {"-o,--output", "FILE", set::value<&O::out>},
});
constexpr std::array<View, 4> kExclusive{"--json,--markdown,--simai",
                                         "--efficiency,--share,--speedup,--simai", "--simai,--csv",
                                         "--simai,-o"};
constexpr CommandLineTable<O> kTable{{.program = "busbar workload",
                                      .help = "docs/workload-options.md",
                                      .most_positionals = 0,
                                      .exclusive = kExclusive},
                                     kOptions};

/// What depends on several options.
void complete(O& options) {
  constexpr double kTwoThirds = 2.0 / 3;  // the backward pass, which yields the gradients
  study::WorkloadRequest& request = options.request;
  if (request.overlaps.empty()) request.overlaps = {0, kTwoThirds};
  if (!request.reported_as.empty() && request.ranks.size() != 1) {
    throw usage_error("{} needs one number of ranks: --ranks N", request.reported_as);
  }
  if (options.speedup) {
    if (*options.speedup >= request.ranks.front()) {
      throw usage_error("{} is linear or better on {} ranks and implies no rate; give less than {}",
                        request.reported_as, request.ranks.front(), request.ranks.front());
    }
    request.reported_efficiency = *options.speedup / request.ranks.front();
  }
  if (!options.csv.empty() && options.csv == options.out) {
    throw usage_error("--csv and -o name the same file, {}; give another", options.csv);
  }
  if (options.curves.empty() && options.busbw.empty() && !request.reported_efficiency) {
    throw usage_error(
        "workload: missing rates; give --curve FILE.csv of allreduce_perf, or --busbw GBPS");
  }
}

std::vector<study::WorkloadModel> chosen_models(const O& options) {
  const std::vector<study::WorkloadModel> known =
      options.models_file.empty() ? study::built_in_workload_models()
                                  : study::workload_models_with(options.models_file);
  std::vector<study::WorkloadModel> chosen;
  for (const std::string& name : options.models) {
    const study::WorkloadModel& found = study::find_workload_model(known, "--model", name);
    if (any_has(chosen, found.name, &study::WorkloadModel::name)) {
      throw usage_error("--model: {} is given twice", found.name);
    }
    chosen.push_back(found);
  }
  if (options.parameters) {
    chosen.push_back({.name = "given",
                      .title = "--parameters",
                      .parameters = *options.parameters,
                      .unit = "samples",
                      .source = "--parameters"});
  }
  return chosen.empty() ? known : chosen;
}

/// Gives each number of an option to its model.
template <class Give>
void assign(std::string_view option, const std::vector<Assigned<double>>& numbers,
            const std::vector<study::WorkloadModel>& models, Give give) {
  for (const Assigned<double>& number : numbers) {
    if (number.name.empty() && models.size() > 1) {
      throw usage_error("{} {}: missing model; write {} MODEL={}, or choose one --model", option,
                        number.value, option, number.value);
    }
    const study::WorkloadModel& model =
        number.name.empty() ? models.front()
                            : study::find_workload_model(models, option, number.name);
    give(static_cast<std::size_t>(&model - models.data()), number.value);
  }
}

/// The computing time that follows from the model's published throughput, if it has one for this
/// type.
void take_published_throughput(study::WorkloadCase& job, const O& options) {
  const auto& published = job.model.throughput;
  if (!published || !job.batch || published->type != info(options.request.type).name) return;
  job.compute_s = *job.batch / published->per_second;
  job.compute_assumed = true;
  job.compute_source = fmt::format("{:g} {} at {:g}/s of one {}: {}", *job.batch, job.model.unit,
                                   published->per_second, published->device, published->source);
}

std::vector<study::WorkloadCase> read_cases(const O& options) {
  const std::vector<study::WorkloadModel> models = chosen_models(options);
  const auto size = static_cast<double>(info(options.request.type).size);
  std::vector<study::WorkloadCase> cases;
  for (const study::WorkloadModel& model : models) {
    cases.push_back({.model = model, .bytes = model.parameters * size});
    if (!model.batches.empty()) cases.back().batch = model.batches.front().size;
  }
  assign("--batch", options.batch, models,
         [&](std::size_t i, double batch) { cases[i].batch = batch; });
  for (study::WorkloadCase& job : cases) take_published_throughput(job, options);
  const auto set_time = [&](study::WorkloadCase& job, double compute_s, std::string source) {
    job.compute_s = compute_s;
    job.compute_assumed = false;
    job.compute_source = std::move(source);
  };
  assign("--throughput", options.throughput, models, [&](std::size_t i, double per_second) {
    study::WorkloadCase& job = cases[i];
    if (!job.batch) {
      throw usage_error("--throughput: {0} has no batch; add --batch {0}=N", job.model.name);
    }
    set_time(
        job, *job.batch / per_second,
        fmt::format("{:g} {} at {:g}/s (--throughput)", *job.batch, job.model.unit, per_second));
  });
  assign("--compute-ms", options.compute_ms, models, [&](std::size_t i, double ms) {
    if (cases[i].compute_source.ends_with("(--throughput)")) {
      throw usage_error("--throughput and --compute-ms are mutually exclusive for {}",
                        models[i].name);
    }
    set_time(cases[i], ms / study::kMilli, "--compute-ms");
  });
  return cases;
}

std::vector<study::SystemRates> read_systems(const O& options) {
  std::vector<study::Dataset> datasets;
  for (const Assigned<std::string>& curve : options.curves) {
    datasets.push_back(study::load_dataset(curve.value));
    keep_setting(datasets.back(), options.setting);
    if (!curve.name.empty()) datasets.back().label = curve.name;
  }
  study::RatesRequest request{.type = std::string(info(options.request.type).name),
                              .in_place = options.in_place};
  if (!options.simai.empty()) request.collectives = study::simai_collectives();
  std::vector<study::SystemRates> systems = study::rates_of(datasets, request);
  for (const Assigned<double>& rate : options.busbw) {
    const std::string name = rate.name.empty() ? fmt::format("{:g}-GBps", rate.value) : rate.name;
    if (any_has(systems, name, &study::SystemRates::system)) {
      throw usage_error("--busbw: two systems are named '{}'; give each its own name", name);
    }
    systems.push_back({.system = name, .constant_GBps = rate.value});
  }
  return systems;
}

std::string list_of_models() {
  std::string text = "\nModels for --model (batches per GPU):\n";
  for (const study::WorkloadModel& model : study::built_in_workload_models()) {
    text += fmt::format("  {:<11} {:>7g} M parameters  {}\n", model.name, model.parameters / 1e6,
                        join_each(model.batches, ", ", [](const study::WorkloadBatch& batch) {
                          return batch.device.empty()
                                     ? fmt::format("{}", batch.size)
                                     : fmt::format("{} ({})", batch.size, batch.device);
                        }));
  }
  return text;
}

/// A result: for standard output or -o, and for --csv.
struct CommandOutput {
  std::string json{};
  std::string text{};
  std::string csv{};
};

CommandOutput implied(const O& options) {
  const study::WorkloadRequest& request = options.request;
  const std::vector<study::ImpliedRate> rates =
      study::implied_rates(request, request.ranks.front(), *request.reported_efficiency);
  if (rates.empty()) {
    throw usage_error(
        "{}: missing computing time of one GPU; give --throughput MODEL=N or --compute-ms MODEL=N",
        request.reported_as);
  }
  return {.json = study::implied_json(request, rates),
          .text = study::implied_text(request, rates, options.markdown),
          .csv = study::implied_csv(request, rates)};
}

CommandOutput forward(const O& options) {
  const study::WorkloadReport report = study::study_workload(options.request);
  return {.json = study::workload_json(options.request, report),
          .text = study::workload_text(options.request, report, options.markdown),
          .csv = study::workload_csv(options.request, report)};
}

constexpr std::string_view kCsvOption = "workload --csv";
constexpr std::string_view kOutOption = "workload -o";

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help, list_of_models());
  complete(options);
  check_new(options.csv, kCsvOption);
  check_new(options.out, kOutOption);
  check_new(options.simai, "--simai");
  if (!options.simai.empty()) {
    const std::vector<int>& ranks = options.request.ranks;
    if (ranks.size() > 1) throw usage_error("--simai needs one number of ranks: --ranks N");
    write_new(options.simai, "--simai",
              study::simai_yaml(read_systems(options),
                                ranks.empty() ? std::nullopt : std::optional(ranks.front())));
    return Status::Ok;
  }
  options.request.cases = read_cases(options);
  options.request.systems = read_systems(options);
  const CommandOutput texts =
      options.request.reported_efficiency ? implied(options) : forward(options);
  for (const study::WorkloadCase& job : options.request.cases) {
    if (job.compute_assumed) fmt::print(stderr, "busbar: assumed: {}\n", study::assumption(job));
  }
  if (!options.csv.empty()) write_new(options.csv, kCsvOption, texts.csv);
  const std::string shown = choose_output(options.json, texts.json, texts.text);
  if (options.out.empty()) {
    fmt::print("{}", shown);
  } else {
    write_new(options.out, kOutOption, shown);
  }
  return Status::Ok;
}

}  // namespace workload_command

Status run_workload(std::span<char* const> arguments) { return workload_command::run(arguments); }
CommandLineSyntax workload_syntax() { return syntax_of(workload_command::kTable); }

}  // namespace busbar
