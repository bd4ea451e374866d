// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_heading.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

namespace busbar::topo {
namespace {

constexpr std::size_t kMostColumns = 512;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) { return std::isalpha(static_cast<unsigned char>(letter)) != 0; }

bool starts_with_gpu_number(std::string_view word) {
  return word.size() > 3 && word.starts_with("GPU") && is_digit(word[3]);
}

/// Where a second label begins in a word: after a digit, what only labels begin with. Or npos.
std::size_t second_label(std::string_view word) {
  constexpr std::array<std::string_view, 5> kBeginnings = {"GPU", "NIC", "mlx", "CPU", "NUMA"};
  for (std::size_t at = 1; at < word.size(); ++at) {
    const auto begins = [&](std::string_view label) { return word.substr(at).starts_with(label); };
    if (is_digit(word[at - 1]) && std::any_of(kBeginnings.begin(), kBeginnings.end(), begins)) {
      return at;
    }
  }
  return std::string_view::npos;
}

/// A NIC as the driver or the kernel names it: NIC0, mlx5_0, rocep49s0, bnxt_re0.
bool is_nic_label(std::string_view word) {
  if (word.starts_with("GPU") || second_label(word) != std::string_view::npos) return false;
  if (word.starts_with("NIC")) return whole_number(word.substr(3)).has_value();
  const auto fits = [](char letter) {
    return is_letter(letter) || is_digit(letter) || letter == '_' || letter == '-' || letter == '.';
  };
  return is_letter(word.front()) && std::any_of(word.begin(), word.end(), is_digit) &&
         std::all_of(word.begin(), word.end(), fits);
}

bool is_device(std::string_view word) { return gpu_index(word) || is_nic_label(word); }

bool begins_headings(std::string_view word) {
  return word == "CPU" || word == "NUMA" || word == "GPU";
}

/// "CPU Affinity", "NUMA Affinity", "GPU NUMA ID" from word `first` on; what else is there is a
/// note of somebody's.
std::vector<std::string> read_headings(std::span<const Word> words) {
  const std::array<std::vector<std::string_view>, 3> known = {
      {{"CPU", "Affinity"}, {"NUMA", "Affinity"}, {"GPU", "NUMA", "ID"}}};
  std::vector<std::string> headings;
  while (!words.empty()) {
    const auto stands_here = [&](const std::vector<std::string_view>& heading) {
      return words.size() >= heading.size() &&
             std::equal(heading.begin(), heading.end(), words.begin(),
                        [](std::string_view part, const Word& word) { return word.text == part; });
    };
    const auto* const found = std::find_if(known.begin(), known.end(), stands_here);
    if (found == known.end()) break;
    headings.push_back(fmt::format("{}", fmt::join(*found, " ")));
    words = words.subspan(found->size());
  }
  return headings;
}

class HeadingReader {
 public:
  HeadingReader(const TextLine& line, std::string_view origin, const GridKind& kind)
      : line_(line), origin_(origin), kind_(kind) {}

  [[nodiscard]] GridHeading read() const {
    GridHeading heading;
    std::size_t at = 0;
    for (; at < line_.words.size() && !ends_devices(at); ++at) add(heading.labels, line_.words[at]);
    const auto rest = std::span(line_.words).subspan(at);
    heading.headings = read_headings(rest);
    check_headings(rest, heading.headings);
    if (!rest.empty()) heading.headings_start = display_column(line_, rest.front().begin);
    return heading;
  }

 private:
  [[nodiscard]] Error error(const Word& word, const std::string& what) const {
    return damaged({.origin = origin_, .line = line_.number, .column = word.column}, what,
                   advice(kind_));
  }

  /// Behind the devices come affinities, or a note that begins with a sign.
  [[nodiscard]] bool ends_devices(std::size_t at) const {
    const std::string& word = line_.words[at].text;
    return begins_headings(word) || (!is_letter(word.front()) && !is_digit(word.front()));
  }

  void add(std::vector<std::string>& labels, const Word& word) const {
    if (second_label(word.text) != std::string::npos) {
      throw error(word,
                  fmt::format("labels of columns have run together in {}", in_quotes(word.text)));
    }
    if (!is_device(word.text)) {
      throw error(word, fmt::format("{} is no label of a column", in_quotes(word.text)));
    }
    if (std::find(labels.begin(), labels.end(), word.text) != labels.end()) {
      throw error(word, fmt::format("{} has two columns", word.text));
    }
    if (labels.size() == kMostColumns) {
      throw error(word, fmt::format("more than {} columns", kMostColumns));
    }
    labels.push_back(word.text);
  }

  /// A heading cut short, or devices behind the affinities.
  void check_headings(std::span<const Word> rest, const std::vector<std::string>& found) const {
    if (!rest.empty() && begins_headings(rest.front().text) && found.empty()) {
      throw error(rest.front(), fmt::format("{} is no whole heading: the line is cut short",
                                            in_quotes(rest.front().text)));
    }
    for (const Word& word : rest) {
      if (starts_with_gpu_number(word.text) || second_label(word.text) != std::string::npos) {
        throw error(word, fmt::format("{} stands behind the affinities", in_quotes(word.text)));
      }
    }
  }

  const TextLine& line_;
  std::string_view origin_;
  const GridKind& kind_;
};

}  // namespace

std::optional<int> gpu_index(std::string_view label) {
  if (!label.starts_with("GPU")) return std::nullopt;
  const std::string_view number = label.substr(3);
  if (number.size() > 1 && number.front() == '0') return std::nullopt;
  return whole_number(number);
}

bool is_nvlink_label(std::string_view word) {
  if (!word.starts_with("NV") || word.size() > 5 || word.substr(2).starts_with('0')) return false;
  return whole_number(word.substr(2)).has_value();
}

bool is_cell(const GridKind& kind, std::string_view word) {
  return (kind.nvlinks && is_nvlink_label(word)) ||
         std::find(kind.cells.begin(), kind.cells.end(), word) != kind.cells.end();
}

std::string run_together_cells(const GridKind& kind, std::string_view word) {
  // Front to back, the longest label first: no label of either matrix begins with another one and
  // goes on with a third.
  constexpr std::size_t kLongestLabel = 5;
  std::vector<std::string_view> parts;
  while (!word.empty()) {
    std::size_t length = std::min(word.size(), kLongestLabel);
    while (length > 0 && !is_cell(kind, word.substr(0, length))) --length;
    if (length == 0) return {};
    parts.push_back(word.substr(0, length));
    word.remove_prefix(length);
  }
  return parts.size() < 2 ? std::string{} : fmt::format("{}", fmt::join(parts, " and "));
}

bool is_row_like(const GridKind& kind, const TextLine& line) {
  if (line.words.size() < 2) return false;
  const std::string& second = line.words[1].text;
  return is_cell(kind, second) || !run_together_cells(kind, second).empty();
}

bool is_heading_like(const TextLine& line) {
  if (line.words.empty()) return false;
  const std::string& first = line.words.front().text;
  const bool run_together = starts_with_gpu_number(first) && second_label(first) < first.size();
  const bool gpu = gpu_index(first).has_value();
  if (line.words.size() == 1) return gpu || run_together;
  const bool device = gpu || first.starts_with("NIC") || first.starts_with("mlx");
  if (!device && !run_together) return false;
  const std::string& second = line.words[1].text;
  if (is_nvlink_label(second)) return false;
  const bool more = begins_headings(second) || starts_with_gpu_number(second) ||
                    is_device(second) || second_label(second) < second.size();
  return more && std::any_of(line.words.begin(), line.words.end(),
                             [](const Word& word) { return starts_with_gpu_number(word.text); });
}

std::string advice(const GridKind& kind) {
  return fmt::format("save all of the output again: {} > FILE", kind.command);
}

GridHeading read_heading(std::span<const TextLine> lines, std::string_view origin,
                         const GridKind& kind) {
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const TextLine& line = lines[at];
    if (is_heading_like(line)) {
      GridHeading heading = HeadingReader(line, origin, kind).read();
      heading.line = at;
      return heading;
    }
    if (is_row_like(kind, line) && starts_with_gpu_number(line.words.front().text)) {
      throw damaged({.origin = origin, .line = line.number, .column = line.words.front().column},
                    fmt::format("a row of {} without the line of column labels above it",
                                in_quotes(line.words.front().text)),
                    advice(kind));
    }
  }
  throw damaged({.origin = origin},
                fmt::format("no matrix of `{}`: no line of labels GPU0, GPU1, ...", kind.command),
                advice(kind));
}

}  // namespace busbar::topo
