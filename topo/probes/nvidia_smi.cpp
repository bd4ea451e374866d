// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/nvidia_smi.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/graph/graph.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

constexpr std::size_t kColumns = 7;

struct Cell {
  std::string text{};
  std::size_t begin = 0;  ///< byte of the line
};

std::vector<Cell> cells_of(const std::string& line) {
  std::vector<Cell> cells;
  std::size_t begin = 0;
  for (const std::string& part : split(line, ',')) {
    const std::size_t blanks = std::min(part.find_first_not_of(" \t"), part.size());
    cells.push_back({.text = std::string(trim(part)), .begin = begin + blanks});
    begin += part.size() + 1;
  }
  return cells;
}

class LineReader {
 public:
  LineReader(const TextLine& line, std::string_view origin)
      : line_(line), origin_(origin), cells_(cells_of(line.text)) {}

  [[nodiscard]] bool is_header() const {
    if (cells_.front().text != "index") return false;
    std::string columns;
    for (const Cell& cell : cells_) columns += (columns.empty() ? "" : ",") + cell.text;
    if (columns != kQueryColumns) {
      throw error(cells_.front(), fmt::format("the columns are not {}", kQueryColumns));
    }
    return true;
  }

  [[nodiscard]] GpuFacts read() {
    join_name();
    if (cells_.size() != kColumns) {
      throw error(cells_.back(), fmt::format("{} of {} columns", cells_.size(), kColumns));
    }
    GpuFacts facts{.index = number(0)};
    facts.uuid = is_known(1) ? cells_[1].text : "";
    facts.name = is_known(2) ? cells_[2].text : "";
    facts.bus_id = is_known(3) ? normal_bus_id(cells_[3].text) : "";
    if (is_known(3) && facts.bus_id.empty()) {
      throw error(cells_[3], fmt::format("{} is no PCI address", in_quotes(cells_[3].text)));
    }
    facts.pcie_generation = is_known(4) ? number(4) : 0;
    facts.pcie_width = is_known(5) ? number(5) : 0;
    if (is_known(6)) facts.mig = is_enabled(cells_[6]);
    return facts;
  }

  [[nodiscard]] Error error(const Cell& cell, const std::string& what) const {
    const std::size_t column =
        cell.begin < line_.columns.size() ? line_.columns[cell.begin] : line_.columns.back() + 1;
    return damaged({.origin = origin_, .line = line_.number, .column = column}, what,
                   fmt::format("save all of the output again: nvidia-smi --query-gpu={} "
                               "--format=csv,noheader > FILE",
                               kQueryColumns));
  }

  [[nodiscard]] const Cell& cell(std::size_t column) const { return cells_[column]; }

 private:
  /// nvidia-smi quotes nothing: further commas can only be the name's.
  void join_name() {
    while (cells_.size() > kColumns) {
      cells_[2].text += ", " + cells_[3].text;
      cells_.erase(cells_.begin() + 3);
    }
  }

  /// Not "[N/A]", "[Not Supported]", "[Unknown Error]".
  [[nodiscard]] bool is_known(std::size_t column) const {
    const Cell& cell = cells_[column];
    if (cell.text.empty()) throw error(cell, "an empty cell");
    if (cell.text.front() == '[' && cell.text.back() != ']') {
      throw error(cell, fmt::format("{} is cut short", in_quotes(cell.text)));
    }
    return cell.text.front() != '[' && cell.text != "N/A";
  }

  [[nodiscard]] int number(std::size_t column) const {
    const auto value = whole_number(cells_[column].text);
    if (!value) {
      throw error(cells_[column], fmt::format("{} is no number", in_quotes(cells_[column].text)));
    }
    return *value;
  }

  [[nodiscard]] bool is_enabled(const Cell& cell) const {
    if (cell.text != "Enabled" && cell.text != "Disabled") {
      throw error(cell, fmt::format("{} is neither Enabled nor Disabled", in_quotes(cell.text)));
    }
    return cell.text == "Enabled";
  }

  const TextLine& line_;
  std::string_view origin_;
  std::vector<Cell> cells_;
};

/// What the driver says beside the table.
bool is_remark(const TextLine& line) {
  return line.empty() || line.text.starts_with("WARNING") ||
         line.text.starts_with("No devices were found");
}

}  // namespace

std::vector<GpuFacts> parse_smi_query(std::string_view text, std::string_view origin) {
  std::vector<GpuFacts> gpus;
  for (const TextLine& line : clean_lines(text)) {
    if (is_remark(line)) continue;
    LineReader reader(line, origin);
    if (gpus.empty() && reader.is_header()) continue;
    GpuFacts facts = reader.read();
    for (const GpuFacts& other : gpus) {
      if (other.index == facts.index) {
        throw reader.error(reader.cell(0), fmt::format("GPU {} is there twice", facts.index));
      }
      if (!facts.bus_id.empty() && other.bus_id == facts.bus_id) {
        throw reader.error(reader.cell(3), fmt::format("GPUs {} and {} have the same PCI address",
                                                       other.index, facts.index));
      }
    }
    gpus.push_back(std::move(facts));
  }
  return gpus;
}

namespace {

constexpr std::string_view kMigColumn = ",mig.mode.current";

/// What a program said, in one line of bounded length.
std::string said(const CommandResult& result) {
  constexpr std::size_t kLongest = 160;
  const std::string_view text = trim(trim(result.err).empty() ? result.out : result.err);
  const std::string line = one_line(text.substr(0, kLongest));
  return line.empty() ? "it says nothing" : fmt::format("it says: {}", line);
}

bool mentions(const CommandResult& result, std::string_view words) {
  return result.out.find(words) != std::string::npos || result.err.find(words) != std::string::npos;
}

/// Old drivers know no MIG: their table gets the column that it lacks.
std::string with_mig_column(const std::string& table) {
  std::string out;
  for (const std::string& line : split(table, '\n')) {
    if (!trim(line).empty()) out += fmt::format("{}, [N/A]\n", trim(line));
  }
  return out;
}

class Prober {
 public:
  Prober(const std::string& path, Seconds timeout) : path_(path), timeout_(timeout) {}

  [[nodiscard]] SmiProbe probe() {
    ask_gpus();
    ask(probe_.matrix, {"topo", "-m"}, parse_smi_matrix);
    ask(probe_.p2p_read, {"topo", "-p2p", "r"}, parse_smi_p2p);
    ask(probe_.p2p_write, {"topo", "-p2p", "w"}, parse_smi_p2p);
    ask(probe_.nvlink, {"nvlink", "-s"}, parse_nvlink_status);
    if (has_links()) ask(probe_.remotes, {"nvlink", "-R"}, parse_nvlink_remotes);
    if (probe_.matrix) {
      for (const std::string& note : probe_.matrix->notes) probe_.warnings.push_back(note);
    }
    return std::move(probe_);
  }

 private:
  void warn(std::string words) { probe_.warnings.push_back(std::move(words)); }

  /// "nvidia-smi topo -m"
  [[nodiscard]] std::string question(const std::vector<std::string>& arguments) const {
    return fmt::format("{} {}", path_, join(arguments, " "));
  }

  /// The result, or nothing where it answers no more: then a warning says why, once.
  std::optional<CommandResult> run(const std::vector<std::string>& arguments) {
    if (gone_) return std::nullopt;
    CommandResult result = run_command(path_, arguments, timeout_);
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
                       path_, said(result)));
    } else if (mentions(result, "No devices were found")) {
      warn(fmt::format("{} finds no GPU here", path_));
    } else {
      return result;
    }
    gone_ = true;
    return std::nullopt;
  }

  template <typename Answer, typename Parser>
  void read(Answer& answer, const std::vector<std::string>& arguments, const CommandResult& result,
            Parser parse) {
    if (result.exit_status != 0) {
      return warn(
          fmt::format("{} failed with status {} ({}): left out; an old driver may not "
                      "know this question",
                      question(arguments), result.exit_status, said(result)));
    }
    try {
      answer = parse(result.out, question(arguments));
    } catch (const Error& error) {
      warn(fmt::format("{} (left out)", error.what()));
    }
  }

  template <typename Answer, typename Parser>
  void ask(Answer& answer, const std::vector<std::string>& arguments, Parser parse) {
    if (const auto result = run(arguments)) read(answer, arguments, *result, parse);
  }

  void ask_gpus() {
    std::string columns(kQueryColumns);
    std::vector<std::string> arguments = {"--query-gpu=" + columns, "--format=csv,noheader"};
    auto result = run(arguments);
    if (result && result->exit_status != 0 && mentions(*result, "mig.mode")) {
      columns.resize(columns.size() - kMigColumn.size());
      arguments.front() = "--query-gpu=" + columns;
      result = run(arguments);
      if (result) result->out = with_mig_column(result->out);
    }
    if (result) read(probe_.gpus, arguments, *result, parse_smi_query);
  }

  /// Without an active link there is no other end to ask for.
  [[nodiscard]] bool has_links() const {
    const auto active = [](const NvlinkGpu& gpu) {
      return std::any_of(gpu.links.begin(), gpu.links.end(),
                         [](const NvlinkLink& link) { return link.active(); });
    };
    return !probe_.nvlink ||
           std::any_of(probe_.nvlink->gpus.begin(), probe_.nvlink->gpus.end(), active);
  }

  const std::string& path_;
  Seconds timeout_;
  bool gone_ = false;  ///< it answers no more
  SmiProbe probe_{};
};

}  // namespace

SmiProbe probe_nvidia_smi(const std::string& path, Seconds timeout) {
  return Prober(path, timeout).probe();
}

std::string read_text_file(const std::string& option, const std::string& path) {
  const auto unreadable = [&](int error) {
    return usage_error(fmt::format("{}: cannot read {}: {}", option, path,
                                   std::generic_category().message(error != 0 ? error : EIO)));
  };
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw unreadable(errno);
  std::string text;
  try {
    // A folder opens, and fails only when it is read.
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  } catch (const std::exception&) {
    throw unreadable(errno);
  }
  return text;
}

}  // namespace busbar::topo
