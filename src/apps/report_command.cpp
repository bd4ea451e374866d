// SPDX-License-Identifier: BSD-3-Clause
#include <filesystem>

#include "apps/commands.hpp"
#include "base/error.hpp"
#include "base/options.hpp"
#include "format/document.hpp"
#include "format/gnuplot.hpp"
#include "format/output_file.hpp"
#include "study/report/data.hpp"
#include "study/run_facts.hpp"
#include "topo/systems/recognize.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::report_command {

struct ReportOptions {
  std::vector<std::string> systems{};  ///< names of built-in systems, or system files
  std::string out{};                   ///< a file to write: .html or .md
  std::string index{};                 ///< a folder of runs, whose index.html is written
};

using O = ReportOptions;

constexpr auto kOptions = std::to_array<Option<O>>({
    {"--system", "NAME|FILE", set::value<&O::systems>},
    {"-o,--output", "REPORT", set::value<&O::out>},
    {"--index", "DIR", set::value<&O::index>},
});
constexpr std::array<View, 2> kExclusive{"--index,-o", "--index,--system"};
constexpr CommandLineTable<O> kTable{
    {.program = "busbar report", .help = "docs/report-options.md", .exclusive = kExclusive},
    kOptions};

bool is_markdown(const std::string& path) {
  if (path.ends_with(".md")) return true;
  if (path.ends_with(".html") || path.ends_with(".htm")) return false;
  throw usage_error("-o {}: unknown format; end the name in .html or .md", path);
}

/// Takes the built-in system that a log's GPUs are of, as `busbar expect` does.
void recognize_machine(study::Dataset& dataset) {
  if (dataset.simulated) return;
  try {
    const topo::WantedSystem system = topo::wanted_system(study::identity_of(
        {.path = dataset.path, .facts = dataset.facts, .records = dataset.records}, {}));
    dataset.machine = system.name;
    dataset.machine_note = system.note;
  } catch (const Error&) {
    return;  // no GPUs in its head, or of no built-in system
  }
}

/// Writes the folder's index.html, or replaces an index.
Status write_index(const std::string& folder) {
  std::vector<std::string> notes;
  Document index = study::index_of(folder, notes);
  const std::string path = (std::filesystem::path(folder) / "index.html").string();
  const auto earlier = read_file(path);
  if (earlier && earlier->find(study::kIndexMark) == std::string::npos) {
    throw usage_error("--index: {} is there and is not an index of busbar; move it", path);
  }
  draw_charts(index);
  replace_file(path, html_page(index), "--index");
  print_warnings(notes);
  fmt::print(stderr, "busbar: wrote {}\n", path);
  return Status::Ok;
}

Status run(O& options, const Arguments& line) {
  if (!options.index.empty() && !line.positionals.empty()) {
    throw usage_error("report: --index takes a folder and no files");
  }
  if (!options.index.empty()) return write_index(options.index);
  if (line.positionals.empty() && options.systems.empty()) {
    throw usage_error("report: missing input; give CSV files, or --system NAME");
  }
  if (options.out.empty()) {
    throw usage_error("report: missing output; give -o report.html, or -o report.md");
  }
  const bool markdown = is_markdown(options.out);
  std::vector<topo::Graph> graphs = mapped(options.systems, topo::load_system);
  std::vector<study::Dataset> datasets = mapped(line.positionals, study::load_dataset);
  for (study::Dataset& dataset : datasets) recognize_machine(dataset);
  const study::ReportData data = study::make_report_data(std::move(datasets), std::move(graphs));
  if (data.collectives.empty() && !line.positionals.empty()) {
    throw usage_error(
        "report: nothing to show; the files need rows with status ok, a time and a bus bandwidth, "
        "of 2 ranks or more");
  }
  Document document = study::report_document(data);
  if (!markdown) draw_charts(document);
  const std::string text = markdown ? markdown_page(document) : html_page(document);
  OutputFile(options.out, "-o", OutputFile::Mode::New).append(text);
  print_warnings(study::problems_of(data.datasets));
  fmt::print(stderr, "busbar: wrote {}\n", options.out);
  return Status::Ok;
}

}  // namespace busbar::report_command

busbar::Command busbar::make_report_command() {
  return command_of<report_command::kTable, report_command::run>();
}
