// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "base/child_process.hpp"

namespace busbar::topo::sample {

/// A file of src/graph of NCCL 2.28.9, where its source lies beside the checkout.
inline std::optional<std::string> nccl_source(const std::string& file) {
  const std::filesystem::path archive = "../shared/data/nccl-2.28.9.tar.xz";
  if (!std::filesystem::exists(archive)) return std::nullopt;
  const CommandResult read = run_command("tar", {"-xJOf", archive.string(), "src/graph/" + file});
  if (read.exit_status != 0) return std::nullopt;
  return read.out;
}

/// C++ without its comments.
inline std::string without_comments(const std::string& text) {
  std::string kept;
  for (std::size_t at = 0; at < text.size();) {
    const bool line = text.compare(at, 2, "//") == 0;
    if (!line && text.compare(at, 2, "/*") != 0) {
      kept += text[at++];
      continue;
    }
    const std::size_t end = text.find(line ? "\n" : "*/", at);
    if (end == std::string::npos) break;
    at = line ? end : end + 2;
  }
  return kept;
}

/// The numbers behind `begin` and before the `end` that follows; none where either is not there.
inline std::vector<double> numbers_between(const std::string& source, const std::string& begin,
                                           const std::string& end) {
  const std::size_t first = source.find(begin);
  if (first == std::string::npos) return {};
  const std::size_t last = source.find(end, first + begin.size());
  if (last == std::string::npos) return {};
  const std::string text =
      without_comments(source.substr(first + begin.size(), last - first - begin.size()));
  std::vector<double> numbers;
  for (const char* at = text.c_str(); *at != '\0';) {
    char* after = nullptr;
    const double number = std::strtod(at, &after);
    const bool starts = std::isdigit(static_cast<unsigned char>(*at)) != 0 || *at == '.';
    if (starts && after != at) numbers.push_back(number);
    at = starts && after != at ? after : at + 1;
  }
  return numbers;
}

}  // namespace busbar::topo::sample
