// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_text.hpp"

#include "base/text.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kPrefix = " \t\v\f#*>|";
constexpr std::string_view kBlanks = " \t\v\f";
constexpr char kEscape = '\x1b';

/// Bytes of the colour code at `at`, or 0. Environment collectors drop the ESC and leave "[4m".
std::size_t colour_length(std::string_view line, std::size_t at) {
  const bool escaped = line[at] == kEscape;
  const std::size_t open = escaped ? at + 1 : at;
  if (open >= line.size() || line[open] != '[') return 0;
  const std::size_t end = line.find_first_not_of("0123456789;", open + 1);
  if (end == std::string_view::npos) return 0;
  const bool final = escaped ? (line[end] >= '@' && line[end] <= '~') : line[end] == 'm';
  return final ? end + 1 - at : 0;
}

std::size_t next_stop(std::size_t column, char letter) {
  constexpr std::size_t kTab = 8;
  return letter == '\t' ? (column / kTab + 1) * kTab : column + 1;
}

void add_words(TextLine& line) {
  std::size_t at = 0;
  while ((at = line.text.find_first_not_of(kBlanks, at)) != std::string::npos) {
    const std::size_t end = std::min(line.text.find_first_of(kBlanks, at), line.text.size());
    line.words.push_back({.text = line.text.substr(at, end - at),
                          .line = line.number,
                          .begin = at,
                          .column = line.columns[at]});
    at = end;
  }
}

TextLine clean_line(std::string_view raw, std::size_t number) {
  TextLine line{.number = number};
  bool in_prefix = true;
  for (std::size_t at = 0; at < raw.size();) {
    if (const std::size_t length = colour_length(raw, at); length > 0) {
      at += length;
      continue;
    }
    in_prefix = in_prefix && kPrefix.find(raw[at]) != std::string_view::npos;
    if (in_prefix) line.indent = next_stop(line.indent, raw[at]);
    if (!in_prefix && raw[at] != '\r') {
      line.text += raw[at];
      line.columns.push_back(at + 1);
    }
    ++at;
  }
  line.text.resize(line.text.find_last_not_of(kBlanks) + 1);
  line.columns.resize(line.text.size());
  add_words(line);
  return line;
}

}  // namespace

Word TextLine::end() const {
  return {.line = number, .begin = text.size(), .column = columns.empty() ? 1 : columns.back() + 1};
}

std::vector<TextLine> clean_lines(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.substr(0, kByteOrderMark.size()) == kByteOrderMark) {
    text.remove_prefix(kByteOrderMark.size());
  }
  std::vector<TextLine> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(clean_line(text.substr(0, end), lines.size() + 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_remark(const TextLine& line) {
  return line.text.starts_with("WARNING") || line.text.starts_with("No devices were found");
}

std::optional<int> whole_number(std::string_view text) {
  constexpr std::size_t kMostDigits = 9;
  return text.size() > kMostDigits || text.starts_with('-') ? std::nullopt : to_number<int>(text);
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kLongest = 40;
  std::string out = "'";
  for (const char letter : word.substr(0, kLongest)) {
    out += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return out + (word.size() > kLongest ? "...'" : "'");
}

}  // namespace busbar::topo
