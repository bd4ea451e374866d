// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/workload.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "format/json.hpp"
#include "model/collective.hpp"
#include "study/plot/curves.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kModels = "src/study/workload/models.toml";
constexpr std::string_view kAllReduce = "allreduce";
constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;
constexpr double kMilli = 1e3;
constexpr std::string_view kLabel =
    "link-time lower bound: waiting for the slowest rank, reduction and input come on top";

WorkloadModel read_model(const toml::node& node, std::string_view origin) {
  const TomlFields fields(node, origin, "[[model]]");
  fields.allow_only({"name", "parameters_M", "batch", "source"});
  static_cast<void>(fields.required("parameters_M"));
  static_cast<void>(fields.required_text("source"));
  return {.name = fields.required_text("name"),
          .parameters = fields.positive("parameters_M", 0) * kMega,
          .batch = fields.integer("batch", 1, std::numeric_limits<int>::max(), 0)};
}

/// What crosses each rank's link in an all-reduce, in GB: over a time a bus bandwidth.
double gigabytes_on_bus(Bytes bytes, int ranks) {
  return find_collective(kAllReduce)->bus_factor(ranks) * static_cast<double>(bytes) / kGiga;
}

/// Cycles and launches at one size are one point.
RateCurve rates_of(const SizeCurve& curve) {
  RateCurve rates{curve.key.label, curve.key.ranks, curve.key.simulated};
  for (const SizePoint& point : curve.points) {
    const auto& [median, low, high] = point.busbw_GBps;
    if (!std::isfinite(high.value_or(median)) || low.value_or(median) <= 0) {
      throw usage_error(
          "--curve: a bus bandwidth of '{}' with {} ranks is not above 0; leave these rows out",
          rates.system, rates.ranks);
    }
    rates.GBps[point.size] = median;
  }
  return rates;
}

/// Between two points by linear interpolation in log(size) and log(value); beyond them the value of
/// the nearest one.
MessageTime message_time(const RateCurve& curve, Bytes bytes) {
  const auto log_of = [](const auto& point) { return std::log(static_cast<double>(point.first)); };
  const auto& [least, most] = std::pair(*curve.GBps.begin(), *curve.GBps.rbegin());
  MessageTime time{.outside = bytes < least.first || bytes > most.first};
  if (bytes <= least.first) {
    time.GBps = least.second;
  } else if (bytes >= most.first) {
    time.GBps = most.second;
  } else {
    const auto above = curve.GBps.lower_bound(bytes);
    const auto below = std::prev(above);
    const double share =
        (std::log(static_cast<double>(bytes)) - log_of(*below)) / (log_of(*above) - log_of(*below));
    time.GBps = below->second * std::pow(above->second / below->second, share);
  }
  time.seconds = gigabytes_on_bus(bytes, curve.ranks) / time.GBps;
  return time;
}

std::string megabytes(double bytes) { return figure_text(bytes / kMega); }
std::string overlap_text(double share) { return fmt::format("{:.2g}", share); }
std::string percent(double share) { return fmt::format("{:.1f}", share * 100); }

using R = const WorkloadRow&;

constexpr auto kColumns = std::to_array<Column<WorkloadRow>>({
    {"model", "model", [](R r) { return r.job.model; }},
    {"gradient_bytes", "", [](R r) { return r.job.bytes; }},
    {"", "MB", [](R r) { return static_cast<double>(r.job.bytes); }, megabytes},
    {"compute_ms", "compute ms", [](R r) { return r.job.compute_s * kMilli; }, figure_text},
    {"system", "", [](R r) { return r.curve.system; }},
    {"simulated", "", [](R r) { return r.curve.simulated; }},
    {"", "system", [](R r) { return r.curve.system + (r.curve.simulated ? " (simulated)" : ""); }},
    {"ranks", "ranks", [](R r) { return r.curve.ranks; }},
    {"busbw_GBps", "GB/s", [](R r) { return r.sync.GBps; }, figure_text},
    {"sync_ms", "link ms", [](R r) { return r.sync.seconds * kMilli; }, figure_text},
    {"outside_measured_sizes", "", [](R r) { return r.sync.outside; }},
    {"overlap", "overlap", [](R r) { return r.overlap; }, overlap_text},
    {"exposed_ms", "", [](R r) { return r.exposed_s * kMilli; }},
    {"exposed_share", "share%", [](R r) { return r.share; }, percent},
    {"efficiency", "eff%", [](R r) { return r.efficiency; }, percent},
    {"needed_busbw_GBps", "need", [](R r) { return r.needed_GBps; }, figure_text},
    {"", "note", [](R r) { return r.sync.outside ? "outside" : ""; }},
});

}  // namespace

void add_workload_models(std::vector<WorkloadModel>& models, std::string_view text,
                         std::string_view origin) {
  const toml::table table = parse_toml(text, origin, "docs/workload.md");
  const TomlFields fields(table, origin, "a models file");
  fields.allow_only({"model"});
  static_cast<void>(fields.required("model"));
  for (const toml::node* element : fields.list("model")) {
    const WorkloadModel model = read_model(*element, origin);
    const auto same = [&](const WorkloadModel& known) { return known.name == model.name; };
    find_or_add(models, same, model) = model;
  }
}

std::vector<WorkloadModel> built_in_workload_models() {
  std::vector<WorkloadModel> models;
  add_workload_models(models, embedded_text(kModels), kModels);
  return models;
}

std::vector<RateCurve> rates_of(const std::vector<Dataset>& datasets, std::string_view type) {
  std::vector<SizeCurve> curves =
      filtered(size_curves(datasets, PlotPlacement::Out).curves, [](const SizeCurve& curve) {
        return curve.key.collective == kAllReduce && curve.key.ranks > 1;
      });
  std::ranges::stable_sort(curves, {}, [&](const SizeCurve& curve) {
    return std::pair(curve.key.type != type, curve.key.op != "sum");
  });
  std::map<std::string, std::set<std::string>> settings;
  std::map<std::pair<std::string, int>, const SizeCurve*> nearest;
  for (const SizeCurve& curve : curves) {
    settings[curve.key.label].insert(curve.key.setting);
    const CurveKey& known =
        nearest.try_emplace({curve.key.label, curve.key.ranks}, &curve).first->second->key;
    if (known.device_set != curve.key.device_set || known.nodes != curve.key.nodes ||
        known.simulated != curve.key.simulated) {
      throw usage_error(
          "--curve: '{}' has {} ranks on '{}' ({} nodes) and on '{}' ({} nodes); give one",
          known.label, known.ranks, known.device_set, known.nodes, curve.key.device_set,
          curve.key.nodes);
    }
  }
  for (const Dataset& dataset : datasets) {
    const std::set<std::string>& all = settings[dataset.label];
    if (all.empty()) {
      throw usage_error("--curve {}: no allreduce of two ranks or more in it", dataset.path);
    }
    if (all.size() < 2) continue;
    throw usage_error("--curve {}: rows of {}", dataset.path, settings_to_choose(all));
  }
  return mapped(nearest, [](const auto& one) { return rates_of(*one.second); });
}

MessageTime sync_time(const RateCurve& curve, Bytes bytes, Bytes bucket) {
  if (bucket == 0 || bucket >= bytes) return message_time(curve, bytes);
  MessageTime time = message_time(curve, bucket);
  const Bytes whole = bytes / bucket;
  time.seconds *= static_cast<double>(whole);
  if (bytes % bucket > 0) {
    const MessageTime last = message_time(curve, bytes % bucket);
    time.seconds += last.seconds;
    time.outside = time.outside || last.outside;
  }
  time.GBps = gigabytes_on_bus(bytes, curve.ranks) / time.seconds;
  return time;
}

std::vector<WorkloadRow> workload_rows(const WorkloadRequest& request) {
  std::vector<WorkloadRow> rows;
  for (const WorkloadCase& job : request.cases) {
    for (const RateCurve& curve : request.curves) {
      const MessageTime sync = sync_time(curve, job.bytes, request.bucket);
      for (const double overlap : request.overlaps) {
        const double exposed_s = std::max(sync.seconds - overlap * job.compute_s, 0.0);
        const double step_s = job.compute_s + exposed_s;
        const double longest_s = job.compute_s * (1 / request.target - 1 + overlap);
        rows.push_back({.job = job,
                        .curve = curve,
                        .sync = sync,
                        .overlap = overlap,
                        .exposed_s = exposed_s,
                        .share = exposed_s / step_s,
                        .efficiency = job.compute_s / step_s,
                        .needed_GBps = gigabytes_on_bus(job.bytes, curve.ranks) / longest_s});
        if (std::isnan(job.compute_s)) break;
      }
    }
  }
  return rows;
}

std::string workload_text(const WorkloadRequest& request) {
  return fmt::format(
      "# {}\n# gradients: {}, {}; MB: 10^6 bytes; outside: of the measured sizes\n"
      "# compute ms: of one GPU alone, by --throughput or --compute-ms\n"
      "# overlap: the part of it that hides the exchange; need: GB/s for {}% efficiency\n{}",
      kLabel, info(request.type).name,
      request.bucket == 0
          ? "one message"
          : fmt::format("buckets of {} one after the other", format_bytes(request.bucket)),
      percent(request.target), plain_table(make_table(kColumns, workload_rows(request))));
}

std::string workload_json(const WorkloadRequest& request) {
  return json_text({{"label", kLabel},
                    {"dtype", info(request.type).name},
                    {"bucket_bytes", request.bucket == 0 ? Json(nullptr) : Json(request.bucket)},
                    {"target_efficiency", request.target},
                    {"rows", json_rows(kColumns, workload_rows(request))}});
}

}  // namespace busbar::study
