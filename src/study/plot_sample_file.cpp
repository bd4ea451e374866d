// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/plot_samples.hpp"

namespace busbar {
namespace {

constexpr std::array<std::string_view, 6> kColumns{"collective", "type",       "op",
                                                   "in_place",   "size_bytes", "time_us"};

using Key = std::tuple<std::string, std::string, std::string, bool, Bytes>;

/// Where the columns stand, or an empty list where one is missing.
std::vector<std::size_t> positions(const std::string& header) {
  const std::vector<std::string> names = split(trim(header), ',');
  std::vector<std::size_t> found;
  for (const std::string_view column : kColumns) {
    const auto at = std::find(names.begin(), names.end(), column);
    if (at == names.end()) return {};
    found.push_back(static_cast<std::size_t>(std::distance(names.begin(), at)));
  }
  return found;
}

double number_of(const std::string& cell, const std::string& path, int line) {
  char* end = nullptr;
  const double value = std::strtod(cell.c_str(), &end);
  if (!cell.empty() && *end == '\0' && value >= 0) return value;
  throw usage_error(
      fmt::format("{}:{}: '{}' is no number; give a file that --samples wrote", path, line, cell));
}

}  // namespace

bool is_samples_file(const std::string& path) { return !positions(first_line_of(path)).empty(); }

std::vector<SampleSet> read_samples(const std::string& path, const std::string& label) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) throw usage_error(fmt::format("cannot read {}", path));
  const std::vector<std::size_t> at = positions(text);
  std::map<Key, std::vector<double>> times;
  for (int line = 2; std::getline(file, text) && !file.eof(); ++line) {
    const std::vector<std::string> cells = split(text, ',');
    if (cells.size() <= *std::max_element(at.begin(), at.end())) {
      throw usage_error(
          fmt::format("{}:{}: too few cells; give a file that --samples wrote", path, line));
    }
    const auto size = static_cast<Bytes>(number_of(cells[at[4]], path, line));
    times[{cells[at[0]], cells[at[1]], cells[at[2]], cells[at[3]] == "1", size}].push_back(
        number_of(cells[at[5]], path, line));
  }
  std::vector<SampleSet> sets;
  for (auto& [key, values] : times) {
    const auto& [collective, type, op, in_place, size] = key;
    sets.push_back({.label = label,
                    .collective = collective,
                    .type = type,
                    .op = op,
                    .in_place = in_place,
                    .size = size,
                    .times_us = std::move(values)});
  }
  return sets;
}

}  // namespace busbar
