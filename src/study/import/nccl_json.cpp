// SPDX-License-Identifier: BSD-3-Clause
// What nccl-tests writes by -J. Of its environment, which may hold secrets, nothing is taken.

#include <cmath>
#include <regex>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "model/nccl_choice.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// nccl-tests writes an infinite bandwidth as a bare inf, which is no JSON.
std::string without_inf(const std::string& text) {
  static const std::regex kInfinite(R"((":\s?)-?inf)");
  return std::regex_replace(text, kInfinite, "$1null");
}

/// A member that is a finite number and not negative, of %lf's six decimals; nothing for others, as
/// "nan".
std::optional<Printed> number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const auto value = found->get<double>();
  if (!std::isfinite(value) || value < 0) return std::nullopt;
  return Printed{.value = value, .half_unit = 0.5e-6};
}

std::optional<double> value(const Json& object, const char* key) {
  const auto printed = number(object, key);
  return printed ? std::optional(printed->value) : std::nullopt;
}

/// A member that is a text or a whole number, as text; empty for others.
std::string json_word(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_string()) return std::string(trim(found->get<std::string>()));
  return found->is_number_integer() ? found->dump() : std::string{};
}

LogHalf half_of(const Json& row, const std::string& key) {
  const Json& cells = row.at(key);
  LogHalf half{.in_place = key == "in_place",
               .time_us = number(cells, "time"),
               .algbw_GBps = number(cells, "alg_bw"),
               .busbw_GBps = number(cells, "bus_bw"),
               .cpu_time_us = number(cells, "cpu_time"),
               .wrong = value(cells, "nwrong")};  // 0.000000; null where data are not checked
  const auto iterations = row.find(key + "_per_iter");
  if (iterations != row.end() && iterations->is_object()) {
    half.min_us = value(*iterations, "min_us");
    half.max_us = value(*iterations, "max_us");
    half.p99_us = value(*iterations, "p99_us");
  }
  return half;
}

LogRow row_of(const Json& json) {
  LogRow row{.size = json.at("size").get<Bytes>(),
             .count = json.at("count").get<std::uint64_t>(),
             .type = json_word(json, "type"),
             .op = json_word(json, "redop"),
             .root = small_number(json_word(json, "root")),
             .operations = to_number<std::uint64_t>(json_word(json, "actual_iterations"))};
  if (!is_type_name(row.type)) {
    throw usage_error("'{}' is not an element type", one_line(row.type));
  }
  for (const char* key : {"out_of_place", "in_place"}) {
    // A replay of a trace is in place alone, and the other half null.
    if (json.contains(key) && !json[key].is_null()) row.halves.push_back(half_of(json, key));
  }
  return row;
}

/// One rank per GPU of every process; the list has each process' first GPU only.
void read_config(LogTable& table, const Json& config) {
  table.operations = to_number<std::uint64_t>(json_word(config, "iterations"));
  table.warmup = to_number<std::uint64_t>(json_word(config, "warmup_iters"));
  const auto devices = config.find("devices");
  if (devices == config.end() || !devices->is_array()) return;
  table.all_hosts = true;
  const auto threads = small_number(json_word(config, "nthreads"));
  const auto gpus = small_number(json_word(config, "ngpus"));
  constexpr int kMostPerProcess = 64;
  const bool sane = threads && gpus && *threads > 0 && *gpus > 0 && *threads <= kMostPerProcess &&
                    *gpus <= kMostPerProcess && devices->size() < 1'000'000;
  if (sane) table.ranks = *threads * *gpus * static_cast<int>(devices->size());
  for (const Json& device : *devices) {
    table.devices.push_back({.rank = small_number(json_word(device, "rank")).value_or(0),
                             .group = small_number(json_word(device, "group")).value_or(0),
                             .host = json_word(device, "hostname"),
                             .name = json_word(device, "device_info")});
  }
}

LogTable table_of(const Json& json) {
  LogTable table{.line = 1,
                 .columns = {"size", "count", "type", "redop", "root"},
                 .tool = "nccl-tests",
                 .backend = "nccl",
                 .aggregation = "mean"};
  if (const auto code = to_number<int>(json_word(json, "nccl_version"))) {
    table.library = "NCCL " + nccl_version_text(*code);
  }
  if (json.contains("args") && json["args"].is_array()) {
    Words words;
    for (const Json& argument : json["args"]) {
      if (argument.is_string()) words.push_back(argument.get<std::string>());
    }
    if (!words.empty()) table.collective = words.front();
    table.command = join(words, " ");
  }
  if (json.contains("config")) read_config(table, json["config"]);
  table.ended = json.contains("end_time");
  for (const Json& row : json.value("results", Json::array())) {
    table.rows.push_back(row_of(row));
    table.rows.back().line = table.rows.size();
  }
  if (json.contains("average_bus_bandwidth")) {
    table.mean_busbw_GBps = value(json["average_bus_bandwidth"], "bandwidth");
  }
  return table;
}

}  // namespace

LogFile read_nccl_json(View text, const std::string& path) {
  const Json json = Json::parse(without_inf(std::string(text)), nullptr, false);
  if (json.is_discarded()) {
    throw usage_error(
        "{}: damaged JSON: a killed nccl-tests leaves it unfinished; import its standard output",
        path);
  }
  LogFile log{.path = path};
  try {
    log.tables = {table_of(json)};
  } catch (const Json::exception& error) {
    throw usage_error("{}: not nccl-tests' JSON: {}", path, one_line(error.what()));
  } catch (const Error& error) {
    throw usage_error("{}: {}", path, error.what());
  }
  if (!log.tables[0].ended && !log.tables[0].rows.empty()) {
    log.warnings = {fmt::format("{}: the test did not end; what is there is imported", path)};
  }
  return log;
}

}  // namespace busbar::study
