// SPDX-License-Identifier: BSD-3-Clause
#include "study/measured_curves.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "study/dataset.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_runs.hpp"

namespace busbar::study {
namespace {

using topo::EqualHosts;
using topo::MeasuredCurve;
using topo::MeasuredTime;

/// The rows of a file, and the GPUs of each process that a log names.
struct FileRows {
  std::vector<Record> records{};
  std::optional<int> gpus_per_process{};
};

FileRows rows_of_file(const std::string& path, const CurveRequest& request) {
  if (path.ends_with(".csv")) return {.records = load_dataset(path).records};
  const auto text = read_file(path);
  if (!text) throw usage_error(fmt::format("cannot read {}", path));
  const LogReading reading{.skip_bad_lines = true, .ranks = request.ranks};
  const std::vector<LogFile> logs{read_log(*text, path, reading)};
  const LogHints hints{.collective = request.collective, .ranks = request.ranks};
  const std::vector<LogLaunch> launches = launches_of(logs.front(), hints);
  for (const LogLaunch& launch : launches) {
    if (launch.setting == launches.front().setting) continue;
    throw usage_error(fmt::format(
        "{} has runs of several settings: {}; make a CSV of each by busbar import, and give one",
        path, settings_text(launches)));
  }
  return {.records = records_of(logs, hints).records,
          .gpus_per_process = logs.front().tables.front().gpus_per_process};
}

bool counts(const Record& record) {
  return record.status == RowStatus::Ok && record.ranks > 1 && record.size > 0 &&
         record.time_median_us.value_or(0) > 0 && !contradicts_itself(record);
}

/// The machine with the hosts that the ranks need, where a network joins them.
EqualHosts large_enough(EqualHosts machine, int ranks) {
  const auto each = static_cast<int>(machine.host.devices.size());
  if (each > 0) machine.hosts = std::max(machine.hosts, (ranks + each - 1) / each);
  return machine;
}

MeasuredCurve curve_of(std::string name, const std::string& collective, int ranks,
                       const EqualHosts& machine, int gpus_per_process) {
  return {.name = std::move(name),
          .collective = find_collective(collective),
          .predictor = topo::Predictor(large_enough(machine, ranks),
                                       {.ranks = ranks, .gpus_per_process = gpus_per_process})};
}

}  // namespace

std::vector<MeasuredCurve> curves_of_files(const std::vector<std::string>& paths,
                                           const EqualHosts& machine, const CurveRequest& request) {
  std::vector<MeasuredCurve> curves;
  for (const std::string& path : paths) {
    using Key = std::tuple<std::string, int, bool>;  // collective, ranks, in place
    std::map<Key, std::vector<MeasuredTime>> times;
    const FileRows rows = rows_of_file(path, request);
    for (const Record& record : rows.records) {
      if (!counts(record) || record.sender) continue;
      times[{record.collective, record.ranks, record.in_place}].push_back(
          {.bytes = static_cast<double>(record.size), .time_us = *record.time_median_us});
    }
    for (auto& [key, values] : times) {
      const auto& [collective, ranks, in_place] = key;
      if (in_place && times.contains({collective, ranks, false})) continue;
      curves.push_back(curve_of(
          fmt::format("{} {} {}", std::filesystem::path(path).stem().string(), collective, ranks),
          collective, ranks, machine,
          request.gpus_per_process.value_or(rows.gpus_per_process.value_or(1))));
      curves.back().times = std::move(values);
    }
  }
  return curves;
}

namespace {

constexpr std::string_view kDocument = "docs/simulation.md";

struct FieldEntry {
  std::string name{};
  std::string file{};
  std::string collective{};
  EqualHosts machine{};
  int ranks = 0;
  int gpus_per_process = 1;
  topo::Library library = topo::Library::Nccl226;
  Half half = Half::Table;
  std::vector<MeasuredTime> points{};
};

/// Which value of an enum a key names; the last one where it is missing.
template <class Values>
auto value_of(const TomlFields& fields, std::string_view key, const Values& values) {
  std::vector<std::string> names;
  for (const auto value : values) names.emplace_back(name(value));
  return values.at(fields.one_of(key, names).value_or(values.size() - 1));
}

/// [[size in MiB, GB/s of bus bandwidth], ...]
std::vector<MeasuredTime> read_points(const TomlFields& fields, const FieldEntry& entry) {
  constexpr double kBytesPerUs = 1e3;
  const Collective& collective = *find_collective(entry.collective);
  std::vector<MeasuredTime> points;
  for (const toml::node* node : fields.list("points")) {
    const toml::array* pair = node->as_array();
    const bool two = pair != nullptr && pair->size() == 2;
    const auto size = two ? (*pair)[0].value<double>() : std::nullopt;
    const auto GBps = two ? (*pair)[1].value<double>() : std::nullopt;
    if (!size || !GBps) throw fields.fault("points", "points are pairs of MiB and GB/s");
    const double bytes = *size * static_cast<double>(kMiB);
    const double time_us = bytes * collective.bus_factor(entry.ranks) / *GBps / kBytesPerUs;
    points.push_back({.bytes = bytes, .time_us = time_us});
  }
  return points;
}

/// The system, with the network of the log's machine.
EqualHosts read_machine(const TomlFields& fields) {
  constexpr int kMostHosts = 1 << 16;
  EqualHosts machine = topo::load_machine(fields.required_text("system"));
  machine.hosts = fields.integer("hosts", 1, kMostHosts, machine.hosts);
  const double GBps = fields.positive("nic_GBps", 0);
  for (topo::Medium& medium : machine.host.media) {
    if (GBps > 0 && medium.kind == topo::LinkKind::Network) medium.nominal_GBps = GBps;
  }
  topo::Protocol& protocol = machine.host.protocol;
  protocol.network_latency_us = fields.positive("network_latency_us", protocol.network_latency_us);
  return machine;
}

FieldEntry read_entry(const toml::node& node, std::string_view origin) {
  const TomlFields fields(node, origin, "[[curve]]");
  fields.allow_only({"name", "log", "collective", "system", "hosts", "ranks", "gpus_per_process",
                     "library", "half", "nic_GBps", "network_latency_us", "points", "source"});
  static_cast<void>(fields.required_text("source"));
  constexpr int kMostRanks = 1 << 16;
  FieldEntry entry{.name = fields.required_text("name"),
                   .file = fields.text("log"),
                   .collective = fields.required_text("collective"),
                   .machine = read_machine(fields),
                   .ranks = fields.integer("ranks", 2, kMostRanks, 2),
                   .gpus_per_process = fields.integer("gpus_per_process", 1, kMostRanks, 1)};
  if (find_collective(entry.collective) == nullptr) {
    throw fields.fault("collective", fmt::format("no such collective: {}", entry.collective));
  }
  entry.library = value_of(fields, "library", topo::kLibraries);
  entry.half = value_of(fields, "half", kHalves);
  entry.machine.host.protocol.library = entry.library;
  entry.points = read_points(fields, entry);
  return entry;
}

/// The entry's points, or those of its log.
std::vector<MeasuredTime> times_of(const FieldEntry& entry, const std::string& log) {
  if (entry.file.empty()) return entry.points;
  std::vector<MeasuredTime> times;
  const CurveRequest request{.collective = entry.collective, .ranks = entry.ranks};
  for (const MeasuredCurve& curve : curves_of_files({log}, entry.machine, request)) {
    times.insert(times.end(), curve.times.begin(), curve.times.end());
  }
  constexpr double kLeastBytes = 1024;  // below, the time is that of the launch alone
  std::erase_if(times, [](const MeasuredTime& time) { return time.bytes < kLeastBytes; });
  return times;
}

}  // namespace

std::vector<FieldCurve> read_field(const std::string& path, const std::string& folder) {
  const auto text = read_file(path);
  if (!text) throw usage_error(fmt::format("cannot read {}", path));
  const toml::table table = parse_toml(*text, path, kDocument);
  const TomlFields file(table, path, "the file");
  file.allow_only({"curve"});
  std::vector<FieldEntry> entries;
  for (const toml::node* node : file.list("curve")) entries.push_back(read_entry(*node, path));
  std::sort(entries.begin(), entries.end(), [](const FieldEntry& one, const FieldEntry& other) {
    return std::tie(one.library, one.name) < std::tie(other.library, other.name);
  });
  std::vector<FieldCurve> field;
  for (const FieldEntry& entry : entries) {
    const std::string log = (std::filesystem::path(folder) / entry.file).string();
    if (!entry.file.empty() && !std::filesystem::exists(log)) continue;
    field.push_back({.curve = curve_of(entry.name, entry.collective, entry.ranks, entry.machine,
                                       entry.gpus_per_process),
                     .library = entry.library,
                     .half = entry.half});
    field.back().curve.times = times_of(entry, log);
  }
  return field;
}

}  // namespace busbar::study
