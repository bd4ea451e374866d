// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "study/dataset.hpp"

namespace busbar {
namespace {

std::vector<WorkloadModel> chosen_models(const WorkloadOptions& options) {
  const std::vector<WorkloadModel> known = options.models_file.empty()
                                               ? built_in_workload_models()
                                               : workload_models_with(options.models_file);
  std::vector<WorkloadModel> chosen;
  for (const std::string& name : options.models) {
    chosen.push_back(find_workload_model(known, "--model", name));
    const std::string& found = chosen.back().name;
    if (std::count_if(chosen.begin(), chosen.end(),
                      [&](const WorkloadModel& model) { return model.name == found; }) > 1) {
      throw usage_error(fmt::format("--model: {} is there twice", found));
    }
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
            const std::vector<WorkloadModel>& models, Give give) {
  for (const Assigned<double>& number : numbers) {
    if (number.name.empty() && models.size() > 1) {
      throw usage_error(
          fmt::format("{} {}: of which model? write {} MODEL={}, or choose one --model", option,
                      number.value, option, number.value));
    }
    const WorkloadModel& model =
        number.name.empty() ? models.front() : find_workload_model(models, option, number.name);
    give(static_cast<std::size_t>(&model - models.data()), number.value);
  }
}

/// A step's computing of the model's published figure, where it is for this type.
void take_published_throughput(WorkloadCase& job, const WorkloadOptions& options) {
  const auto& published = job.model.throughput;
  if (!published || !job.batch || published->type != info(options.type).name) return;
  job.compute_s = *job.batch / published->per_second;
  job.compute_assumed = true;
  job.compute_source = fmt::format("{:g} {} at {:g}/s of one {}: {}", *job.batch, job.model.unit,
                                   published->per_second, published->device, published->source);
}

std::vector<WorkloadCase> read_cases(const WorkloadOptions& options) {
  constexpr double kMilli = 1e3;
  const std::vector<WorkloadModel> models = chosen_models(options);
  std::vector<WorkloadCase> cases;
  for (const WorkloadModel& model : models) {
    cases.push_back({.model = model,
                     .bytes = gradient_bytes(model, static_cast<double>(info(options.type).size))});
    if (!model.batches.empty()) cases.back().batch = model.batches.front().size;
  }
  assign("--batch", options.batch, models,
         [&](std::size_t i, double batch) { cases[i].batch = batch; });
  for (WorkloadCase& job : cases) take_published_throughput(job, options);
  assign("--throughput", options.throughput, models, [&](std::size_t i, double per_second) {
    WorkloadCase& job = cases[i];
    if (!job.batch) {
      throw usage_error(
          fmt::format("--throughput: {0} has no batch; add --batch {0}=N", job.model.name));
    }
    job.compute_s = *job.batch / per_second;
    job.compute_assumed = false;
    job.compute_source =
        fmt::format("{:g} {} at {:g}/s (--throughput)", *job.batch, job.model.unit, per_second);
  });
  assign("--compute-ms", options.compute_ms, models, [&](std::size_t i, double ms) {
    if (cases[i].compute_source.ends_with("(--throughput)")) {
      throw usage_error(fmt::format(
          "--compute-ms: {} has --throughput, which says the same; give one", models[i].name));
    }
    cases[i].compute_s = ms / kMilli;
    cases[i].compute_assumed = false;
    cases[i].compute_source = "--compute-ms";
  });
  return cases;
}

std::vector<SystemRates> read_systems(const WorkloadOptions& options) {
  std::vector<Dataset> datasets;
  for (const Assigned<std::string>& curve : options.curves) {
    datasets.push_back(load_dataset(curve.value));
    if (!curve.name.empty()) datasets.back().label = curve.name;
  }
  std::vector<SystemRates> systems = rates_of(
      datasets, {.type = std::string(info(options.type).name), .in_place = options.in_place});
  for (const Assigned<double>& rate : options.busbw) {
    const std::string name = rate.name.empty() ? fmt::format("{:g}-GBps", rate.value) : rate.name;
    const bool twice = std::any_of(systems.begin(), systems.end(),
                                   [&](const SystemRates& known) { return known.system == name; });
    if (twice) {
      throw usage_error(fmt::format("--busbw: there are two systems '{}'; name them apart", name));
    }
    systems.push_back({.system = name, .constant_GBps = rate.value});
  }
  return systems;
}

}  // namespace

WorkloadRequest workload_request(const WorkloadOptions& options) {
  return {.cases = read_cases(options),
          .systems = read_systems(options),
          .ranks = options.ranks,
          .bucket_bytes = static_cast<double>(options.bucket),
          .overlaps = options.overlaps,
          .target = options.target,
          .strong = options.strong};
}

}  // namespace busbar
