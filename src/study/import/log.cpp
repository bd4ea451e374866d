// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

#include <algorithm>
#include <cmath>

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

std::size_t digits_at(std::string_view text, std::size_t start) {
  std::size_t end = start;
  while (end < text.size() && is_digit(text[end])) ++end;
  return end - start;
}

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

/// "[1,0]<stdout>:" of Open MPI, "[0] " of MPICH, also after a date: where it ends, or 0.
std::size_t tag_end(std::string_view text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return 0;
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  const bool numbers = !inside.empty() && std::all_of(inside.begin(), inside.end(), [](char c) {
    return is_digit(c) || c == ',';
  });
  if (!numbers) return 0;
  for (const std::string_view end : {"<stdout>:", "<stderr>:", "<stdout>", "<stderr>"}) {
    if (text.substr(close + 1).starts_with(end)) return close + 1 + end.size();
  }
  return open == 0 ? close + 1 : 0;
}

/// "0:", " 12: " of srun and jsrun: where it ends, or 0.
std::size_t rank_end(std::string_view text) {
  const std::size_t start = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t digits = digits_at(text, start);
  const std::size_t colon = start + digits;
  if (digits == 0 || digits > 7 || colon >= text.size() || text[colon] != ':') return 0;
  const bool ends = colon + 1 == text.size() || text[colon + 1] == ' ' || text[colon + 1] == '#';
  return ends ? colon + 1 : 0;
}

/// Whether a character can be where a shape has d for a digit and ? for what parts date and time.
bool fits(char c, char shape) {
  if (shape == 'd') return is_digit(c);
  if (shape == '?') return c == 'T' || c == ' ';
  return c == shape;
}

/// "2026-11-21T08:34:33.123Z ", "2026-11-21 08:34:33 ", either in brackets: where it ends, or 0.
std::size_t time_end(std::string_view text) {
  const std::size_t bracket = text.starts_with('[') ? 1 : 0;
  const std::string_view body = text.substr(bracket);
  constexpr std::string_view kShape = "dddd-dd-dd?dd:dd:dd";
  if (body.size() < kShape.size()) return 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (!fits(body[i], kShape[i])) return 0;
  }
  constexpr std::string_view kTail = "0123456789.Z+:,";
  std::size_t end = std::min(text.find_first_not_of(kTail, bracket + kShape.size()), text.size());
  if (bracket == 1 && end < text.size() && text[end] == ']') ++end;
  return end;
}

std::string_view without_prefixes(std::string_view text) {
  constexpr int kMostPrefixes = 4;
  for (int i = 0; i < kMostPrefixes; ++i) {
    std::size_t end = time_end(text);
    if (end == 0) end = tag_end(text);
    if (end == 0) end = rank_end(text);
    if (end == 0) return text;
    text.remove_prefix(end);
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
