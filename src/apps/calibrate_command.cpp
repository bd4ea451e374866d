// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <optional>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "format/output_file.hpp"
#include "format/table.hpp"
#include "study/expect/measured_file.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace calibrate_command {

using topo::MeasuredCurve;
using topo::Protocol;

struct CalibrateOptions {
  std::string out{};
  std::string system{};
  std::string collective{};
  std::optional<int> ranks{};
  std::optional<int> gpus_per_process{};
};

using O = CalibrateOptions;

constexpr int kMost = 1 << 16;
constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "FILE", set::value<&O::out>},
    {"--system", "NAME|FILE", set::value<&O::system>},
    {"--collective", "NAME", set::value<&O::collective>},
    {"--ranks", "N", set::integer<&O::ranks, 1, kMost>},
    {"--gpus-per-process", "N", set::integer<&O::gpus_per_process, 1, kMost>},
});
constexpr CommandLineTable<O> kTable{
    {.program = "busbar calibrate", .help = "docs/calibrate-options.md"}, kOptions};

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
  throw usage_error(
      "calibrate: {} from {:.0f} to {:.0f} bytes determine too little; give logs with at least {} "
      "sizes, the largest {:.0f} times the smallest, such as -b 8 -e 8G -f 2",
      counted(points, "row"), smallest, largest, kLeastPoints, kLeastSpan);
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
  Table table{.columns = study::error_columns(title)};
  for (const MeasuredCurve& curve : curves) {
    table.rows.push_back(study::error_row(curve.name, {&curve, 1}));
  }
  if (curves.size() > 1) table.rows.push_back(study::error_row("all", curves));
  fmt::print("{}\n", plain_table(table));
}

void calibrate(const O& options, const std::vector<std::string>& logs) {
  topo::EqualHosts machine = topo::load_machine(options.system);
  std::vector<MeasuredCurve> curves = study::curves_of_files(
      logs, machine, {options.collective, options.ranks, options.gpus_per_process});
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
  write_new(options.out, "-o", topo::write_system(machine.host, machine.hosts));
}

Status run(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
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
CommandLineSyntax calibrate_syntax() { return syntax_of(calibrate_command::kTable); }

}  // namespace busbar
