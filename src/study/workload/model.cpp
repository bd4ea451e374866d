// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/model.hpp"

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kModels = "src/study/workload/models.toml";
constexpr std::string_view kModelFormat = "docs/workload.md";

/// "ResNet-50" and "resnet50" are one name.
std::string plain_name(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '-' && c != '_' && c != ' ') {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return plain;
}

/// Whether a model has this name.
auto is_called(std::string_view name) {
  return [name](const WorkloadModel& model) { return plain_name(model.name) == plain_name(name); };
}

/// Names that have the word in them, "bert" in "bert-squad"; else the one that is most like it.
std::vector<std::string> near_names(std::string_view word, const std::vector<std::string>& known) {
  auto near = filtered(known, [&](const std::string& name) {
    return plain_name(name).find(plain_name(word)) != std::string::npos;
  });
  if (!near.empty()) return near;
  std::string nearest = nearest_word(word, known);
  if (!nearest.empty()) near.push_back(std::move(nearest));
  return near;
}

std::vector<WorkloadBatch> read_batches(const TomlFields& model) {
  std::vector<WorkloadBatch> batches;
  for (const toml::node* element : model.list("batches")) {
    const TomlFields fields(*element, model.origin(), "an element of batches");
    fields.allow_only({"size", "device"});
    static_cast<void>(fields.required("size"));
    batches.push_back({.size = fields.integer("size", 1, std::numeric_limits<int>::max(), 0),
                       .device = fields.text("device")});
  }
  return batches;
}

std::optional<ModelThroughput> read_throughput(const TomlFields& model) {
  const toml::node* found = model.find("throughput");
  if (found == nullptr) return std::nullopt;
  const TomlFields fields(*found, model.origin(), "throughput");
  fields.allow_only({"per_second", "type", "device", "source"});
  static_cast<void>(fields.required("per_second"));
  return ModelThroughput{.per_second = fields.positive("per_second", 0),
                         .type = fields.required_text("type"),
                         .device = fields.text("device"),
                         .source = fields.required_text("source")};
}

WorkloadModel read_model(const toml::node& node, std::string_view origin) {
  constexpr double kMillion = 1e6;
  const TomlFields fields(node, origin, "[[model]]");
  fields.allow_only({"name", "title", "parameters_M", "batches", "unit", "source", "throughput"});
  static_cast<void>(fields.required("parameters_M"));
  WorkloadModel model{.name = fields.required_text("name"),
                      .title = fields.text("title"),
                      .parameters = fields.positive("parameters_M", 0) * kMillion,
                      .batches = read_batches(fields),
                      .unit = fields.text("unit"),
                      .source = fields.required_text("source"),
                      .throughput = read_throughput(fields)};
  if (model.title.empty()) model.title = model.name;
  if (model.unit.empty()) model.unit = "images";
  if (model.name.find_first_of(",=") != std::string::npos) {
    throw fields.fault("name", "a name must not have ',' or '=', which separate options");
  }
  if (model.throughput && model.batches.empty()) {
    throw fields.fault("throughput",
                       "throughput needs batches: the step's time is computed from both");
  }
  return model;
}

}  // namespace

std::vector<WorkloadModel> parse_workload_models(std::string_view text, std::string_view origin) {
  const toml::table table = parse_toml(text, origin, kModelFormat);
  const TomlFields fields(table, origin, "a models file");
  fields.allow_only({"model"});
  std::vector<WorkloadModel> models;
  for (const toml::node* element : fields.list("model")) {
    WorkloadModel model = read_model(*element, origin);
    if (std::ranges::any_of(models, is_called(model.name))) {
      throw fault_at(origin, element->source(),
                     fmt::format("there are two models \"{}\"", model.name));
    }
    models.push_back(std::move(model));
  }
  if (models.empty()) {
    throw usage_error("{}: no [[model]] in it; {} describes the format", origin, kModelFormat);
  }
  return models;
}

std::vector<WorkloadModel> built_in_workload_models() {
  return parse_workload_models(embedded_text(kModels), kModels);
}

std::vector<WorkloadModel> workload_models_with(const std::string& path) {
  const auto text = read_file(path);
  if (!text) throw usage_error("--models {}: this file cannot be read", path);
  std::vector<WorkloadModel> models = built_in_workload_models();
  for (const WorkloadModel& own : parse_workload_models(*text, path)) {
    find_or_add(models, is_called(own.name), own) = own;
  }
  return models;
}

const WorkloadModel& find_workload_model(std::span<const WorkloadModel> models,
                                         std::string_view option, std::string_view name) {
  const auto found = std::ranges::find_if(models, is_called(name));
  if (found != models.end()) return *found;
  const auto known = mapped(models, &WorkloadModel::name);
  const std::vector<std::string> near = near_names(name, known);
  throw usage_error("{}: there is no model '{}'{}; there are {}; --models FILE adds", option, name,
                    near.empty() ? "" : fmt::format(" (did you mean {}?)", join(near, ", ")),
                    join(known, ", "));
}

}  // namespace busbar::study
