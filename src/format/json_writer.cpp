// SPDX-License-Identifier: BSD-3-Clause
#include "format/json_writer.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/host.hpp"
#include "base/lists.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTail = "\n  ]\n}\n";

std::string on_one_line(const Json& json) { return json_text(json, -1); }

/// Each on a line of its own, without the braces around them.
std::string member_lines(const Json& members) {
  std::string text;
  for (const auto& [key, value] : members.items()) {
    text += (text.empty() ? "  " : ",\n  ") + on_one_line(key) + ": " + on_one_line(value);
  }
  return text;
}

}  // namespace

GrowingJson::GrowingJson(const std::string& path, bool resume, std::string_view opening) {
  file_.emplace(path, "-J", resume ? OutputFile::Mode::Continue : OutputFile::Mode::New);
  if (file_->size() == 0) {
    // A link and what is no file stay what they are.
    std::error_code error;
    is_made_later_ =
        fs::is_regular_file(fs::symlink_status(path, error)) && fs::remove(path, error);
    return;
  }
  std::string begin(opening.size(), '\0');
  std::ifstream(path).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == opening) return;
  throw usage_error("-J: {} is not a JSON of an earlier run of busbar; give another name", path);
}

void GrowingJson::begin(const Json& head, std::string_view list) {
  std::string text = fmt::format("{{\n{},\n  \"{}\": [", member_lines(head), list);
  list_end_ = text.size();
  if (file_->size() == 0 && !is_made_later_) return file_->append(text.append(kTail));
  const std::string path = file_->path();
  if (is_made_later_) check_new(path, "-J");
  replace_file(path, text.append(kTail), "-J");
  file_.emplace(path, "-J", OutputFile::Mode::Continue);
}

void GrowingJson::add(const Json& element) {
  const std::string text = std::string(any_ ? "," : "") + "\n    " + on_one_line(element);
  replace_tail(text + std::string(kTail));
  list_end_ += text.size();
  any_ = true;
}

void GrowingJson::end(const Json& members) {
  replace_tail("\n  ],\n" + member_lines(members) + "\n}\n");
}

void GrowingJson::replace_tail(const std::string& text) {
  try {
    file_->write_at(list_end_, text);
  } catch (const Error&) {
    // On a full disk the place of the tail before is still there.
    file_->write_at(list_end_, kTail);
    file_->truncate(list_end_ + kTail.size());
    throw;
  }
}

namespace {

Json to_json(const Record& record) {
  Json row;
  for (const RecordField& field : record_fields()) {
    const std::string text = field.get(record);
    const bool number = field.kind == RecordField::Kind::Number;
    const std::string key(field.name);
    row[key] = number && !text.empty() ? Json::parse(text) : Json(text);
  }
  return row;
}

}  // namespace

void JsonWriter::begin(const RunContext& context) {
  Json facts;
  for (const auto& [key, value] : context.facts) facts[key] = value;
  facts["notes"] = context.notes;
  file_.begin({{"context", facts}}, "rows");
}

void JsonWriter::write(const Row& row) { file_.add(to_json(row.record)); }

void JsonWriter::end(const RunSummary& summary) {
  const Json json{{"measured_rows", summary.rows},
                  {"skipped_rows", summary.skipped},
                  {"wrong_rows", summary.wrong_rows},
                  {"mean_busbw_GBps", summary.mean_busbw_GBps},
                  {"finished", summary.finished_at}};
  file_.end({{"summary", json}});
}

namespace {

const char* truth(bool value) { return value ? "true" : "false"; }

Json device_json(const RankDevice& device) {
  return {{"rank", device.rank},       {"group", device.group},   {"pid", device.pid},
          {"hostname", device.host},   {"device", device.device}, {"device_hex", device.address},
          {"device_info", device.name}};
}

Json config_of(const RunContext& context) {
  Json config{{"nthreads", 1},
              {"ngpus", 1},
              {"minimum_bytes", context.sweep.first},
              {"maximum_bytes", context.sweep.last}};
  const bool by_factor = context.sweep.factor > 1;
  config[by_factor ? "step_factor" : "step_bytes"] =
      by_factor ? context.sweep.factor : context.sweep.step;
  config.update({{"warmup_iters", context.warmup.value_or(0)},
                 {"iterations", context.operations.value_or(0)},
                 {"aggregated_iterations", context.aggregated},
                 {"validation", context.checks},
                 {"graph", context.graph},
                 {"blocking_collectives", truth(context.blocking != 0)},
                 {"per_iter_timing", truth(context.skipped.has_value())},
                 {"per_iter_skip", context.skipped.value_or(0)},
                 {"parallel_init", truth(false)},
                 {"devices", json_array(context.devices, device_json)}});
  return config;
}

/// By rank what is by sample.
std::vector<std::vector<double>> times_by_rank(const std::vector<std::vector<double>>& samples) {
  std::vector<std::vector<double>> ranks(samples.empty() ? 0 : samples.front().size());
  for (const std::vector<double>& times : samples) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank].push_back(times.at(rank));
  }
  return ranks;
}

/// Each sample's time: the longest of all ranks, as nccl-tests defines it, where those are known.
std::vector<double> longest_times(const Row& row) {
  if (row.rank_times_us.empty()) return row.samples_us;
  return mapped(row.rank_times_us, [](const auto& times) { return std::ranges::max(times); });
}

/// Null without a sample behind the first `skipped`.
Json iterations_of(const Row& row, std::uint64_t skipped) {
  const std::vector<double> times = longest_times(row);
  const std::size_t left_out = std::min<std::size_t>(skipped, times.size());
  const std::span<const double> counted = std::span(times).subspan(left_out);
  const auto summary = stats::summarize(counted);
  if (!summary) return nullptr;
  constexpr double kP95 = 95;
  Json json{{"skipped_iterations", left_out},
            {"min_us", summary->min},
            {"max_us", summary->max},
            {"avg_us", summary->mean},
            {"p50_us", summary->median},
            {"p95_us", stats::percentile(counted, kP95)},
            {"p99_us", summary->p99},
            {"stdev_us", summary->deviation},
            {"cv_pct", 100 * summary->deviation / summary->mean},
            {"times_us", times}};
  const auto ranks = times_by_rank(row.rank_times_us);
  if (ranks.size() > 1) json["per_process_max_times_us"] = ranks;
  return json;
}

bool is_measured(const std::optional<Row>& half) {
  return half && half->record.time_median_us.has_value();
}

Json half_json(const Record& record, bool host_time) {
  const auto time_us = host_time ? record.enqueue_time_us : record.time_median_us;
  return {{host_time ? "cpu_time" : "time", time_us.value_or(0)},
          {"alg_bw", record.algbw_GBps.value_or(0)},
          {"bus_bw", record.busbw_GBps.value_or(0)},
          {"nwrong", json_or_null(record.wrong)}};
}

}  // namespace

void NcclTestsJson::begin(const RunContext& context) {
  context_ = context;
  file_.begin({{"version", 3},
               {"start_time", local_time()},
               {"args", context.arguments},
               {"env", context.environment},
               {"nccl_version", context.nccl_version},
               {"config", config_of(context)}},
              "results");
}

void NcclTestsJson::write(const Row& row) {
  const Record& record = row.record;
  if (record.status == RowStatus::Skipped) add_new(skipped_, record.reason);
  const auto line = halves_.add(row);
  if (!line || (!is_measured(line->out_of_place) && !is_measured(line->in_place))) return;
  const Record& either = line->either();
  Json json{{"size", either.size},
            {"count", either.count},
            {"type", either.type},
            {"redop", either.op},
            {"root", fmt::format("{:>6}", either.root.value_or(-1))}};
  const auto add = [&](const std::optional<Row>& half, const std::string& name) {
    json[name] = is_measured(half) ? half_json(half->record, context_.enqueue_times) : Json();
    const Json times =
        is_measured(half) && context_.skipped ? iterations_of(*half, *context_.skipped) : Json();
    if (!times.is_null()) json[name + "_per_iter"] = times;
  };
  add(line->out_of_place, "out_of_place");
  add(line->in_place, "in_place");
  json["actual_iterations"] = either.operations.value_or(0);
  json["experiment_name"] = row_scope(either, context_.has_rounds());
  file_.add(json);
}

void NcclTestsJson::end(const RunSummary& summary) {
  file_.end(
      {{"out_of_bounds", {{"count", summary.wrong_rows}, {"okay", truth(summary.wrong_rows == 0)}}},
       {"average_bus_bandwidth", {{"bandwidth", summary.mean_busbw_GBps}, {"okay", "unchecked"}}},
       {"errors", skipped_},
       {"end_time", summary.finished_at}});
}

}  // namespace busbar
