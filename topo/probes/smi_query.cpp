// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_query.hpp"

#include <algorithm>

#include <fmt/format.h>

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
    facts.uuid = told(1) ? cells_[1].text : "";
    facts.name = told(2) ? cells_[2].text : "";
    facts.bus_id = told(3) ? normal_bus_id(cells_[3].text) : "";
    if (told(3) && facts.bus_id.empty()) {
      throw error(cells_[3], fmt::format("{} is no PCI address", in_quotes(cells_[3].text)));
    }
    facts.pcie_generation = told(4) ? number(4) : 0;
    facts.pcie_width = told(5) ? number(5) : 0;
    if (told(6)) facts.mig = is_enabled(cells_[6]);
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
  [[nodiscard]] bool told(std::size_t column) const {
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

}  // namespace busbar::topo
