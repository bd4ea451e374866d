// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "report/output_file.hpp"
#include "report/table.hpp"
#include "study/measured_curves.hpp"
#include "topo/systems/system_tables.hpp"
#include "topo/systems/system_writer.hpp"

namespace busbar {
namespace calibrate_command {

using study::FieldCurve;
using topo::ErrorSummary;
using topo::MeasuredCurve;
using topo::Protocol;
using View = std::string_view;

struct CalibrateOptions {
  std::string out{};
  std::string system{};
  std::string field{};
  std::string logs{};
  bool fit = false;
  study::CurveRequest request{};
};

using O = CalibrateOptions;

int parse_count(View option, View text) {
  constexpr int kMost = 1 << 16;
  return static_cast<int>(parse_integer(option, text, 1, kMost));
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "FILE", set::value<&O::out>},
    {"--system", "NAME", set::value<&O::system>},
    {"--collective", "NAME", [](O& o, View, View v) { o.request.collective = v; }},
    {"--ranks", "N", [](O& o, View n, View v) { o.request.ranks = parse_count(n, v); }},
    {"--gpus-per-process", "N",
     [](O& o, View n, View v) { o.request.gpus_per_process = parse_count(n, v); }},
    {"--field", "FILE", set::value<&O::field>},
    {"--logs", "FOLDER", set::value<&O::logs>},
    {"--fit", "", [](O& o, View, View) { o.fit = true; }},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar calibrate", .help = "docs/calibrate-options.md"}, kOptions};

std::string percent(double share) { return fmt::format("{:.0f} %", share * 100); }

/// Median, worst and number above 40 %.
void add_errors(std::vector<std::string>& row, const std::vector<double>& errors) {
  const ErrorSummary summary = topo::summarize_errors(errors);
  if (summary.points == 0) {
    row.insert(row.end(), 4, "");
    return;
  }
  row.push_back(fmt::format("{}", summary.points));
  row.push_back(percent(summary.median));
  row.push_back(percent(summary.worst));
  row.push_back(fmt::format("{}", summary.above));
}

std::vector<std::string> with_errors(std::string first) {
  std::vector<std::string> columns{std::move(first)};
  for (const View size : {"from 1 MiB", "below"}) {
    for (const View what : {"points", "median", "worst", "above 40 %"}) {
      columns.push_back(fmt::format("{}{}", size == "below" ? "below: " : "", what));
    }
  }
  return columns;
}

/// The errors of several curves together.
std::vector<std::string> error_row(std::string name, const std::vector<const MeasuredCurve*>& all) {
  std::vector<std::string> row{std::move(name)};
  for (const bool large : {true, false}) {
    std::vector<double> errors;
    for (const MeasuredCurve* curve : all) {
      const std::vector<double> more = topo::errors_of(*curve, large);
      errors.insert(errors.end(), more.begin(), more.end());
    }
    add_errors(row, errors);
  }
  return row;
}

std::vector<const MeasuredCurve*> pointers(const std::vector<MeasuredCurve>& curves) {
  std::vector<const MeasuredCurve*> all;
  for (const MeasuredCurve& curve : curves) all.push_back(&curve);
  return all;
}

constexpr std::array<std::pair<View, double>, 12> kSizes{{{"8K", 1U << 13U},
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
std::vector<MeasuredCurve> curves_of(const std::vector<FieldCurve>& field, study::Half half,
                                     std::optional<topo::Library> library) {
  std::vector<MeasuredCurve> curves;
  for (const FieldCurve& one : field) {
    if (one.half == half && library.value_or(one.library) == one.library) {
      curves.push_back(one.curve);
    }
  }
  return curves;
}

Table errors_by_half(const std::vector<FieldCurve>& field) {
  Table table{.columns = with_errors("logs")};
  for (const study::Half half : study::kHalves) {
    for (const topo::Library library : topo::kLibraries) {
      const std::vector<MeasuredCurve> curves = curves_of(field, half, library);
      table.rows.push_back(
          error_row(fmt::format("{}, {}: {} curves", name(library), name(half), curves.size()),
                    pointers(curves)));
    }
    const std::vector<MeasuredCurve> all = curves_of(field, half, std::nullopt);
    table.rows.push_back(error_row(fmt::format("all, {}", name(half)), pointers(all)));
  }
  return table;
}

void print_field(const std::vector<FieldCurve>& field) {
  Table ratios{.columns = {"log", "half"}};
  for (const auto& [title, bytes] : kSizes) ratios.columns.emplace_back(title);
  Table logs{.columns = with_errors("log")};
  for (const FieldCurve& one : field) {
    ratios.rows.push_back(ratio_row(one));
    logs.rows.push_back(error_row(one.curve.name, {&one.curve}));
  }
  fmt::print("{}\n{}\n{}", markdown_table(errors_by_half(field)), markdown_table(ratios),
             markdown_table(logs));
}

/// First all libraries together from NCCL's model, then each from that.
void fit_field(std::vector<FieldCurve>& field) {
  constexpr double kCommon = 0.002;
  std::vector<MeasuredCurve> all = curves_of(field, study::Half::Fitted, std::nullopt);
  const Protocol common =
      topo::fit(all, topo::nccl_model(), {.bandwidth = false, .stiffness = kCommon});
  std::map<topo::Library, Protocol> results;
  for (const topo::Library library : topo::kLibraries) {
    std::vector<MeasuredCurve> curves = curves_of(field, study::Half::Fitted, library);
    if (curves.empty()) continue;
    Protocol result = topo::fit(curves, common, {.bandwidth = false});
    result.library = library;
    result.source = "bench/simulated-ratios --fit";
    fmt::print("{}", topo::protocol_table(result));
    results[library] = result;
  }
  for (FieldCurve& one : field) {
    const auto result = results.find(one.library);
    if (result == results.end()) continue;
    one.curve.predictor.set_protocol(
        topo::with_times(one.curve.predictor.protocol(), result->second, false));
  }
  fmt::print("\n");
}

/// Refuses what would determine nothing.
void check_enough(const std::vector<MeasuredCurve>& curves) {
  constexpr std::size_t kLeastPoints = 8;
  constexpr double kLeastSpan = 256;
  std::size_t points = 0;
  double smallest = 0;
  double largest = 0;
  for (const MeasuredCurve& curve : curves) {
    points += curve.times.size();
    for (const topo::MeasuredTime& time : curve.times) {
      smallest = smallest > 0 ? std::min(smallest, time.bytes) : time.bytes;
      largest = std::max(largest, time.bytes);
    }
  }
  if (points >= kLeastPoints && largest >= kLeastSpan * smallest) return;
  throw usage_error(fmt::format(
      "calibrate: {} from {:.0f} to {:.0f} bytes determine too little; give logs with at least {} "
      "sizes, the largest {:.0f} times the smallest, such as -b 8 -e 8G -f 2",
      counted(points, "row"), smallest, largest, kLeastPoints, kLeastSpan));
}

std::string source_of(const std::vector<MeasuredCurve>& curves, const std::string& before) {
  std::size_t points = 0;
  std::vector<std::string> names;
  for (const MeasuredCurve& curve : curves) {
    points += curve.times.size();
    names.push_back(one_line(curve.name));
  }
  return fmt::format("busbar calibrate: fitted to {} of {}{}{}", counted(points, "row"),
                     join(names, ", "), before.empty() ? "" : "; before: ", before);
}

void print_errors(const char* title, const std::vector<MeasuredCurve>& curves) {
  Table table{.columns = with_errors(title)};
  for (const MeasuredCurve& curve : curves) table.rows.push_back(error_row(curve.name, {&curve}));
  if (curves.size() > 1) table.rows.push_back(error_row("all", pointers(curves)));
  fmt::print("{}\n", plain_table(table));
}

void calibrate(const O& options, const std::vector<std::string>& logs) {
  topo::EqualHosts machine = topo::load_machine(options.system);
  std::vector<MeasuredCurve> curves = study::curves_of_files(logs, machine, options.request);
  check_enough(curves);
  check_new(options.out, "-o");
  print_errors("before", curves);
  const Protocol start = topo::completed(machine.host.protocol);
  const Protocol fitted = topo::fit(curves, start, {});
  print_errors("after", curves);
  Protocol& own = machine.host.protocol;
  const std::string source = source_of(curves, own.source);
  own = topo::with_changes(own, start, fitted);
  own.source = source;
  OutputFile(options.out, "-o", OutputFile::Mode::New)
      .append(topo::write_system(machine.host, machine.hosts));
  fmt::print(stderr, "busbar: wrote {}\n", options.out);
}

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  if (!options.field.empty()) {
    std::vector<FieldCurve> field = study::read_field(options.field, options.logs);
    if (options.fit) fit_field(field);
    print_field(field);
    return Status::Ok;
  }
  if (line.positionals.empty()) {
    throw usage_error("calibrate: missing log or CSV; see busbar calibrate --help");
  }
  if (options.system.empty()) throw usage_error("calibrate: missing machine; give --system NAME");
  if (options.out.empty()) throw usage_error("calibrate: missing output; give -o FILE.toml");
  calibrate(options, line.positionals);
  return Status::Ok;
}

}  // namespace calibrate_command

Status run_calibrate(std::span<char* const> arguments) { return calibrate_command::run(arguments); }

}  // namespace busbar
