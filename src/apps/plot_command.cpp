// SPDX-License-Identifier: BSD-3-Clause
#include "apps/plot_command.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "apps/plot_options.hpp"
#include "apps/warnings.hpp"
#include "harness/cli.hpp"
#include "report/gnuplot.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

/// The terminal's size; without a terminal what COLUMNS says, or 100 characters.
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
    throw usage_error(
        fmt::format("-o: cannot write {}; give a folder that you may write to", path.string()));
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder)) {
    throw usage_error(fmt::format("-o: cannot make the folder {}: {}", folder.string(),
                                  error ? error.message() : "it is a file"));
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

}  // namespace

Status run_plot(std::span<char* const> arguments) {
  const PlotOptions options = parse_plot_options(arguments);
  if (options.help) {
    fmt::print("{}", help_text_of("plot"));
    return Status::Ok;
  }
  PlotInput input = load_plot_input(options.files);
  const std::vector<std::string> problems = problems_of(input.datasets);
  const std::vector<Chart> figures = make_figures(std::move(input), options.wishes);
  require_gnuplot();
  if (options.terminal) {
    for (const Chart& figure : figures) fmt::print("{}", draw_text(figure, text_size()));
  } else {
    draw_pictures(figures, options);
  }
  print_warnings(problems);
  return Status::Ok;
}

}  // namespace busbar
