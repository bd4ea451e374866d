// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/data_type.hpp"
#include "study/dataset.hpp"

namespace busbar::study {

/// A network that is trained, as far as its communication goes.
struct WorkloadModel {
  std::string name{};
  double parameters = 0;
  int batch = 0;  ///< samples of one GPU per step; 0: not known
};

/// Adds the models of a file, or replaces those of the same name. Throws Error (Usage) with
/// origin:line:column.
void add_workload_models(std::vector<WorkloadModel>& models, std::string_view text,
                         std::string_view origin);
/// The models that are compiled in: src/study/workload/models.toml.
[[nodiscard]] std::vector<WorkloadModel> built_in_workload_models();

/// The all-reduces of one system on one number of ranks.
struct RateCurve {
  std::string system{};
  int ranks = 0;
  bool simulated = false;
  std::map<Bytes, double> GBps{};  ///< medians of the bus bandwidth by size
};

/// A curve per label and number of ranks: sums of the type, else of another one; out of place, else
/// in place. Throws Error (Usage) where there is none of two ranks or more, where two of a label
/// and number of ranks differ in nodes or devices, and where a label has several settings.
[[nodiscard]] std::vector<RateCurve> rates_of(const std::vector<Dataset>& datasets,
                                              std::string_view type);

/// What a message takes.
struct MessageTime {
  double seconds = 0;
  double GBps = 0;       ///< the bus bandwidth that this is of
  bool outside = false;  ///< no such size was measured: the rate of the nearest one
};

/// An all-reduce in buckets one after the other, the last one smaller; bucket 0: one message.
[[nodiscard]] MessageTime sync_time(const RateCurve& curve, Bytes bytes, Bytes bucket);

struct WorkloadCase {
  std::string model{};
  Bytes bytes = 0;  ///< of the gradients, one step
  /// Of a step on one GPU alone; NaN: not known, and what follows from it is NaN, too.
  double compute_s = std::numeric_limits<double>::quiet_NaN();
};

struct WorkloadRequest {
  std::vector<WorkloadCase> cases{};
  std::vector<RateCurve> curves{};
  DataType type = DataType::Float;  ///< of the gradients
  Bytes bucket = 0;                 ///< 0: one message
  std::vector<double> overlaps{};   ///< 0 to 1
  double target = 0.9;              ///< efficiency, above 0 and below 1
};

/// A training step of a case on one curve: it computes, and what of the exchange of gradients does
/// not hide behind the computing prolongs it.
struct WorkloadRow {
  const WorkloadCase& job;
  const RateCurve& curve;
  MessageTime sync{};
  double overlap = 0;      ///< the part of the computing behind which the exchange may hide
  double exposed_s = 0;    ///< max(0, sync - overlap * compute)
  double share = 0;        ///< exposed / step
  double efficiency = 0;   ///< compute / step: the throughput of n GPUs over n times one's
  double needed_GBps = 0;  ///< bus bandwidth for the target, or that a reported one implies
};

/// One row per case, curve and overlap; of a case without a computing time one per curve.
[[nodiscard]] std::vector<WorkloadRow> workload_rows(const WorkloadRequest& request);

/// The rows as a table.
[[nodiscard]] std::string workload_text(const WorkloadRequest& request);
/// The same for machines: docs/workload.md.
[[nodiscard]] std::string workload_json(const WorkloadRequest& request);

}  // namespace busbar::study
