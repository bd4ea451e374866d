// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvlink_sections.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace busbar::topo {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char letter) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return text;
}

/// "NVML: Unable to retrieve NVLink information ...", "Device does not have or support Nvlink".
bool is_nvml_error(const TextLine& line) {
  const std::string text = lower(line.text);
  return text.starts_with("nvml:") || text.starts_with("unable to ") ||
         text.find("not have or support nvlink") != std::string::npos;
}

/// What says nothing: signs only, or the driver's remarks.
bool is_noise(const TextLine& line) {
  const bool signs = std::none_of(line.text.begin(), line.text.end(), [](char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0;
  });
  return signs || line.text.starts_with("WARNING") ||
         line.text.starts_with("No devices were found");
}

/// What comes behind a prompt is another command's.
bool is_prompt(const TextLine& line) {
  constexpr std::string_view kEnds = "$#%";
  return line.text.find("nvidia-smi") != std::string::npos ||
         (line.words.size() == 1 && kEnds.find(line.text.back()) != std::string_view::npos);
}

/// "7:" -> 7.
std::optional<int> number_before_colon(std::string_view word) {
  return word.ends_with(':') ? whole_number(word.substr(0, word.size() - 1)) : std::nullopt;
}

std::string advice(std::string_view command) {
  return fmt::format("save all of the output again: {} > FILE", command);
}

class SectionReader {
 public:
  SectionReader(std::string_view origin, std::string_view command)
      : origin_(origin), command_(command) {}

  [[nodiscard]] std::vector<NvlinkSection> read(const std::vector<TextLine>& lines) {
    const TextLine* foreign = nullptr;
    for (const TextLine& line : lines) {
      if (is_noise(line)) continue;
      if (is_prompt(line)) {
        if (!sections_.empty()) break;
      } else if (!read_line(line) && foreign == nullptr) {
        foreign = &line;
      }
    }
    if (sections_.empty() && foreign != nullptr) {
      throw error(*foreign, foreign->columns.front(),
                  fmt::format("no output of `{}`: no line `GPU 0: ...`", command_));
    }
    return std::move(sections_);
  }

 private:
  [[nodiscard]] Error error(const TextLine& line, std::size_t column,
                            const std::string& what) const {
    return damaged({.origin = origin_, .line = line.number, .column = column}, what,
                   advice(command_));
  }

  /// False for somebody's words above the first GPU.
  bool read_line(const TextLine& line) {
    const std::string& first = line.words.front().text;
    if (first == "GPU" && line.words.size() > 1) {
      read_gpu(line);
    } else if (first == "Link") {
      read_link(line);
    } else if (is_nvml_error(line)) {
      // With -i there is no line of the GPU: nothing to tell then.
      if (!sections_.empty()) sections_.back().error = line.text;
    } else if (!sections_.empty()) {
      throw error(line, line.columns.front(),
                  fmt::format("{} is no line of `{}`", in_quotes(line.text), command_));
    } else {
      return false;
    }
    return true;
  }

  /// "GPU 0: NAME (UUID: GPU-...)"; old drivers have no UUID.
  void read_gpu(const TextLine& line) {
    constexpr std::string_view kUuid = " (UUID: ";
    const Word& number = line.words[1];
    const auto index = number_before_colon(number.text);
    if (!index || line.words.size() < 3) {
      throw error(line, number.column,
                  fmt::format("{} is no `GPU NUMBER: NAME`", in_quotes(line.text)));
    }
    for (const NvlinkSection& earlier : sections_) {
      if (earlier.index == *index) {
        throw error(line, number.column, fmt::format("GPU {} is there twice", *index));
      }
    }
    const std::string rest = line.text.substr(line.words[2].begin);
    const std::size_t uuid = std::min(rest.find(kUuid), rest.size());
    NvlinkSection section{.index = *index, .name = rest.substr(0, uuid), .line = line.number};
    if (rest.find('(') != std::string::npos && rest.find(')') == std::string::npos) {
      throw error(line, line.columns.back() + 1, "the line is cut short: its bracket is open");
    }
    if (uuid < rest.size()) {
      const std::size_t begin = uuid + kUuid.size();
      section.uuid = rest.substr(begin, rest.find(')', begin) - begin);
    }
    sections_.push_back(std::move(section));
  }

  void read_link(const TextLine& line) {
    const std::size_t end = line.columns.back() + 1;
    if (line.words.size() < 2) throw error(line, end, "the line of a link is cut short");
    const Word& number = line.words[1];
    if (number.text.ends_with(',')) {
      throw error(
          line, number.column,
          fmt::format("these are the capabilities of links (nvlink -c), not `{}`", command_));
    }
    const auto value = number_before_colon(number.text);
    if (!value) {
      throw error(line, number.column,
                  fmt::format("{} is no link: cut short", in_quotes(number.text)));
    }
    if (sections_.empty()) {
      throw error(line, line.columns.front(), "a link above the first line `GPU 0: ...`");
    }
    NvlinkSection& section = sections_.back();
    for (const LinkLine& earlier : section.links) {
      if (earlier.number == *value) {
        throw error(line, number.column,
                    fmt::format("link {} of GPU {} is there twice", *value, section.index));
      }
    }
    section.links.push_back({.number = *value,
                             .words = {line.words.begin() + 2, line.words.end()},
                             .line = line.number,
                             .end_column = end});
  }

  std::string_view origin_;
  std::string_view command_;
  std::vector<NvlinkSection> sections_{};
};

}  // namespace

bool is_inactive(const LinkLine& line) {
  return !line.words.empty() && lower(line.words.front().text) == "<inactive>";
}

Error link_error(std::string_view origin, std::string_view command, const LinkLine& line,
                 const std::string& what) {
  const std::size_t column = line.words.empty() ? line.end_column : line.words.front().column;
  return damaged({.origin = origin, .line = line.line, .column = column}, what, advice(command));
}

std::vector<NvlinkSection> read_nvlink_sections(std::string_view text, std::string_view origin,
                                                std::string_view command) {
  return SectionReader(origin, command).read(clean_lines(text));
}

}  // namespace busbar::topo
