// SPDX-License-Identifier: BSD-3-Clause
#include "apps/commands.hpp"
#include "base/options.hpp"
#include "report/table.hpp"
#include "study/published.hpp"

namespace busbar {
namespace {

struct PublishedOptions {};

constexpr CommandLineTable<PublishedOptions> kTable{
    {.program = "busbar published", .help = "docs/published-options.md", .most_positionals = 1},
    {}};

/// A row per rate and number of ranks, as plotting programs read it.
std::string csv_of(const Published& published, const std::string& path) {
  std::string text =
      fmt::format("# busbar: {}\n# published: {}\n", version(), one_line(path)) +
      "system,collective,ranks,relation,busbw_GBps,theoretical_GBps,condition,source\n";
  for (const PublishedRate& rate : published.rates) {
    for (const int ranks : rate.ranks) {
      text += fmt::format(
          "{},{},{},{},{},{:g},{},{}\n", csv_cell(one_line(rate.system)),
          csv_cell(one_line(rate.collective)), ranks, rate.busbw_GBps ? name(rate.relation) : "",
          rate.busbw_GBps ? fmt::format("{:g}", *rate.busbw_GBps) : "", rate.theoretical_GBps,
          csv_cell(one_line(rate.condition)), csv_cell(one_line(rate.source)));
    }
  }
  return text;
}

}  // namespace

Status run_published(std::span<char* const> arguments) {
  PublishedOptions options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  if (line.positionals.empty()) {
    throw usage_error(
        fmt::format("published: missing file of published rates, such as {}", kPublishedFile));
  }
  const std::string& path = line.positionals.front();
  fmt::print("{}", csv_of(read_published(path), path));
  return Status::Ok;
}

}  // namespace busbar
