// SPDX-License-Identifier: BSD-3-Clause
// How far predictions are from the published logs of a list, as Markdown; see
// bench/simulated-ratios. usage: simulated_ratios LIST.toml FOLDER_OF_LOGS [--fit]
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/enum_names.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "bench/fit.hpp"
#include "bench/nccl_model.hpp"
#include "format/table.hpp"
#include "stats/summary.hpp"
#include "study/import/file_rows.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::study {
namespace {

using topo::EqualHosts;
using topo::MeasuredCurve;
using topo::MeasuredTime;
using topo::Protocol;

/// What a published curve is for: the fit, the judgement of the fit, or one of few large sizes.
enum class Half { Fitted, HeldBack, Table };
constexpr auto enum_names(Half) {
  return std::array{Named{Half::Fitted, "fitted"}, Named{Half::HeldBack, "held back"},
                    Named{Half::Table, "table"}};
}
constexpr auto kHalves = all_values<Half>();

/// A published log or table of a covered machine.
struct FieldCurve {
  MeasuredCurve curve;
  topo::Library library = topo::Library::Nccl226;
  Half half = Half::Table;
};

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
  entry.library = fields.value<topo::Library>("library").value_or(topo::Library::Nccl226);
  entry.half = fields.value<Half>("half").value_or(Half::Table);
  entry.machine.host.protocol.library = entry.library;
  entry.points = read_points(fields, entry);
  return entry;
}

/// The entry's points, or those of its log.
std::vector<MeasuredTime> times_of(const FieldEntry& entry, const std::string& log) {
  if (entry.file.empty()) return entry.points;
  constexpr Bytes kLeast = 1024;                   // below, the time is that of the launch alone
  std::array<std::vector<MeasuredTime>, 2> times;  // out of place, in place
  for (const FileRows& launch : read_launches(
           log, {.skip_bad_lines = true, .collective = entry.collective, .ranks = entry.ranks})) {
    for (const Record& record : launch.dataset.records) {
      const double time_us = record.time_median_us.value_or(0);
      if (record.status != RowStatus::Ok || record.ranks < 2 || record.size < kLeast ||
          time_us <= 0 || contradicts_itself(record)) {
        continue;
      }
      times.at(record.in_place ? 1 : 0)
          .push_back({.bytes = static_cast<double>(record.size), .time_us = time_us});
    }
  }
  return times[times[0].empty() ? 1 : 0];
}

/// The machine with the hosts that the entry's ranks need, where a network joins them.
topo::Predictor predictor_of(const FieldEntry& entry) {
  EqualHosts machine = entry.machine;
  const auto each = static_cast<int>(machine.host.devices.size());
  if (each > 0) machine.hosts = std::max(machine.hosts, (entry.ranks + each - 1) / each);
  return {machine, {.ranks = entry.ranks, .gpus_per_process = entry.gpus_per_process}};
}

/// The curves of a list, by library and name. Those whose logs are absent are left out.
std::vector<FieldCurve> read_field(const std::string& path, const std::string& folder) {
  const auto text = read_file(path);
  if (!text) throw usage_error(fmt::format("cannot read {}", path));
  const toml::table table = parse_toml(*text, path, "docs/simulation.md");
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
    field.push_back({.curve = {.name = entry.name,
                               .collective = find_collective(entry.collective),
                               .predictor = predictor_of(entry),
                               .times = times_of(entry, log)},
                     .library = entry.library,
                     .half = entry.half});
  }
  return field;
}

constexpr std::array<std::pair<std::string_view, double>, 12> kSizes{{{"8K", 1U << 13U},
                                                                      {"32K", 1U << 15U},
                                                                      {"128K", 1U << 17U},
                                                                      {"512K", 1U << 19U},
                                                                      {"2M", 1U << 21U},
                                                                      {"8M", 1U << 23U},
                                                                      {"32M", 1U << 25U},
                                                                      {"128M", 1U << 27U},
                                                                      {"512M", 1U << 29U},
                                                                      {"1G", 1U << 30U},
                                                                      {"8G", 8589934592.0},
                                                                      {"16G", 17179869184.0}}};

/// Simulated over measured at sizes of the table; of other sizes the curve has points between.
std::vector<std::string> ratio_row(const FieldCurve& one) {
  constexpr double kNear = 0.05;  // sizes of all-gather are whole parts of each rank
  std::vector<std::string> row{one.curve.name, std::string(name(one.half))};
  for (const auto& [title, bytes] : kSizes) {
    const double wanted = bytes;
    const auto found =
        std::find_if(one.curve.times.begin(), one.curve.times.end(),
                     [&](const auto& time) { return std::abs(time.bytes / wanted - 1) < kNear; });
    const bool known = found != one.curve.times.end();
    row.push_back(known ? fmt::format("{:.2f}", topo::simulated_ratio(one.curve, *found)) : "");
  }
  return row;
}

/// The curves of a half, of one library or of all.
std::vector<MeasuredCurve> curves_of(const std::vector<FieldCurve>& field, Half half,
                                     std::optional<topo::Library> library) {
  std::vector<MeasuredCurve> curves;
  for (const FieldCurve& one : field) {
    if (one.half == half && library.value_or(one.library) == one.library) {
      curves.push_back(one.curve);
    }
  }
  return curves;
}

/// What a row is of, then number, median, worst and number above 40 % of the large sizes and of the
/// small ones.
std::vector<std::string> error_columns(std::string first) {
  std::vector<std::string> columns{std::move(first)};
  for (const char* size : {"", "below: "}) {
    for (const char* what : {"points", "median", "worst", "above 40 %"}) {
      columns.push_back(fmt::format("{}{}", size, what));
    }
  }
  return columns;
}

/// The errors of several curves together.
std::vector<std::string> error_row(std::string name, std::span<const MeasuredCurve> curves) {
  constexpr double kFar = 0.4;
  std::vector<std::string> row{std::move(name)};
  for (const bool large : {true, false}) {
    std::vector<double> errors;
    for (const MeasuredCurve& curve : curves) append(errors, topo::errors_of(curve, large));
    const auto summary = stats::summarize(errors);
    if (!summary) {
      row.resize(row.size() + 4);
      continue;
    }
    const auto far = std::ranges::count_if(errors, [](double error) { return error > kFar; });
    row.insert(row.end(), {fmt::format("{}", errors.size()), format_percent(summary->median),
                           format_percent(summary->max), fmt::format("{}", far)});
  }
  return row;
}

Table errors_by_half(const std::vector<FieldCurve>& field) {
  Table table{.columns = error_columns("logs")};
  for (const Half half : kHalves) {
    for (const topo::Library library : topo::kLibraries) {
      const std::vector<MeasuredCurve> curves = curves_of(field, half, library);
      table.rows.push_back(error_row(
          fmt::format("{}, {}: {} curves", name(library), name(half), curves.size()), curves));
    }
    table.rows.push_back(
        error_row(fmt::format("all, {}", name(half)), curves_of(field, half, std::nullopt)));
  }
  return table;
}

void print_field(const std::vector<FieldCurve>& field) {
  Table ratios{.columns = {"log", "half"}};
  for (const auto& [title, bytes] : kSizes) ratios.columns.emplace_back(title);
  Table logs{.columns = error_columns("log")};
  for (const FieldCurve& one : field) {
    ratios.rows.push_back(ratio_row(one));
    logs.rows.push_back(error_row(one.curve.name, {&one.curve, 1}));
  }
  fmt::print("{}\n{}\n{}", markdown_table(errors_by_half(field)), markdown_table(ratios),
             markdown_table(logs));
}

/// First all libraries together from NCCL's model, then each from that.
void fit_field(std::vector<FieldCurve>& field) {
  constexpr double kCommon = 0.002;
  constexpr double kOfALibrary = 0.01;
  std::vector<MeasuredCurve> all = curves_of(field, Half::Fitted, std::nullopt);
  const Protocol common = topo::fit(all, topo::nccl_model(), kCommon);
  std::map<topo::Library, Protocol> results;
  for (const topo::Library library : topo::kLibraries) {
    std::vector<MeasuredCurve> curves = curves_of(field, Half::Fitted, library);
    if (curves.empty()) continue;
    Protocol result = topo::fit(curves, common, kOfALibrary);
    result.library = library;
    result.source = "bench/simulated-ratios --fit";
    fmt::print("{}", topo::protocol_table(result));
    results[library] = result;
  }
  for (FieldCurve& one : field) {
    const auto result = results.find(one.library);
    if (result == results.end()) continue;
    one.curve.predictor.set_protocol(
        topo::with_times(one.curve.predictor.protocol(), result->second));
  }
  fmt::print("\n");
}

int run(std::span<char* const> arguments) {
  const bool is_fit = arguments.size() == 3 && std::string_view(arguments[2]) == "--fit";
  if (arguments.size() != 2 && !is_fit) {
    throw usage_error("usage: simulated_ratios LIST.toml FOLDER_OF_LOGS [--fit]");
  }
  std::vector<FieldCurve> field = read_field(arguments[0], arguments[1]);
  if (is_fit) fit_field(field);
  print_field(field);
  return 0;
}

}  // namespace
}  // namespace busbar::study

int main(int argc, char** argv) {
  try {
    return busbar::study::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
