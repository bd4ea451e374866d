// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace busbar::study {

/// Samples that one GPU takes per step, and which GPU has memory for that many.
struct WorkloadBatch {
  int size = 0;
  std::string device{};
};

/// A published figure of one GPU that trains alone.
struct ModelThroughput {
  double per_second = 0;  ///< samples
  std::string type{};     ///< of the arithmetic: "float"
  std::string device{};
  std::string source{};
};

/// A network that is trained, as far as its communication goes.
struct WorkloadModel {
  std::string name{};
  std::string title{};
  double parameters = 0;
  std::vector<WorkloadBatch> batches{};  ///< the first is the default; none: not known
  std::string unit{};                    ///< what a sample is: "images"
  std::string source{};
  std::optional<ModelThroughput> throughput{};
};

/// Reads a models file. Throws Error (Usage) with origin:line:column.
[[nodiscard]] std::vector<WorkloadModel> parse_workload_models(std::string_view text,
                                                               std::string_view origin);
/// The models that are compiled in: src/study/workload/models.toml.
[[nodiscard]] std::vector<WorkloadModel> built_in_workload_models();
/// The built-in models and those of a file; of two with one name the file's.
[[nodiscard]] std::vector<WorkloadModel> workload_models_with(const std::string& path);
/// The model of a name; case, '-', '_' and blanks do not count. Throws Error (Usage) that begins
/// with `option`.
[[nodiscard]] const WorkloadModel& find_workload_model(std::span<const WorkloadModel> models,
                                                       std::string_view option,
                                                       std::string_view name);

}  // namespace busbar::study
