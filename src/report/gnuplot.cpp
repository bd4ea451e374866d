// SPDX-License-Identifier: BSD-3-Clause
#include "report/gnuplot.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "report/markup_text.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

constexpr Seconds kDrawingTimeout{60};
constexpr std::string_view kDrawn = "<!-- drawn -->\n";
constexpr std::string_view kInstall = "install gnuplot-nox";

/// A script that is gone when this is.
class TemporaryScript {
 public:
  explicit TemporaryScript(const std::string& text)
      : path_((fs::temp_directory_path() / "busbar-chart-XXXXXX").string()) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) throw system_failure("cannot make a file for a script", errno);
    close(descriptor);
    std::ofstream file(path_, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw runtime_failure(fmt::format("cannot write {}", path_));
  }
  TemporaryScript(const TemporaryScript&) = delete;
  TemporaryScript& operator=(const TemporaryScript&) = delete;
  ~TemporaryScript() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// -d: without the user's own settings, so that the same chart gives the same picture.
CommandResult run_gnuplot(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "-d");
  return run_command("gnuplot", arguments, kDrawingTimeout);
}

std::string why_failed(const CommandResult& result) {
  return result.timed_out ? "it took too long" : one_line(trim(result.err));
}

void check(const CommandResult& result, const std::string& what) {
  if (!result.timed_out && result.exit_status == 0) return;
  throw runtime_failure(fmt::format("gnuplot could not draw {}: {}", what, why_failed(result)));
}

std::vector<Figure*> charts_of(Document& document) {
  std::vector<Figure*> figures;
  for (Section& section : document.sections) {
    for (Block& block : section.blocks) {
      auto* figure = std::get_if<Figure>(&block);
      if (figure != nullptr && !figure->chart.empty()) figures.push_back(figure);
    }
  }
  return figures;
}

/// The pictures that one run drew before it ended or failed.
std::vector<std::string> pictures_in(std::string_view out) {
  std::vector<std::string> pictures;
  for (std::size_t end = out.find(kDrawn); end != std::string_view::npos; end = out.find(kDrawn)) {
    pictures.emplace_back(out.substr(0, end));
    out.remove_prefix(end + kDrawn.size());
  }
  return pictures;
}

std::string script_of(std::span<Figure* const> figures) {
  std::string script = "set print '-'\n";
  for (const Figure* figure : figures) {
    script +=
        page_chart_script(figure->chart) + fmt::format("set output\nprint '{}'\n", trim(kDrawn));
  }
  return script;
}

/// The pictures of the first charts, up to one that fails; then the reason, else it stays.
std::vector<std::string> run_page(std::span<Figure* const> figures, std::string& reason) {
  try {
    const TemporaryScript script(script_of(figures));
    const CommandResult result = run_gnuplot({script.path()});
    if (result.not_found) {
      reason = fmt::format("there is no gnuplot here; {} and write the page again", kInstall);
    } else if (result.timed_out || result.exit_status != 0) {
      reason = "gnuplot failed: " + why_failed(result);
    }
    return pictures_in(result.out);
  } catch (const Error& error) {
    reason = error.what();
    return {};
  }
}

/// Drops from `open` to the next `close`, everywhere.
void drop(std::string& text, std::string_view open, std::string_view close) {
  for (std::size_t at = 0; (at = text.find(open, at)) != std::string::npos;) {
    const std::size_t end = text.find(close, at + open.size());
    if (end == std::string::npos) return;
    text.erase(at, end + close.size() - at);
  }
}

/// Within tags ids get the prefix, and names of XML's namespaces go; text is as it was, as gnuplot
/// escapes "<" in it.
std::string with_own_ids(std::string_view text, const std::string& prefix) {
  constexpr std::array<std::string_view, 5> kIds{" id='", " id=\"", "href='#", "href=\"#", "url(#"};
  constexpr std::string_view kNamespace = "xlink:";
  std::string result;
  bool in_tag = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (rest.front() == '<') in_tag = true;
    if (rest.front() == '>') in_tag = false;
    if (in_tag && rest.starts_with(kNamespace)) {
      at += kNamespace.size();
      continue;
    }
    std::size_t taken = 1;
    std::string_view added;
    for (const std::string_view id : kIds) {
      if (!in_tag || !rest.starts_with(id)) continue;
      taken = id.size();
      added = prefix;
    }
    result += rest.substr(0, taken);
    result += added;
    at += taken;
  }
  return result;
}

}  // namespace

void require_gnuplot() {
  if (!run_gnuplot({"--version"}).not_found) return;
  throw Error{Status::Unavailable, fmt::format("plot: there is no gnuplot here; {}", kInstall)};
}

void draw_script(const fs::path& script, const fs::path& picture) {
  std::string out;
  for (const char c : fs::absolute(picture).string()) {  // "|..." would be a command
    out += c;
    if (c == '\'') out += c;
  }
  const CommandResult result =
      run_gnuplot({"-e", fmt::format("out='{}'", out), fs::absolute(script).string()});
  try {
    check(result, script.stem().string());
  } catch (const Error&) {
    std::error_code ignored;
    fs::remove(picture, ignored);
    throw;
  }
}

std::string draw_text(const Chart& chart, TextSize size) {
  const TemporaryScript script(text_chart_script(chart, size));
  CommandResult result = run_gnuplot({script.path()});
  check(result, chart.name);
  return std::move(result.out);
}

void draw_charts(Document& document) {
  const std::vector<Figure*> all = charts_of(document);
  std::span<Figure* const> left = all;
  std::size_t failed = 0;
  std::string reason;
  while (!left.empty()) {
    const std::vector<std::string> pictures = run_page(left, reason);
    for (const std::string& picture : pictures) {
      const std::size_t number = all.size() - left.size() + 1;
      left.front()->svg =
          embedded_svg(picture, fmt::format("chart{}-", number), left.front()->chart.title);
      left = left.subspan(1);
    }
    // The next one failed; where none was drawn at all, so would the others.
    const std::size_t lost = pictures.empty() ? left.size() : std::min<std::size_t>(left.size(), 1);
    failed += lost;
    left = left.subspan(lost);
  }
  if (failed == 0 || document.sections.empty()) return;
  std::vector<Block>& blocks = document.sections.front().blocks;
  blocks.insert(
      blocks.begin(),
      Paragraph{.text = fmt::format("{} of {} are missing: {}. The tables have their values.",
                                    failed, counted(all.size(), "chart"), reason),
                .warning = true});
}

std::string embedded_svg(std::string_view drawn, const std::string& prefix,
                         const std::string& title) {
  constexpr std::string_view kBox = "viewBox=\"0 0 ";
  const std::size_t box = drawn.find(kBox);
  const std::size_t body = drawn.find("<g id=\"gnuplot_canvas\">");
  if (box == std::string_view::npos || body == std::string_view::npos) return {};
  const std::string_view size =
      drawn.substr(box + kBox.size(), drawn.find('"', box + kBox.size()) - box - kBox.size());
  const std::string_view width = size.substr(0, size.find(' '));
  const std::string_view height = size.substr(size.find(' ') + 1);
  std::string parts(drawn.substr(body));
  drop(parts, "<filter", "</filter>\n");
  drop(parts, "<title>gnuplot_plot", "</title>");
  drop(parts, " font-family=\"", "\"");
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, sans-serif\">\n"
      "<title>{2}</title>\n{3}",
      width, height, markup_text(title), trim(with_own_ids(parts, prefix)));
}

}  // namespace busbar
