// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_command.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "apps/workload_input.hpp"
#include "apps/workload_text.hpp"
#include "apps/workload_words.hpp"
#include "harness/cli.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

std::string list_of_models() {
  std::string text = "\nModels for --model (batches per GPU):\n";
  for (const WorkloadModel& model : built_in_workload_models()) {
    std::string batches;
    for (const WorkloadBatch& batch : model.batches) {
      batches += fmt::format("{}{} ({})", batches.empty() ? "" : ", ", batch.size, batch.device);
    }
    text += fmt::format("  {:<11} {:>7g} M parameters  {}\n", model.name, model.parameters / 1e6,
                        batches);
  }
  return text;
}

/// What a request came to: for standard output or -o, and for --csv.
struct Texts {
  std::string shown{};
  std::string csv{};
};

Texts implied(const WorkloadOptions& options, const WorkloadRequest& request) {
  const std::vector<ImpliedRate> rates =
      implied_rates(request, options.ranks.front(), *options.reported_efficiency);
  if (rates.empty()) {
    throw usage_error(
        fmt::format("{}: how long does one GPU compute? give --throughput MODEL=N or --compute-ms "
                    "MODEL=N",
                    options.reported_as));
  }
  return {.shown = options.json ? implied_json(options, request, rates)
                                : implied_text(options, request, rates),
          .csv = implied_csv(options, request, rates)};
}

Texts forward(const WorkloadOptions& options, const WorkloadRequest& request) {
  const WorkloadReport report = study_workload(request);
  return {.shown = options.json ? workload_json(options, request, report)
                                : workload_text(options, request, report),
          .csv = workload_csv(options, request, report)};
}

constexpr std::string_view kCsvOption = "workload --csv";
constexpr std::string_view kOutOption = "workload -o";

/// Opening an existing file refuses one that has something in it; a new one is made when there is
/// something to write.
void refuse_existing(const std::string& path, std::string_view option) {
  if (std::filesystem::exists(path)) OutputFile(path, option, OutputFile::Mode::New);
}

void write(const std::string& path, std::string_view option, std::string_view text) {
  OutputFile(path, option, OutputFile::Mode::New).append(text);
  fmt::print(stderr, "busbar: wrote {}\n", path);
}

}  // namespace

Status run_workload(std::span<char* const> arguments) {
  const WorkloadOptions options = parse_workload_options(arguments);
  if (options.help) {
    fmt::print("{}{}", help_text_of("workload"), list_of_models());
    return Status::Ok;
  }
  refuse_existing(options.csv, kCsvOption);
  refuse_existing(options.out, kOutOption);
  const WorkloadRequest request = workload_request(options);
  const Texts texts =
      options.reported_efficiency ? implied(options, request) : forward(options, request);
  for (const WorkloadCase& job : request.cases) {
    if (job.compute_assumed) fmt::print(stderr, "busbar: assumed: {}\n", assumption(job));
  }
  if (!options.csv.empty()) write(options.csv, kCsvOption, texts.csv);
  if (options.out.empty()) {
    fmt::print("{}", texts.shown);
  } else {
    write(options.out, kOutOption, texts.shown);
  }
  return Status::Ok;
}

}  // namespace busbar
