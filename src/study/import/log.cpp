// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

#include <algorithm>
#include <cmath>
#include <regex>

#include "base/text.hpp"

namespace busbar::study {

std::optional<int> stated_ranks(const LogTable& table) {
  if (table.ranks && *table.ranks > 0) return table.ranks;
  int last = -1;
  for (const LogDevice& device : table.devices) last = std::max(last, device.rank);
  if (last >= 0) return last + 1;
  return std::nullopt;
}

std::optional<int> listed_ranks(const LogTable& table) {
  const auto stated = stated_ranks(table);
  const bool whole =
      stated && (table.ranks || table.devices.size() >= static_cast<std::size_t>(*stated));
  return whole ? stated : std::nullopt;
}

namespace {

constexpr int kMostRanks = 1 << 24;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Colours of terminals: ESC [ ... letter.
std::string without_colours(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      if (text[i] != '\r') plain += text[i];
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') ++i;
    while (i + 1 < text.size() && (is_digit(text[i + 1]) || text[i + 1] == ';')) ++i;
    ++i;
  }
  return plain;
}

/// What launchers and CI put before lines: times, "2026-11-21T08:34:33.123Z " and
/// "[2026-11-21 08:34:33]"; tags, "[1,0]<stdout>:" of Open MPI, also after a date, and "[0] " of
/// MPICH; ranks, "0:" and " 12: " of srun and jsrun.
const std::regex& prefix_pattern() {
  static const std::regex kPattern(
      R"(\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[0-9.Z+:,]*\]?|[^\[\]]*\[[0-9,]+\]<std(out|err)>:?)"
      R"(|\[[0-9,]+\]| *\d{1,7}:(?= |#|$))",
      std::regex::optimize);
  return kPattern;
}

std::string_view without_prefixes(std::string_view text) {
  constexpr int kMostPrefixes = 4;
  constexpr std::size_t kLongest = 256;  // the library's search recurses at every character
  for (int i = 0; i < kMostPrefixes; ++i) {
    const std::string_view start = text.substr(0, kLongest);
    std::cmatch found;
    if (!std::regex_search(start.data(), start.data() + start.size(), found, prefix_pattern(),
                           std::regex_constants::match_continuous)) {
      break;
    }
    text.remove_prefix(static_cast<std::size_t>(found.length()));
  }
  return text;
}

}  // namespace

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string plain = without_colours(text.substr(0, end));
    lines.push_back({.number = lines.size() + 1,
                     .text = std::string(trim(without_prefixes(plain))),
                     .whole = whole});
    text.remove_prefix(whole ? end + 1 : text.size());
  }
  return lines;
}

std::optional<Printed> printed_number(std::string_view word) {
  const auto value = to_number<double>(word);
  if (!value || !std::isfinite(*value) || std::signbit(*value)) return std::nullopt;
  const std::size_t exponent = word.find_first_of("eE");
  const std::string_view digits = word.substr(0, exponent);
  const std::size_t point = digits.find('.');
  const double decimals =
      point == std::string_view::npos ? 0 : static_cast<double>(digits.size() - point - 1);
  double power = 0;
  if (exponent != std::string_view::npos) {
    std::string_view text = word.substr(exponent + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    power = to_number<double>(text).value_or(0);
  }
  return Printed{.value = *value, .half_unit = 0.5 * std::pow(10.0, power - decimals)};
}

std::optional<int> small_number(std::string_view word) {
  const auto value = to_number<int>(word);
  return value && *value >= -1 && *value <= kMostRanks ? value : std::nullopt;
}

std::optional<std::uint64_t> number_after(const std::vector<std::string>& words,
                                          std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end() || found + 1 == words.end()) return std::nullopt;
  return to_number<std::uint64_t>(*(found + 1));
}

std::optional<int> processes_of_command(const std::vector<std::string>& words) {
  const auto launcher = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = word.substr(word.rfind('/') + 1);
    return name == "mpirun" || name == "mpiexec" || name == "srun" || name == "mpiexec.hydra";
  });
  for (auto word = launcher; word != words.end() && word + 1 != words.end(); ++word) {
    if (*word != "-n" && *word != "-np" && *word != "--ntasks") continue;
    const auto count = small_number(*(word + 1));
    if (count && *count > 0) return count;
  }
  return std::nullopt;
}

}  // namespace busbar::study
