// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <string>

#include "base/text.hpp"
#include "topo/probes/nvidia_smi.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

/// "7:" -> 7.
std::optional<int> number_before_colon(std::string_view word) {
  return word.ends_with(':') ? whole_number(word.substr(0, word.size() - 1)) : std::nullopt;
}

class StatusReader {
 public:
  explicit StatusReader(std::string_view origin)
      : from_{.name = origin, .command = "nvidia-smi nvlink -s"} {}

  /// None of an empty text.
  [[nodiscard]] std::vector<GpuFacts> read(const std::vector<TextLine>& lines) {
    for (const TextLine& line : lines) {
      if (!line.empty() && !is_remark(line)) read_line(line);
    }
    check_last(lines);
    return std::move(gpus_);
  }

 private:
  void read_line(const TextLine& line) {
    const std::string& first = line.words.front().text;
    if (first == "GPU") {
      read_gpu(line);
    } else if (first == "Link" && !gpus_.empty()) {
      read_link(line);
    } else if (is_nvml_error(line)) {
      // With -i there is no line of the GPU: nothing to report then.
      failed_ = true;
    } else {
      throw from_.fault(line.words.front(), "{} is not a line of `{}`", in_quotes(line.text),
                        from_.command);
    }
  }

  /// "NVML: Unable to retrieve NVLink information ...", "Device does not have or support Nvlink".
  static bool is_nvml_error(const TextLine& line) {
    const std::string text = lower(line.text);
    return text.starts_with("nvml:") || text.starts_with("unable to ") ||
           text.find("not have or support nvlink") != std::string::npos;
  }

  /// "GPU 0: NAME (UUID: GPU-...)"; old drivers have no UUID.
  void read_gpu(const TextLine& line) {
    constexpr std::string_view kUuid = " (UUID: ";
    const auto index =
        line.words.size() > 2 ? number_before_colon(line.words[1].text) : std::nullopt;
    if (!index) {
      throw from_.fault(line.words.front(), "{} is not `GPU NUMBER: NAME`", in_quotes(line.text));
    }
    if (any_has(gpus_, *index, &GpuFacts::index)) {
      throw from_.fault(line.words[1], "GPU {} appears twice", *index);
    }
    const std::string rest = line.text.substr(line.words[2].begin);
    if (rest.find('(') != std::string::npos && rest.find(')') == std::string::npos) {
      throw from_.fault(line.end(), "the line is cut short: its bracket is open");
    }
    const std::size_t uuid = std::min(rest.find(kUuid), rest.size());
    gpus_.push_back({.index = *index, .name = rest.substr(0, uuid)});
    if (uuid < rest.size()) {
      const std::size_t begin = uuid + kUuid.size();
      gpus_.back().uuid = rest.substr(begin, rest.find(')', begin) - begin);
    }
    failed_ = false;
  }

  /// "Link 0: 25.781 GB/s", "Link 0: 25 GB/s" or "Link 0: <inactive>".
  void read_link(const TextLine& line) {
    constexpr double kMost = 1e5;
    const auto word = [&](std::size_t i) {
      return i < line.words.size() ? line.words[i].text : std::string{};
    };
    const auto number = number_before_colon(word(1));
    const bool inactive = lower(word(2)) == "<inactive>";
    const auto speed = inactive ? 0 : to_number<double>(word(2));
    if (!number || !speed || !(*speed >= 0 && *speed <= kMost) ||
        (!inactive && word(3) != "GB/s")) {
      throw from_.fault(line.words.front(), "{} is not `Link NUMBER: SPEED GB/s`{}",
                        in_quotes(line.text),
                        word(2) == "Remote" ? ", but another end (nvlink -R)" : "");
    }
    gpus_.back().links.push_back(*speed);
  }

  /// GPUs of one model list as many links, the inactive ones too: a last one with fewer was cut.
  void check_last(const std::vector<TextLine>& lines) const {
    for (const GpuFacts& other : gpus_) {
      const GpuFacts& last = gpus_.back();
      if (failed_ || other.name != last.name || other.links.size() <= last.links.size()) continue;
      throw from_.fault(lines.back().end(),
                        "GPU {} lists {} links and GPU {} of the same model {}: cut short",
                        last.index, last.links.size(), other.index, other.links.size());
    }
  }

  SmiOrigin from_;
  std::vector<GpuFacts> gpus_{};
  bool failed_ = false;  ///< NVML reports an error in place of the last one's links
};

}  // namespace

std::vector<GpuFacts> parse_nvlink_status(std::string_view text, std::string_view origin) {
  return StatusReader(origin).read(clean_lines(text));
}

}  // namespace busbar::topo
