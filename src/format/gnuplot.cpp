// SPDX-License-Identifier: BSD-3-Clause
#include "format/gnuplot.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <regex>
#include <unistd.h>

#include "base/child_process.hpp"
#include "format/markup_text.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

/// What gnuplot writes to stdout. -d: without the user's own settings, so that the same chart gives
/// the same picture.
std::string run_gnuplot(std::vector<std::string> arguments, const std::string& what) {
  constexpr Seconds kTimeout{60};
  arguments.insert(arguments.begin(), "-d");
  CommandResult result = run_command("gnuplot", arguments, kTimeout);
  if (result.not_found) {
    throw Error{Status::Unavailable, "gnuplot not found; install gnuplot-nox"};
  }
  if (result.timed_out || result.exit_status != 0) {
    // The last line; those before repeat the command.
    const std::string_view text = trim(result.err);
    const std::string_view why = text.substr(text.rfind('\n') + 1);
    throw runtime_failure(fmt::format("gnuplot could not draw {}: {}", what,
                                      result.timed_out ? "it took too long" : one_line(why)));
  }
  return std::move(result.out);
}

/// What a script draws to stdout. It lies in a file without a name.
std::string output_of(const std::string& script, const std::string& what) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  if (!file || std::fputs(script.c_str(), file.get()) < 0 || std::fflush(file.get()) != 0) {
    throw system_failure("cannot write a file for a script", errno);
  }
  return run_gnuplot({fmt::format("/proc/{}/fd/{}", getpid(), fileno(file.get()))}, what);
}

/// Within tags ids get the prefix, and names of XML's namespaces go; text stays, as gnuplot escapes
/// "<" in it.
std::string with_own_ids(const std::string& svg, const std::string& prefix) {
  const std::regex id(R"re((xlink:)?( id=['"]|href=['"]#|url\(#))re");
  std::string result;
  for (std::size_t at = 0; at < svg.size();) {
    const std::size_t tag = std::min(svg.find('<', at), svg.size());
    const std::size_t end = std::min(svg.find('>', tag), svg.size());
    result += svg.substr(at, tag - at);
    result += std::regex_replace(svg.substr(tag, end - tag), id, "$2" + prefix);
    at = end;
  }
  return result;
}

/// gnuplot's SVG as an element for a page: it scales, has a title, and all its ids begin with
/// `prefix`.
std::string embedded_svg(const std::string& drawn, const std::string& prefix,
                         const std::string& title) {
  std::smatch size;
  const std::size_t body = drawn.find("<g id=\"gnuplot_canvas\">");
  const std::regex box("viewBox=\"0 0 ([0-9]+) ([0-9]+)\"");
  if (body == std::string::npos || !std::regex_search(drawn, size, box)) return {};
  const std::regex needless(
      R"re(<filter[\s\S]*?</filter>\n|<title>gnuplot_plot[^<]*</title>| font-family="[^"]*")re");
  const std::string parts = drawn.substr(body, drawn.rfind("</svg>") - body);
  return svg_element(size[1], size[2], title,
                     with_own_ids(std::regex_replace(parts, needless, ""), prefix));
}

}  // namespace

void require_gnuplot() { run_gnuplot({"--version"}, "anything"); }

void draw_script(const fs::path& script, const fs::path& picture) {
  // "|..." would be a command
  const std::string out = doubled(fs::absolute(picture).string(), '\'');
  try {
    run_gnuplot({"-e", fmt::format("out='{}'", out), fs::absolute(script).string()},
                script.stem().string());
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(picture, ignored);
    throw;
  }
}

std::string draw_text(const Chart& chart, TextSize size) {
  return output_of(chart_script(chart, ChartForm::Text, size), chart.name);
}

void draw_charts(Document& document) {
  std::size_t charts = 0;
  std::size_t failed = 0;
  std::string reason;
  for (Section& section : document.sections) {
    for (DocumentBlock& block : section.blocks) {
      auto* figure = std::get_if<Figure>(&block);
      if (figure == nullptr || figure->chart.empty()) continue;
      const Chart& chart = figure->chart;
      ++charts;
      try {
        figure->svg = embedded_svg(output_of(chart_script(chart, ChartForm::Page), chart.title),
                                   fmt::format("chart{}-", charts), chart.title);
      } catch (const Error& error) {
        ++failed;
        reason = error.what();
      }
    }
  }
  if (failed == 0) return;
  std::vector<DocumentBlock>& blocks = document.sections.front().blocks;
  blocks.insert(
      blocks.begin(),
      Paragraph{.text = fmt::format("{} of {} are missing: {}. The tables have their values.",
                                    failed, counted(charts, "chart"), reason),
                .warning = true});
}

}  // namespace busbar
