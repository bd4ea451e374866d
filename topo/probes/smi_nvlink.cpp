// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/text.hpp"
#include "topo/graph/graph.hpp"
#include "topo/probes/nvidia_smi.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

/// What the driver prints of a link that is not in use.
constexpr std::string_view kInactive = "<inactive>";

/// One GPU's lines.
struct GpuSection {
  GpuFacts gpu{};
  std::vector<int> numbers{};  ///< of its links
  std::size_t last = 1;        ///< number of its last line
  bool failed = false;         ///< NVML reports an error in place of links
};

/// What stands behind the colon of a line "Link N: ..."; `at` is its place.
struct LinkText {
  std::span<const Word> words{};
  Word at{};
  /// The text of a word; empty beyond the last.
  [[nodiscard]] std::string operator[](std::size_t i) const {
    return i < words.size() ? words[i].text : std::string{};
  }
};

/// Nothing of a link that is left out.
using ReadLink = std::function<std::optional<NvlinkLink>(const LinkText& link)>;

/// "NVML: Unable to retrieve NVLink information ...", "Device does not have or support Nvlink".
bool is_nvml_error(const TextLine& line) {
  const std::string text = lower(line.text);
  return text.starts_with("nvml:") || text.starts_with("unable to ") ||
         text.find("not have or support nvlink") != std::string::npos;
}

/// What says nothing: signs only, or the driver's remarks.
bool is_noise(const TextLine& line) {
  const bool signs = std::ranges::none_of(
      line.text, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) != 0; });
  return signs || is_remark(line);
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

class SectionReader {
 public:
  SectionReader(const SmiOrigin& from, ReadLink read_link)
      : from_(from), read_link_(std::move(read_link)) {}

  /// The GPUs' parts; none of an empty text. A prompt ends them.
  [[nodiscard]] std::vector<GpuSection> read(const std::vector<TextLine>& lines) {
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
      throw from_.fault(foreign->words.front(), "not the output of `{}`: no line `GPU 0: ...`",
                        from_.command);
    }
    return std::move(sections_);
  }

 private:
  /// False for somebody's words above the first GPU.
  bool read_line(const TextLine& line) {
    const std::string& first = line.words.front().text;
    const bool any = !sections_.empty();
    if (first == "GPU" && line.words.size() > 1) {
      read_gpu(line);
    } else if (first == "Link") {
      read_link(line);
    } else if (is_nvml_error(line)) {
      // With -i there is no line of the GPU: nothing to report then.
      if (any) sections_.back().failed = true;
    } else if (any) {
      throw from_.fault(line.words.front(), "{} is not a line of `{}`", in_quotes(line.text),
                        from_.command);
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
      throw from_.fault(number, "{} is not `GPU NUMBER: NAME`", in_quotes(line.text));
    }
    for (const GpuSection& earlier : sections_) {
      if (earlier.gpu.index != *index) continue;
      throw from_.fault(number, "GPU {} appears twice", *index);
    }
    const std::string rest = line.text.substr(line.words[2].begin);
    if (rest.find('(') != std::string::npos && rest.find(')') == std::string::npos) {
      throw from_.fault(line.end(), "the line is cut short: its bracket is open");
    }
    const std::size_t uuid = std::min(rest.find(kUuid), rest.size());
    GpuFacts gpu{.index = *index, .name = rest.substr(0, uuid)};
    if (uuid < rest.size()) {
      const std::size_t begin = uuid + kUuid.size();
      gpu.uuid = rest.substr(begin, rest.find(')', begin) - begin);
    }
    sections_.push_back({.gpu = std::move(gpu), .last = line.number});
  }

  void read_link(const TextLine& line) {
    if (line.words.size() < 2) throw from_.fault(line.end(), "the line of a link is cut short");
    const Word& number = line.words[1];
    if (number.text.ends_with(',')) {
      throw from_.fault(number, "these are the capabilities of links (nvlink -c), not `{}`",
                        from_.command);
    }
    const auto value = number_before_colon(number.text);
    if (!value) throw from_.fault(number, "{} is not a link: cut short", in_quotes(number.text));
    if (sections_.empty()) {
      throw from_.fault(line.words.front(), "a link above the first line `GPU 0: ...`");
    }
    GpuSection& section = sections_.back();
    section.last = line.number;
    if (std::ranges::count(section.numbers, *value) > 0) {
      throw from_.fault(number, "link {} of GPU {} appears twice", *value, section.gpu.index);
    }
    section.numbers.push_back(*value);
    const auto words = std::span(line.words).subspan(2);
    const auto link =
        read_link_({.words = words, .at = words.empty() ? line.end() : words.front()});
    if (link) section.gpu.links.push_back(*link);
  }

  const SmiOrigin& from_;
  ReadLink read_link_;
  std::vector<GpuSection> sections_{};
};

/// "25.781 GB/s", "25 GB/s" or "<inactive>".
NvlinkLink read_speed(const LinkText& link, const SmiOrigin& from) {
  constexpr double kMost = 1e5;
  if (lower(link[0]) == kInactive) return {};
  if (link[0].empty()) throw from.fault(link.at, "the line of a link is cut short");
  if (link[0] == "Remote") {
    throw from.fault(link.at, "the other ends of links (nvlink -R), not their speeds");
  }
  const auto speed = to_number<double>(link[0]);
  if (!speed || !(*speed >= 0 && *speed <= kMost)) {
    throw from.fault(link.at, "{} is not a speed in GB/s", in_quotes(link[0]));
  }
  if (link[1] != "GB/s") {
    throw from.fault(link.at, "no `GB/s` behind the speed: the line is cut short");
  }
  return {.GBps = *speed};
}

/// "Remote Device 00000000:D5:00.0: Link 3". Some drivers do not report the link: `with_link` keeps
/// what the line before has, so that one cut short is noticed.
NvlinkLink read_remote(const LinkText& link, const SmiOrigin& from, bool& with_link) {
  if (link[1] == "GB/s") {
    throw from.fault(link.at, "the speeds of links (nvlink -s), not their other ends");
  }
  std::string address = link[2];
  if (link[0] != "Remote" || link[1] != "Device" || address.empty()) {
    throw from.fault(link.at, "no `Remote Device ADDRESS: Link NUMBER`");
  }
  const bool link_follows = address.ends_with(':');
  if (link_follows) address.pop_back();
  NvlinkLink end{.bus_id = normal_bus_id(address)};
  if (end.bus_id.empty()) throw from.fault(link.at, "{} is not a PCI address", in_quotes(address));
  const bool has_link = link[3] == "Link" && whole_number(link[4]);
  if ((link_follows || with_link) && !has_link) {
    throw from.fault(link.at, "no `Link NUMBER` behind the address: the line is cut short");
  }
  with_link = has_link;
  return end;
}

}  // namespace

std::vector<GpuFacts> parse_nvlink_status(std::string_view text, std::string_view origin) {
  const SmiOrigin from{.name = origin, .command = "nvidia-smi nvlink -s"};
  const std::vector<TextLine> lines = clean_lines(text);
  const auto read = [&](const LinkText& link) { return read_speed(link, from); };
  std::vector<GpuSection> sections = SectionReader(from, read).read(lines);
  // GPUs of one model list as many links, the inactive ones too: a last one with fewer was cut.
  for (const GpuSection& other : sections) {
    const GpuSection& last = sections.back();
    const std::size_t links = last.gpu.links.size();
    if (last.failed || other.gpu.name != last.gpu.name || other.gpu.links.size() <= links) continue;
    throw from.fault(Word{.line = last.last},
                     "GPU {} lists {} links and GPU {} of the same model {}: cut short",
                     last.gpu.index, links, other.gpu.index, other.gpu.links.size());
  }
  return mapped(sections, &GpuSection::gpu);
}

std::vector<GpuFacts> parse_nvlink_remotes(std::string_view text, std::string_view origin) {
  const SmiOrigin from{.name = origin, .command = "nvidia-smi nvlink -R"};
  const std::vector<TextLine> lines = clean_lines(text);
  bool with_link = false;
  const auto read = [&](const LinkText& link) -> std::optional<NvlinkLink> {
    if (lower(link[0]) == kInactive) return std::nullopt;
    return read_remote(link, from, with_link);
  };
  return mapped(SectionReader(from, read).read(lines), &GpuSection::gpu);
}

}  // namespace busbar::topo
