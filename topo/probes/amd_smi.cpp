// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/amd_smi.hpp"

#include <cmath>
#include <limits>

#include "topo/probes/amd_tables.hpp"
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

bool has_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

/// What the tools print for the kind of a link; only XGMI is one of the GPUs' own.
constexpr std::array<std::string_view, 7> kLinkTypes{"XGMI",     "PCIE",           "N/A", "UNKNOWN",
                                                     "INTERNAL", "NOT_APPLICABLE", "XXXX"};

class MatrixBuilder {
 public:
  MatrixBuilder(AmdTables tables, std::string_view origin)
      : tables_(std::move(tables)), origin_(origin), gpus_(tables_.gpus.size()) {}

  [[nodiscard]] SmiProbe build() {
    check();
    SmiProbe topology;
    SmiMatrix& matrix = topology.matrix.emplace();
    matrix.numa_affinity = tables_.numa;
    matrix.numa_affinity.resize(gpus_);
    matrix.cpu_affinity.resize(gpus_);
    matrix.shows_host = !tables_.numa.empty();
    for (std::size_t i = 0; i < gpus_; ++i) {
      const std::string& name = tables_.gpus[i];
      const auto number = name.starts_with("GPU") ? whole_number(name.substr(3)) : std::nullopt;
      matrix.gpus.push_back(number.value_or(static_cast<int>(i)));
      matrix.bus_ids.push_back(normal_bus_id(name));
      auto& row = matrix.cells.emplace_back();
      for (std::size_t j = 0; j < gpus_; ++j) {
        row.push_back(i == j ? "X" : cell(i, j));
        matrix.shows_host = matrix.shows_host || (i != j && gpu_link_count(row.back()) == 0);
      }
    }
    check_pairs(matrix.cells);
    topology.p2p = access(matrix.gpus);
    return topology;
  }

 private:
  void check() {
    if (gpus_ == 0 || !tables_.tables.contains(AmdTable::Type)) {
      throw amd_fault(origin_, "no table of link types");
    }
    for (std::size_t i = 0; i < gpus_; ++i) {
      for (std::size_t j = 0; j < gpus_; ++j) {
        const std::string type = tables_.cell(AmdTable::Type, i, j);
        if (i == j) continue;
        if (std::ranges::find(kLinkTypes, type) == kLinkTypes.end()) {
          throw amd_fault(origin_, fmt::format("{} between GPUs {} and {} is not a type of link",
                                               in_quotes(type), i, j));
        }
        const int weight = number(AmdTable::Weight, i, j);
        if (type == "XGMI" && weight > 0) direct_ = std::min(direct_, weight);
      }
    }
  }

  void check_pairs(const std::vector<std::vector<std::string>>& cells) const {
    for (std::size_t i = 0; i < gpus_; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (cells[i][j] == cells[j][i]) continue;
        throw amd_fault(origin_, fmt::format("GPUs {} and {} disagree about their link", j, i));
      }
    }
  }

  [[nodiscard]] int number(AmdTable table, std::size_t i, std::size_t j) const {
    return whole_number(tables_.cell(table, i, j)).value_or(0);
  }

  /// Every pair of GPUs of a hive is XGMI. The driver's weight is 15 for each link on the way, so
  /// only the least weight is a link of the pair's own.
  [[nodiscard]] std::string cell(std::size_t i, std::size_t j) const {
    if (tables_.cell(AmdTable::Type, i, j) == "XGMI" && number(AmdTable::Weight, i, j) <= direct_) {
      return gpu_link_label(LinkKind::Xgmi, side_by_side(i, j));
    }
    constexpr int kSameNuma = 2;  // hops by PCIe
    const bool near = tables_.numa.empty() ? number(AmdTable::Hops, i, j) == kSameNuma
                                           : tables_.numa[i] == tables_.numa[j];
    return near ? "NODE" : "SYS";
  }

  /// "50000-200000": of one link, and of all that the pair has, in MB/s. The driver computes both
  /// for 25 GT/s, whatever the links have; 0 or N/A where it does not know.
  [[nodiscard]] int side_by_side(std::size_t i, std::size_t j) const {
    const std::string text = tables_.cell(AmdTable::Bandwidth, i, j);
    const std::size_t dash = std::min(text.find('-'), text.size());
    const int one = whole_number(text.substr(0, dash)).value_or(0);
    const int all = whole_number(text.substr(std::min(dash + 1, text.size()))).value_or(0);
    return one > 0 && all > one ? static_cast<int>(std::lround(static_cast<double>(all) / one)) : 1;
  }

  [[nodiscard]] std::optional<P2pMatrix> access(const std::vector<int>& gpus) const {
    if (!tables_.tables.contains(AmdTable::Access)) return std::nullopt;
    const auto text = [&](std::size_t i, std::size_t j) -> std::string {
      const std::string access = tables_.cell(AmdTable::Access, i, j);
      if (i == j) return "X";
      return access == "ENABLED" ? "OK" : access == "DISABLED" ? "NS" : "U";
    };
    return P2pMatrix{.gpus = gpus, .cells = square_matrix(gpus_, text)};
  }

  AmdTables tables_;
  std::string_view origin_;
  std::size_t gpus_;
  int direct_ = std::numeric_limits<int>::max();
};

/// The first of these fields that is there; empty for N/A.
std::string value_of(const AmdFields& fields, std::initializer_list<std::string_view> names) {
  const auto found = std::ranges::find_if(fields, [&](const auto& field) {
    return std::ranges::find(names, field.first) != names.end();
  });
  return found == fields.end() || found->second == "N/A" ? std::string{} : found->second;
}

GpuFacts facts_of(const AmdFields& fields) {
  const std::string generation = value_of(fields, {"bus.pcie_interface_version"});
  const auto number = [](std::string_view text, int missing) {
    return whole_number(text).value_or(missing);
  };
  return {.index = number(value_of(fields, {"gpu"}), -1),
          .uuid = value_of(fields, {"uuid"}),
          .name = value_of(fields, {"asic.market_name", "market_name"}),
          .bus_id = normal_bus_id(value_of(fields, {"bdf", "bus.bdf"})),
          .pcie_generation = generation.starts_with("Gen ") ? number(generation.substr(4), 0) : 0,
          .pcie_width = number(value_of(fields, {"bus.max_pcie_width"}), 0),
          .numa = number(value_of(fields, {"numa.node"}), -1)};
}

/// What is wrong with the GPU after `above` others; empty where nothing is.
std::string fault_of(const GpuFacts& gpu, const AmdFields& fields, std::size_t above) {
  const std::string bus = value_of(fields, {"bdf", "bus.bdf"});
  if (gpu.index != static_cast<int>(above)) {
    return fmt::format("{} is not its number", in_quotes(value_of(fields, {"gpu"})));
  }
  if (!bus.empty() && gpu.bus_id.empty()) {
    return fmt::format("{} is not a PCI address", in_quotes(bus));
  }
  return bus.empty() && gpu.name.empty() ? "no name and no PCI address" : "";
}

/// Asks the probe's tool, and lets `read` take what it prints. False where there is no such
/// program.
template <typename Read>
bool ask(SmiProbe& probe, const std::string& argument, Read read) {
  const std::string question = fmt::format("{} {}", probe.tool, argument);
  const CommandResult result = run_command(probe.tool, {argument}, kCommandTimeout);
  if (result.not_found) return false;
  if (result.timed_out || result.exit_status != 0) {
    const std::string why =
        result.timed_out ? fmt::format("gave no answer within {:g} s", kCommandTimeout.count())
                         : fmt::format("failed with status {}", result.exit_status);
    probe.warnings.push_back(fmt::format("{} {}: left out", question, why));
    return true;
  }
  try {
    read(result.out, question);
  } catch (const Error& error) {
    probe.warnings.push_back(fmt::format("{} (left out)", error.what()));
  }
  return true;
}

bool ask_topology(SmiProbe& probe, const std::string& argument) {
  return ask(probe, argument, [&](std::string_view text, const std::string& question) {
    SmiProbe found = parse_amd_topology(text, question);
    probe.matrix = std::move(found.matrix);
    probe.p2p = std::move(found.p2p);
  });
}

}  // namespace

std::string AmdTables::cell(AmdTable table, std::size_t from, std::size_t to) const {
  const auto found = tables.find(table);
  return found == tables.end() ? std::string{} : found->second.at(from).at(to);
}

Error amd_fault(std::string_view place, std::string_view what) {
  return usage_error("{}: {}; save all of the output of amd-smi or rocm-smi again", place, what);
}

bool is_amd_topology(std::string_view text) {
  return is_json(text) ||
         has_any(text, {"ROCm System Management", "between two GPUs", "LINK TYPE TABLE",
                        "ACCESS TABLE", "WEIGHT TABLE", "HOPS TABLE"});
}

SmiProbe parse_amd_topology(std::string_view text, std::string_view origin) {
  SmiProbe topology = MatrixBuilder(parse_amd_tables(text, origin), origin).build();
  const bool rocm =
      has_any(lower(text), {"rocm system management", "between two gpus", "(topology)"});
  topology.tool = rocm ? "rocm-smi" : "amd-smi";
  return topology;
}

bool is_amd_gpus(std::string_view text) {
  return is_json(text) || has_any(text, {"GPU: ", "MARKET_NAME", "BDF: "});
}

std::vector<GpuFacts> parse_amd_gpus(std::string_view text, std::string_view origin) {
  std::vector<GpuFacts> gpus;
  const std::vector<AmdFields> all = parse_amd_fields(text, origin);
  for (const AmdFields& fields : all) {
    gpus.push_back(facts_of(fields));
    std::string fault = fault_of(gpus.back(), fields, gpus.size() - 1);
    if (fault.empty() && fields.size() < all.front().size()) {
      fault = "fewer lines than GPU 0: cut short";
    }
    if (fault.empty()) continue;
    throw amd_fault(fmt::format("{}: GPU {}", origin, gpus.size() - 1), fault);
  }
  return gpus;
}

std::optional<SmiProbe> probe_amd_smi() {
  SmiProbe probe{.tool = "amd-smi"};
  if (ask_topology(probe, "topology")) {
    ask(probe, "static", [&](std::string_view text, const std::string& question) {
      probe.gpus = parse_amd_gpus(text, question);
    });
    return probe;
  }
  probe.tool = "rocm-smi";
  return ask_topology(probe, "--showtopo") ? std::optional(std::move(probe)) : std::nullopt;
}

}  // namespace busbar::topo
