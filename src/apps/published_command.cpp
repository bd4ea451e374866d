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

using R = const study::PublishedRate&;

/// What the source has no figure of.
bool is_open(R rate) { return !rate.busbw_GBps && !rate.time_us; }

constexpr auto kColumns = std::to_array<Column<study::PublishedRate>>({
    {"system", "", [](R r) { return r.system; }},
    {"instance", "", [](R r) { return r.instance; }},
    {"nodes", "", [](R r) { return r.nodes; }},
    {"collective", "", [](R r) { return r.collective; }},
    {"ranks", "", [](R r) { return r.ranks; }},
    {"size_bytes", "", [](R r) { return r.size; }},
    {"placement", "", [](R r) { return !r.in_place   ? ""
                                       : *r.in_place ? "in"
                                                     : "out"; }},
    {"relation", "", [](R r) { return is_open(r) ? "" : name(r.relation); }},
    {"busbw_GBps", "", [](R r) { return r.busbw_GBps; }},
    {"time_us", "", [](R r) { return r.time_us; }},
    {"theoretical_GBps", "", [](R r) { return r.theoretical_GBps; }},
    {"evidence", "", [](R r) { return is_open(r) ? "" : name(r.evidence); }},
    {"condition", "", [](R r) { return r.condition; }},
    {"source", "", [](R r) { return r.source; }},
});

Status run(std::span<char* const> arguments) {
  PublishedOptions options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  if (line.positionals.empty()) {
    throw usage_error("published: missing file of published rates, such as {}",
                      study::kPublishedFile);
  }
  const std::string& path = line.positionals.front();
  const auto rates = study::read_published(path).rates;
  fmt::print("# busbar: {}\n# published: {}\n{}", version(), one_line(path),
             csv_text(kColumns, rates, [](double value) { return fmt::format("{:g}", value); }));
  return Status::Ok;
}

}  // namespace published_command

Status run_published(std::span<char* const> arguments) { return published_command::run(arguments); }
CommandLineSyntax published_syntax() { return syntax_of(published_command::kTable); }

}  // namespace busbar
