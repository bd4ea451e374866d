// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_command.hpp"

#include <fmt/format.h>

#include "apps/workload_input.hpp"
#include "apps/workload_text.hpp"
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

std::string implied(const WorkloadOptions& options, const WorkloadRequest& request) {
  const std::vector<ImpliedRate> rates =
      implied_rates(request, options.ranks.front(), *options.reported_efficiency);
  if (rates.empty()) {
    throw usage_error(
        fmt::format("{}: how long does one GPU compute? give --throughput MODEL=N or --compute-ms "
                    "MODEL=N",
                    options.reported_as));
  }
  return options.json ? implied_json(options, request, rates)
                      : implied_text(options, request, rates);
}

std::string forward(const WorkloadOptions& options, const WorkloadRequest& request) {
  const WorkloadReport report = study_workload(request);
  return options.json ? workload_json(options, request, report)
                      : workload_text(options, request, report);
}

}  // namespace

Status run_workload(std::span<char* const> arguments) {
  const WorkloadOptions options = parse_workload_options(arguments);
  if (options.help) {
    fmt::print("{}{}", help_text_of("workload"), list_of_models());
    return Status::Ok;
  }
  const WorkloadRequest request = workload_request(options);
  const std::string text =
      options.reported_efficiency ? implied(options, request) : forward(options, request);
  if (options.out.empty()) {
    fmt::print("{}", text);
  } else {
    OutputFile(options.out, "-o", OutputFile::Mode::New).append(text);
    fmt::print(stderr, "busbar: wrote {}\n", options.out);
  }
  return Status::Ok;
}

}  // namespace busbar
