// SPDX-License-Identifier: BSD-3-Clause
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/gnuplot.hpp"
#include "study/plot/figures.hpp"

namespace busbar::plot_command {

namespace fs = std::filesystem;

struct PlotOptions {
  std::string folder{};  ///< -o
  std::vector<std::string> formats{"svg", "png"};
  bool terminal = false;
  study::PlotRequest request{};
};

using O = PlotOptions;

void set_figure(O& options, View option, View text) {
  const std::vector<std::string> known = study::figure_names();
  if (!contains(known, text)) {
    throw InvalidValue(fmt::format("invalid value '{}' for {}; {}", text, option,
                                   suggestion(text, known, "expected " + alternatives(known))),
                       known);
  }
  options.request.figures.emplace_back(text);
}

void set_format(O& options, View option, View text) {
  (void)parse_choice(option, text, split("svg,png", ','));
  options.formats = {std::string(text)};
}

void set_limits(O& options, View option, View text) {
  constexpr double kMost = 1e6;
  const std::vector<std::string> parts = split(text, ':');
  if (parts.size() != 2) {
    throw usage_error("invalid value '{}' for {}; expected LOW:HIGH in GB/s, such as 0:50", text,
                      option);
  }
  const ChartRange limits{.low = parse_number(option, parts[0], 0, kMost),
                          .high = parse_number(option, parts[1], 0, kMost)};
  if (limits.low >= limits.high) {
    throw usage_error("{} {}: LOW must be less than HIGH", option, text);
  }
  options.request.limits = limits;
}

void set_log_y(O& options, View option, View text) {
  const std::size_t wanted =
      text.empty() ? 0 : parse_choice(option, text, split("always,never,auto", ','));
  options.request.log_y.reset();
  if (wanted < 2) options.request.log_y = wanted == 0;
}

constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "DIR", set::value<&O::folder>},
    {"--figure", "NAME", set_figure},
    {"--format", "FORMAT", set_format},
    {"--terminal", "", set::value<&O::terminal>},
    {"--placement", "WHICH",
     [](O& o, View n, View v) { o.request.placement = parse_value<study::PlotPlacement>(n, v); }},
    {"--size", "SIZE", [](O& o, View n, View v) { o.request.size = parse_bytes(n, v); }},
    {"--limits", "LOW:HIGH", set_limits},
    {"--log-y", "[=WHEN]", set_log_y},
});
constexpr std::array<View, 2> kExclusive{"--terminal,-o", "--terminal,--format"};
constexpr CommandLineTable<O> kTable{
    {.program = "busbar plot", .help = "docs/plot-options.md", .exclusive = kExclusive}, kOptions};

/// The terminal's size; without a terminal COLUMNS, or 100 characters.
TextSize text_size() {
  TextSize size;
  winsize window{};
  const char* columns = std::getenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe): one thread
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    size = {.columns = window.ws_col, .lines = window.ws_row};
  } else if (columns) {
    size.columns = static_cast<int>(std::strtol(columns, nullptr, 10));
  }
  return {.columns = std::clamp(size.columns - 1, 60, 400),
          .lines = std::clamp(size.lines - 2, 20, 60)};
}

/// Pictures and their scripts are derived from the CSVs: what is there is replaced.
void write_script(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) {
    throw usage_error("-o: cannot write {}; give a folder that you may write to", path.string());
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw usage_error("-o: cannot create the folder {}: {}", folder.string(),
                      error ? error.message() : "it is a file");
  }
}

void draw_pictures(const std::vector<Chart>& figures, const PlotOptions& options) {
  const fs::path folder = options.folder;
  make_folder(folder);
  for (const Chart& figure : figures) {
    const fs::path script = folder / (figure.name + ".gp");
    write_script(script, chart_script(figure));
    for (const std::string& format : options.formats) {
      const fs::path picture = folder / (figure.name + '.' + format);
      draw_script(script, picture);
      fmt::print("{}\n", picture.string());
    }
  }
}

Status run(O& options, const Arguments& line) {
  if (line.positionals.empty()) {
    throw usage_error("plot: missing FILE; give CSVs that *_perf --csv wrote");
  }
  if (!options.terminal && options.folder.empty()) {
    throw usage_error("plot: missing output; give a folder with -o DIR, or --terminal");
  }
  const study::PlotInput input = study::load_plot_input(line.positionals);
  const std::vector<std::string> problems = study::problems_of(input.datasets);
  const std::vector<Chart> figures = study::make_figures(input, options.request);
  require_gnuplot();
  if (options.terminal) {
    for (const Chart& figure : figures) fmt::print("{}", draw_text(figure, text_size()));
  } else {
    draw_pictures(figures, options);
  }
  print_warnings(problems);
  return Status::Ok;
}

}  // namespace busbar::plot_command

busbar::Command busbar::make_plot_command() {
  return command_of<plot_command::kTable, plot_command::run>();
}
