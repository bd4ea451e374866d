// SPDX-License-Identifier: BSD-3-Clause
#include "apps/commands.hpp"
#include "base/options.hpp"
#include "format/table.hpp"
#include "study/expect/published.hpp"

namespace busbar {
namespace published_command {

struct PublishedOptions {};

constexpr CommandLineTable<PublishedOptions> kTable{
    {.program = "busbar published", .help = "docs/published-options.md", .most_positionals = 1},
    {}};

std::string cell(const std::optional<double>& figure) {
  return figure ? fmt::format("{:g}", *figure) : "";
}

std::string_view placement(const study::PublishedRate& rate) {
  if (!rate.in_place) return "";
  return *rate.in_place ? "in" : "out";
}

/// A row per rate, number of ranks and size, as plotting programs read it.
std::string csv_of(const study::Published& published, const std::string& path) {
  std::string text =
      fmt::format("# busbar: {}\n# published: {}\n", version(), one_line(path)) +
      "system,instance,nodes,collective,ranks,size_bytes,placement,relation,busbw_GBps,time_us,"
      "theoretical_GBps,evidence,condition,source\n";
  for (const study::PublishedRate& rate : published.rates) {
    const bool open = !rate.busbw_GBps && !rate.time_us;
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n",
                        csv_cell(one_line(rate.system)), csv_cell(one_line(rate.instance)),
                        rate.nodes, csv_cell(one_line(rate.collective)), rate.ranks,
                        rate.size ? fmt::format("{}", *rate.size) : "", placement(rate),
                        open ? "" : name(rate.relation), cell(rate.busbw_GBps), cell(rate.time_us),
                        cell(rate.theoretical_GBps), open ? "" : name(rate.evidence),
                        csv_cell(one_line(rate.condition)), csv_cell(one_line(rate.source)));
  }
  return text;
}

Status run(std::span<char* const> arguments) {
  PublishedOptions options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  if (line.positionals.empty()) {
    throw usage_error("published: missing file of published rates, such as {}",
                      study::kPublishedFile);
  }
  const std::string& path = line.positionals.front();
  fmt::print("{}", csv_of(study::read_published(path), path));
  return Status::Ok;
}

}  // namespace published_command

Status run_published(std::span<char* const> arguments) { return published_command::run(arguments); }

}  // namespace busbar
