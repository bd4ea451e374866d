// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_nvlink.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "topo/graph/graph.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

/// A line "Link N: ..." of `nvidia-smi nvlink`.
struct LinkLine {
  int number = 0;
  std::vector<Word> words{};   ///< behind the colon
  std::size_t line = 1;        ///< for messages
  std::size_t end_column = 1;  ///< one past the last byte
};

/// One GPU's lines, of -s and of -R.
struct NvlinkSection {
  int index = 0;
  std::string name{};
  std::string uuid{};   ///< empty with old drivers
  std::string error{};  ///< what NVML says instead of links
  std::vector<LinkLine> links{};
  std::size_t line = 1;
};

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
      // With -i there is no line of the GPU: nothing to report then.
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

/// Whether the driver says that a link is not in use.
bool is_inactive(const LinkLine& line) {
  return !line.words.empty() && lower(line.words.front().text) == "<inactive>";
}

/// Error (Usage) at a link's line.
Error link_error(std::string_view origin, std::string_view command, const LinkLine& line,
                 const std::string& what) {
  const std::size_t column = line.words.empty() ? line.end_column : line.words.front().column;
  return damaged({.origin = origin, .line = line.line, .column = column}, what, advice(command));
}

/// The GPUs' parts of `command` ("nvidia-smi nvlink -s"); none of an empty text. A prompt ends
/// them. Throws Error (Usage) with line and column.
std::vector<NvlinkSection> read_nvlink_sections(std::string_view text, std::string_view origin,
                                                std::string_view command) {
  return SectionReader(origin, command).read(clean_lines(text));
}

constexpr std::string_view kStatus = "nvidia-smi nvlink -s";
constexpr std::string_view kRemotes = "nvidia-smi nvlink -R";

/// "25.781 GB/s", "25 GB/s" or "<inactive>".
double read_speed_GBps(const LinkLine& line, std::string_view origin) {
  constexpr double kMost = 1e5;
  const auto error = [&](const std::string& what) {
    return link_error(origin, kStatus, line, what);
  };
  if (is_inactive(line)) return 0;
  if (line.words.empty()) throw error("the line of a link is cut short");
  const std::string& text = line.words.front().text;
  if (text == "Remote") throw error("these are the other ends of links (nvlink -R), not speeds");
  double speed = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), speed);
  const bool whole = failure == std::errc{} && end == text.data() + text.size();
  if (!whole || !(speed >= 0 && speed <= kMost)) {
    throw error(fmt::format("{} is no speed in GB/s", in_quotes(text)));
  }
  if (line.words.size() < 2 || line.words[1].text != "GB/s") {
    throw error("no `GB/s` behind the speed: the line is cut short");
  }
  return speed;
}

/// GPUs of one model list as many links, the inactive ones too: a last one with fewer was cut.
void check_last(std::span<const NvlinkSection> sections, std::string_view origin) {
  if (sections.empty() || !sections.back().error.empty()) return;
  const NvlinkSection& last = sections.back();
  for (const NvlinkSection& other : sections) {
    if (other.name == last.name && other.links.size() > last.links.size()) {
      throw damaged({.origin = origin, .line = last.line + last.links.size(), .column = 1},
                    fmt::format("GPU {} lists {} links and GPU {} of the same model {}: cut short",
                                last.index, last.links.size(), other.index, other.links.size()),
                    fmt::format("save all of the output again: {} > FILE", kStatus));
    }
  }
}

/// "Remote Device 00000000:D5:00.0: Link 3"; the link is absent where the driver does not report
/// it.
NvlinkRemote read_remote(const LinkLine& line, std::string_view origin) {
  const auto error = [&](const std::string& what) {
    return link_error(origin, kRemotes, line, what);
  };
  if (line.words.size() > 1 && line.words[1].text == "GB/s") {
    throw error("these are the speeds of links (nvlink -s), not their other ends");
  }
  if (line.words.size() < 3 || line.words[0].text != "Remote" || line.words[1].text != "Device") {
    throw error("no `Remote Device ADDRESS: Link NUMBER`");
  }
  std::string address = line.words[2].text;
  const bool link_follows = address.ends_with(':');
  if (link_follows) address.pop_back();
  NvlinkRemote remote{.number = line.number, .bus_id = normal_bus_id(address)};
  if (remote.bus_id.empty()) throw error(fmt::format("{} is no PCI address", in_quotes(address)));
  if (!link_follows) return remote;
  if (line.words.size() > 4 && line.words[3].text == "Link") {
    remote.remote_link = whole_number(line.words[4].text);
  }
  if (!remote.remote_link) {
    throw error("no `Link NUMBER` behind the address: the line is cut short");
  }
  return remote;
}

}  // namespace

NvlinkStatus parse_nvlink_status(std::string_view text, std::string_view origin) {
  const std::vector<NvlinkSection> sections = read_nvlink_sections(text, origin, kStatus);
  NvlinkStatus status;
  for (const NvlinkSection& section : sections) {
    NvlinkGpu gpu{
        .index = section.index, .name = section.name, .uuid = section.uuid, .error = section.error};
    for (const LinkLine& line : section.links) {
      gpu.links.push_back({.number = line.number, .GBps = read_speed_GBps(line, origin)});
    }
    status.gpus.push_back(std::move(gpu));
  }
  check_last(sections, origin);
  return status;
}

NvlinkRemotes parse_nvlink_remotes(std::string_view text, std::string_view origin) {
  NvlinkRemotes remotes;
  bool tells_links = false;
  for (const NvlinkSection& section : read_nvlink_sections(text, origin, kRemotes)) {
    NvlinkRemoteGpu gpu{
        .index = section.index, .name = section.name, .uuid = section.uuid, .error = section.error};
    for (const LinkLine& line : section.links) {
      if (is_inactive(line)) continue;
      const NvlinkRemote remote = read_remote(line, origin);
      if (tells_links && !remote.remote_link) {
        throw link_error(origin, kRemotes, line,
                         "no `Link NUMBER` as in the lines above: the line is cut short");
      }
      tells_links = remote.remote_link.has_value();
      gpu.links.push_back(remote);
    }
    remotes.gpus.push_back(std::move(gpu));
  }
  return remotes;
}

}  // namespace busbar::topo
