// SPDX-License-Identifier: BSD-3-Clause
#include "apps/published_command.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/text.hpp"
#include "harness/cli.hpp"
#include "report/csv_writer.hpp"
#include "study/published.hpp"

namespace busbar {
namespace {

/// A row per rate and number of ranks: what a plotting program asks for.
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
  const std::string_view first = arguments.empty() ? "" : arguments.front();
  if (first == "-h" || first == "--help") {
    fmt::print("{}", help_text_of("published"));
    return Status::Ok;
  }
  if (arguments.size() != 1 || first.starts_with('-')) {
    throw usage_error(
        fmt::format("published: give one file of published rates, as {}", kPublishedFile));
  }
  const std::string path(first);
  fmt::print("{}", csv_of(read_published(path), path));
  return Status::Ok;
}

}  // namespace busbar
