// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_gnuplot.hpp"

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kDrawingTimeout{60};

/// Within single quotes gnuplot knows one escape; absolute, as "<..." and "|..." would be commands.
std::string quoted(const fs::path& path) {
  std::string text = "'";
  for (const char c : fs::absolute(path).string()) {
    text += c;
    if (c == '\'') text += c;
  }
  return text + "'";
}

void write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw runtime_failure(fmt::format("cannot write {}", path.string()));
}

}  // namespace

Gnuplot::Gnuplot() {
  if (run_command("gnuplot", {"--version"}).not_found) {
    throw Error{Status::Unavailable, "plot: there is no gnuplot here; install gnuplot-nox"};
  }
  std::string name = (fs::temp_directory_path() / "busbar-plot-XXXXXX").string();
  if (!mkdtemp(name.data())) throw system_failure("cannot make a folder for scripts", errno);
  folder_ = name;
  for (const EmbeddedText& script : embedded_texts("plots")) {
    write(folder_ / fs::path(script.path).filename(), script.text);
  }
}

Gnuplot::~Gnuplot() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

std::string Gnuplot::run(const std::string& figure, const std::string& settings) const {
  const std::string common = (folder_ / "common.gp").string();
  const std::string script = (folder_ / (figure + ".gp")).string();
  const CommandResult result =
      run_command("gnuplot", {"-e", settings, common, script}, kDrawingTimeout);
  if (result.timed_out || result.exit_status != 0) {
    throw runtime_failure(
        fmt::format("gnuplot could not draw {}: {}", figure,
                    result.timed_out ? "it took too long" : one_line(result.err)));
  }
  return result.out;
}

void Gnuplot::draw(const std::string& figure, const fs::path& data, const fs::path& picture) const {
  try {
    (void)run(figure, fmt::format("data={}; out={}", quoted(data), quoted(picture)));
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(picture, ignored);
    throw;
  }
}

std::string Gnuplot::text(const PlotFigure& figure, TextSize size) const {
  const fs::path data = folder_ / (figure.name + ".dat");
  write(data, figure_data(figure));
  return run(figure.name,
             fmt::format("data={}; columns={}; lines={}", quoted(data), size.columns, size.lines));
}

}  // namespace busbar
