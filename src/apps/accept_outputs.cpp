// SPDX-License-Identifier: BSD-3-Clause
#include "apps/accept_outputs.hpp"

#include <array>
#include <filesystem>
#include <set>
#include <system_error>

#include <fmt/format.h>

#include "base/error.hpp"
#include "judge/output/verdict_output.hpp"
#include "report/output_file.hpp"

namespace busbar {
namespace {

using Text = std::string (*)(const judge::Acceptance&, const judge::Specification&);

struct Output {
  std::string_view option;
  std::string_view file;  ///< its name in the folder of a run
  std::string AcceptOutputs::*path;
  Text text;
};

constexpr std::array kOutputs{
    Output{"--verdicts", "verdicts.csv", &AcceptOutputs::verdicts, judge::verdict_csv},
    Output{"--junit", "junit.xml", &AcceptOutputs::junit, judge::verdict_junit},
    Output{"--json", "verdicts.json", &AcceptOutputs::json, judge::verdict_json},
    Output{"--prometheus", "metrics.prom", &AcceptOutputs::prometheus, judge::verdict_prometheus},
    Output{"--markdown", "verdicts.md", &AcceptOutputs::markdown, judge::verdict_markdown},
    Output{"--html", "report.html", &AcceptOutputs::html, judge::verdict_html}};

}  // namespace

AcceptOutputs outputs_in(const std::string& folder, AcceptOutputs named) {
  for (const Output& output : kOutputs) {
    std::string& path = named.*output.path;
    if (path.empty()) path = fmt::format("{}/{}", folder, output.file);
  }
  return named;
}

void check_outputs(const AcceptOutputs& outputs) {
  std::set<std::string> seen;
  for (const Output& output : kOutputs) {
    const std::string& path = outputs.*output.path;
    if (path.empty()) continue;
    if (!seen.insert(path).second) {
      throw usage_error(fmt::format("{}: {} is another output's file already; give another",
                                    output.option, path));
    }
    std::error_code error;
    const bool replaced = output.path == &AcceptOutputs::prometheus;
    if (!replaced && std::filesystem::exists(path, error)) {
      throw usage_error(
          fmt::format("{}: {} exists; give another name or remove it", output.option, path));
    }
  }
}

void write_outputs(const AcceptOutputs& outputs, const judge::Acceptance& acceptance,
                   const judge::Specification& specification) {
  for (const Output& output : kOutputs) {
    const std::string& path = outputs.*output.path;
    if (path.empty()) continue;
    const std::string text = output.text(acceptance, specification);
    if (output.path == &AcceptOutputs::prometheus) {
      replace_file(path, text, output.option);
    } else {
      OutputFile(path, output.option, OutputFile::Mode::New).append(text);
    }
  }
}

}  // namespace busbar
