// SPDX-License-Identifier: BSD-3-Clause
// The JSON of `busbar workload`; workload_text.hpp declares it.
#include <nlohmann/json.hpp>

#include "apps/workload_text.hpp"

namespace busbar {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilli = 1e3;

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json milliseconds(const std::optional<MessageTime>& time) {
  return time ? Json(time->seconds * kMilli) : Json(nullptr);
}

Json models_json(const WorkloadRequest& request) {
  Json models = Json::array();
  for (const WorkloadCase& job : request.cases) {
    models.push_back({{"model", job.model.name},
                      {"parameters", job.model.parameters},
                      {"gradient_bytes", job.bytes},
                      {"batch", or_null(job.batch)},
                      {"compute_ms", job.compute_s ? Json(*job.compute_s * kMilli) : Json(nullptr)},
                      {"compute_source", job.compute_source},
                      {"compute_assumed", job.compute_assumed},
                      {"source", job.model.source}});
  }
  return models;
}

Json head(const WorkloadOptions& options, const WorkloadRequest& request) {
  Json systems = Json::array();
  for (const SystemRates& system : request.systems) {
    systems.push_back({{"system", system.system},
                       {"simulated", system.simulated},
                       {"constant_GBps", or_null(system.constant_GBps)}});
  }
  return {{"label", kWorkloadLabel},
          {"dtype", info(options.type).name},
          {"bucket_bytes", options.bucket == 0 ? Json(nullptr) : Json(options.bucket)},
          {"strong_scaling", options.strong},
          {"target_efficiency", request.target},
          {"models", models_json(request)},
          {"systems", std::move(systems)}};
}

Json steps_json(const WorkloadRequest& request, const WorkloadRow& row) {
  Json steps = Json::array();
  for (std::size_t i = 0; i < row.needed_GBps.size(); ++i) {
    Json step{{"overlap", request.overlaps[i]}, {"needed_GBps", row.needed_GBps[i]}};
    if (i < row.steps.size()) {
      step["exposed_ms"] = row.steps[i].exposed * kMilli;
      step["step_ms"] = row.steps[i].step * kMilli;
      step["share"] = row.steps[i].share;
      step["efficiency"] = row.steps[i].efficiency;
    }
    if (i < row.samples_per_s.size()) step["samples_per_s"] = row.samples_per_s[i];
    steps.push_back(std::move(step));
  }
  return steps;
}

Json row_json(const WorkloadRequest& request, const WorkloadRow& row) {
  return {{"model", request.cases[row.model].model.name},
          {"system", request.systems[row.system].system},
          {"ranks", row.ranks},
          {"busbw_GBps", row.sync ? Json(row.sync->GBps) : Json(nullptr)},
          {"sync_ms", milliseconds(row.sync)},
          {"data_parallel_ms", milliseconds(row.data_parallel)},
          {"data_parallel_bytes_ratio", data_parallel_ratio(row.ranks)},
          {"outside_measured_sizes", row.sync ? Json(row.sync->outside) : Json(nullptr)},
          {"wire_share", or_null(row.wire_share)},
          {"steps", steps_json(request, row)}};
}

}  // namespace

std::string workload_json(const WorkloadOptions& options, const WorkloadRequest& request,
                          const WorkloadReport& report) {
  Json json = head(options, request);
  json["rows"] = Json::array();
  for (const WorkloadRow& row : report.rows) json["rows"].push_back(row_json(request, row));
  json["largest_ranks"] = Json::array();
  for (const WorkloadLimit& limit : report.limits) {
    json["largest_ranks"].push_back({{"model", request.cases[limit.model].model.name},
                                     {"system", request.systems[limit.system].system},
                                     {"overlap", limit.overlap},
                                     {"ranks", or_null(limit.ranks)}});
  }
  json["rankings"] = Json::array();
  for (const WorkloadRanking& ranking : report.rankings) {
    Json order = Json::array();
    for (const std::size_t row : ranking.rows) {
      order.push_back(request.systems[report.rows[row].system].system);
    }
    json["rankings"].push_back({{"model", request.cases[ranking.model].model.name},
                                {"ranks", ranking.ranks},
                                {"systems", std::move(order)}});
  }
  return dump(json);
}

std::string implied_json(const WorkloadOptions& options, const WorkloadRequest& request,
                         const std::vector<ImpliedRate>& implied) {
  Json json = head(options, request);
  json["reported"] = options.reported_as;
  json["efficiency"] = or_null(options.reported_efficiency);
  json["implied"] = Json::array();
  for (const ImpliedRate& rate : implied) {
    Json rates = Json::array();
    for (std::size_t i = 0; i < rate.busbw_GBps.size(); ++i) {
      rates.push_back({{"overlap", request.overlaps[i]}, {"busbw_GBps", rate.busbw_GBps[i]}});
    }
    Json links = Json::array();
    for (const ExplainedTime& link : rate.links) {
      links.push_back({{"system", request.systems[link.system].system},
                       {"busbw_GBps", link.sync.GBps},
                       {"sync_ms", link.sync.seconds * kMilli},
                       {"share_of_exposed", link.share},
                       {"outside_measured_sizes", link.sync.outside}});
    }
    json["implied"].push_back({{"model", request.cases[rate.model].model.name},
                               {"ranks", rate.ranks},
                               {"compute_ms", rate.compute_s * kMilli},
                               {"exposed_ms", rate.exposed_s * kMilli},
                               {"rates", std::move(rates)},
                               {"links", std::move(links)}});
  }
  return dump(json);
}

}  // namespace busbar
