// SPDX-License-Identifier: BSD-3-Clause
#include "apps/report_command.hpp"

#include <fmt/format.h>

#include "apps/report_options.hpp"
#include "apps/warnings.hpp"
#include "harness/cli.hpp"
#include "report/document.hpp"
#include "report/gnuplot.hpp"
#include "report/output_file.hpp"
#include "study/report_document.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {

Status run_report(std::span<char* const> arguments) {
  const ReportOptions options = parse_report_options(arguments);
  if (options.help) {
    fmt::print("{}", help_text_of("report"));
    return Status::Ok;
  }
  std::vector<topo::Graph> graphs;
  for (const std::string& system : options.systems) graphs.push_back(topo::load_system(system));
  const ReportData data = make_report_data(load_datasets(options.files), std::move(graphs));
  if (data.panels.empty() && !options.files.empty()) {
    throw usage_error(
        "report: nothing to show: the files lack rows with status ok, a time and a bus bandwidth, "
        "of "
        "2 ranks or more");
  }
  Document document = report_document(data);
  const bool markdown = is_markdown(options.out);
  if (!markdown) draw_charts(document);
  const std::string text = markdown ? markdown_page(document) : html_page(document);
  OutputFile(options.out, "-o", OutputFile::Mode::New).append(text);
  print_warnings(problems_of(std::span(data.datasets)));
  fmt::print(stderr, "busbar: wrote {}\n", options.out);
  return Status::Ok;
}

}  // namespace busbar
