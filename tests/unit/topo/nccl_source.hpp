// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <regex>

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

/// The numbers behind `begin` and before the `end` that follows but for those in comments; none
/// where either is not there.
inline std::vector<double> numbers_between(const std::string& source, const std::string& begin,
                                           const std::string& end) {
  const std::size_t first = source.find(begin);
  const std::size_t last =
      first == std::string::npos ? first : source.find(end, first + begin.size());
  if (last == std::string::npos) return {};
  const std::string text =
      std::regex_replace(source.substr(first + begin.size(), last - first - begin.size()),
                         std::regex(R"(//[^\n]*|/\*[^*]*\*/)"), "");
  std::vector<double> numbers;
  const std::regex number(R"(\d+\.?\d*|\.\d+)");
  for (std::sregex_iterator at(text.begin(), text.end(), number), none; at != none; ++at) {
    numbers.push_back(std::stod(at->str()));
  }
  return numbers;
}

}  // namespace busbar::topo::sample
