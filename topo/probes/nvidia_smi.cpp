// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

constexpr std::size_t kColumns = 7;

std::vector<Word> cells_of(const TextLine& line) {
  std::vector<Word> cells;
  std::size_t begin = 0;
  for (const std::string& part : split(line.text, ',')) {
    const std::size_t at = begin + std::min(part.find_first_not_of(" \t"), part.size());
    cells.push_back(line.end());
    cells.back().text = trim(part);
    if (at < line.columns.size()) cells.back().column = line.columns[at];
    begin += part.size() + 1;
  }
  return cells;
}

class QueryLine {
 public:
  QueryLine(const TextLine& line, const SmiOrigin& from) : from_(from), cells_(cells_of(line)) {}

  [[nodiscard]] bool is_header() const {
    if (cells_.front().text != "index") return false;
    const auto columns = join_each(cells_, ",", &Word::text);
    if (columns != kQueryColumns) {
      throw from_.fault(cells_[0], "the columns are not {}", kQueryColumns);
    }
    return true;
  }

  /// Throws also where a GPU contradicts one of those above it.
  [[nodiscard]] GpuFacts read(const std::vector<GpuFacts>& above) {
    // nvidia-smi quotes nothing: further commas can only be the name's.
    while (cells_.size() > kColumns) {
      cells_[2].text += ", " + cells_[3].text;
      cells_.erase(cells_.begin() + 3);
    }
    if (cells_.size() != kColumns) {
      throw from_.fault(cells_.back(), "{} of {} columns", cells_.size(), kColumns);
    }
    GpuFacts gpu{.index = number(0),
                 .uuid = is_known(1) ? text(1) : "",
                 .name = is_known(2) ? text(2) : "",
                 .bus_id = is_known(3) ? normal_bus_id(text(3)) : "",
                 .pcie_generation = is_known(4) ? number(4) : 0,
                 .pcie_width = is_known(5) ? number(5) : 0};
    if (is_known(3) && gpu.bus_id.empty()) {
      throw from_.fault(cells_[3], "{} is not a PCI address", in_quotes(text(3)));
    }
    if (is_known(6)) {
      gpu.mig = text(6) == "Enabled";
      if (!*gpu.mig && text(6) != "Disabled") {
        throw from_.fault(cells_[6], "{} is neither Enabled nor Disabled", in_quotes(text(6)));
      }
    }
    check_against(above, gpu);
    return gpu;
  }

 private:
  void check_against(const std::vector<GpuFacts>& above, const GpuFacts& gpu) const {
    for (const GpuFacts& other : above) {
      if (other.index == gpu.index) {
        throw from_.fault(cells_[0], "GPU {} appears twice", gpu.index);
      }
      if (gpu.bus_id.empty() || other.bus_id != gpu.bus_id) continue;
      throw from_.fault(cells_[3], "GPUs {} and {} have the same PCI address", other.index,
                        gpu.index);
    }
  }

  [[nodiscard]] const std::string& text(std::size_t column) const { return cells_[column].text; }

  /// Not "[N/A]", "[Not Supported]", "[Unknown Error]".
  [[nodiscard]] bool is_known(std::size_t column) const {
    if (text(column).empty()) throw from_.fault(cells_[column], "an empty cell");
    const bool bracket = text(column).front() == '[';
    if (bracket && text(column).back() != ']') {
      throw from_.fault(cells_[column], "{} is cut short", in_quotes(text(column)));
    }
    return !bracket && text(column) != "N/A";
  }

  [[nodiscard]] int number(std::size_t column) const {
    const auto value = whole_number(text(column));
    if (!value) throw from_.fault(cells_[column], "{} is not a number", in_quotes(text(column)));
    return *value;
  }

  const SmiOrigin& from_;
  std::vector<Word> cells_;
};

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

/// What a program printed, in one line of bounded length.
std::string output_of(const CommandResult& result) {
  constexpr std::size_t kLongest = 160;
  const std::string_view text = trim(trim(result.err).empty() ? result.out : result.err);
  const std::string line = one_line(text.substr(0, kLongest));
  return line.empty() ? "it says nothing" : fmt::format("it says: {}", line);
}

bool mentions(const CommandResult& result, std::string_view words) {
  return result.out.find(words) != std::string::npos || result.err.find(words) != std::string::npos;
}

class Prober {
 public:
  Prober(const std::string& path, Seconds timeout) : path_(path), timeout_(timeout) {}

  [[nodiscard]] SmiProbe probe() {
    ask_gpus();
    ask(probe_.matrix, {"topo", "-m"}, parse_smi_matrix);
    ask(probe_.p2p, {"topo", "-p2p", "r"}, parse_smi_p2p);
    ask(probe_.nvlink, {"nvlink", "-s"}, parse_nvlink_status);
    return std::move(probe_);
  }

 private:
  using Arguments = std::vector<std::string>;

  void warn(std::string text) { probe_.warnings.push_back(std::move(text)); }

  /// "nvidia-smi topo -m"
  [[nodiscard]] std::string question(const Arguments& arguments) const {
    return fmt::format("{} {}", path_, join(arguments, " "));
  }

  /// The result, or nothing where it answers no more: then a warning says why, once.
  std::optional<CommandResult> run(const Arguments& arguments) {
    if (gone_) return std::nullopt;
    CommandResult result = run_command(path_, arguments, timeout_);
    gone_ = true;
    if (result.not_found) {
      warn(fmt::format("cannot run {} ({}): no GPU is looked for; --nvidia-smi PATH names it",
                       path_, result.err));
    } else if (result.timed_out) {
      warn(
          fmt::format("{} gave no answer within {:g} s and was killed: what it and later questions "
                      "would report is left out; the kernel's log (dmesg) may name a lost GPU",
                      question(arguments), timeout_.count()));
    } else if (result.exit_status == 9 || mentions(result, "couldn't communicate")) {
      warn(fmt::format("{} cannot reach the driver ({}): no GPU is known; load the NVIDIA driver",
                       path_, output_of(result)));
    } else if (mentions(result, "No devices were found")) {
      warn(fmt::format("{} finds no GPU here", path_));
    } else {
      gone_ = false;
      return result;
    }
    return std::nullopt;
  }

  template <typename Answer, typename Parser>
  void read(Answer& answer, const Arguments& arguments, const CommandResult& result, Parser parse) {
    if (result.exit_status != 0) {
      return warn(fmt::format(
          "{} failed with status {} ({}): left out; an old driver may not know this question",
          question(arguments), result.exit_status, output_of(result)));
    }
    try {
      answer = parse(result.out, question(arguments));
    } catch (const Error& error) {
      warn(fmt::format("{} (left out)", error.what()));
    }
  }

  template <typename Answer, typename Parser>
  void ask(Answer& answer, const Arguments& arguments, Parser parse) {
    if (const auto result = run(arguments)) read(answer, arguments, *result, parse);
  }

  /// Old drivers know no MIG: their table gets the column that it lacks.
  void ask_gpus() {
    const std::string columns(kQueryColumns);
    Arguments arguments{"--query-gpu=" + columns, "--format=csv,noheader"};
    auto result = run(arguments);
    if (result && result->exit_status != 0 && mentions(*result, "mig.mode")) {
      arguments.front() = "--query-gpu=" + columns.substr(0, columns.rfind(','));
      result = run(arguments);
      std::string table;
      for (const std::string& line : split(result ? result->out : "", '\n')) {
        if (!trim(line).empty()) table += fmt::format("{}, [N/A]\n", trim(line));
      }
      if (result) result->out = table;
    }
    if (result) read(probe_.gpus, arguments, *result, parse_smi_query);
  }

  const std::string& path_;
  Seconds timeout_;
  bool gone_ = false;  ///< it answers no more
  SmiProbe probe_{};
};

}  // namespace

std::vector<GpuFacts> parse_smi_query(std::string_view text, std::string_view origin) {
  const std::string command =
      fmt::format("nvidia-smi --query-gpu={} --format=csv,noheader", kQueryColumns);
  const SmiOrigin from{.name = origin, .command = command};
  std::vector<GpuFacts> gpus;
  for (const TextLine& line : clean_lines(text)) {
    if (line.empty() || is_remark(line)) continue;
    QueryLine reader(line, from);
    if (!gpus.empty() || !reader.is_header()) gpus.push_back(reader.read(gpus));
  }
  return gpus;
}

std::vector<GpuFacts> parse_nvlink_status(std::string_view text, std::string_view origin) {
  return StatusReader(origin).read(clean_lines(text));
}

SmiProbe probe_nvidia_smi(const std::string& path, Seconds timeout) {
  return Prober(path, timeout).probe();
}

}  // namespace busbar::topo
