// SPDX-License-Identifier: BSD-3-Clause
#include "apps/topo_input.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/assemble/agreement.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/probes/hwloc.hpp"
#include "topo/probes/nccl_xml.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using topo::read_text_file;

void read_nvlink(topo::SmiProbe& smi, const std::string& path) {
  const std::string text = read_text_file("--nvlink", path);
  if (text.find("Remote Device") != std::string::npos) {
    smi.remotes = topo::parse_nvlink_remotes(text, path);
  } else {
    smi.nvlink = topo::parse_nvlink_status(text, path);
  }
}

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

void read_smi(topo::SmiProbe& smi, const MachineSource& source) {
  if (!source.smi.empty()) {
    smi.matrix = topo::parse_smi_matrix(read_text_file("--smi", source.smi), source.smi);
  }
  if (!source.query.empty()) {
    smi.gpus = topo::parse_smi_query(read_text_file("--query", source.query), source.query);
  }
  for (const std::string& path : source.nvlink) read_nvlink(smi, path);
  for (const std::string& path : source.p2p) {
    auto& matrix = smi.p2p_read ? smi.p2p_write : smi.p2p_read;
    matrix = topo::parse_smi_p2p(read_text_file("--p2p", path), path);
  }
}

/// The first capture lends the machine its name.
std::string first_capture(const MachineSource& source) {
  std::vector<std::string> paths{source.smi, source.query, source.nccl_xml, source.hwloc};
  paths.insert(paths.end(), source.nvlink.begin(), source.nvlink.end());
  paths.insert(paths.end(), source.p2p.begin(), source.p2p.end());
  const auto first = std::find_if(paths.begin(), paths.end(),
                                  [](const std::string& path) { return !path.empty(); });
  return first == paths.end() ? "" : *first;
}

topo::Graph from_captures(const MachineSource& source) {
  topo::Sources sources{.name = stem(first_capture(source))};
  read_smi(sources.smi, source);
  if (!source.nccl_xml.empty()) {
    sources.nccl =
        topo::parse_nccl_xml(read_text_file("--nccl-xml", source.nccl_xml), source.nccl_xml);
  }
  if (!source.hwloc.empty()) {
    sources.hwloc = topo::parse_hwloc_xml(read_text_file("--hwloc", source.hwloc), source.hwloc);
  }
  if (const auto problem = topo::contradiction(sources)) {
    throw usage_error(
        *problem +
        "; they come from different machines or different days: give those of one machine");
  }
  return topo::assemble(sources);
}

/// Probes that contradict each other are no mistake of the user.
topo::Graph this_machine(const std::string& nvidia_smi) {
  const topo::Sources sources = topo::probe_machine(nvidia_smi);
  topo::Graph graph = topo::assemble(sources);
  if (const auto problem = topo::contradiction(sources)) {
    graph.warnings.push_back("sources disagree: " + *problem);
  }
  return graph;
}

/// Captures in different folders may have one name.
void make_names_unique(std::vector<topo::Graph>& machines) {
  for (std::size_t i = 0; i < machines.size(); ++i) {
    const auto before = machines.begin() + static_cast<std::ptrdiff_t>(i);
    const std::string name = machines[i].name;
    const auto same = std::count_if(machines.begin(), before,
                                    [&](const topo::Graph& other) { return other.name == name; });
    if (same > 0) machines[i].name = fmt::format("{} ({})", name, same + 1);
  }
}

}  // namespace

std::vector<topo::Graph> read_machines(const TopoOptions& options) {
  std::vector<topo::Graph> machines;
  for (const MachineSource& source : options.machines) {
    machines.push_back(source.system.empty() ? from_captures(source)
                                             : topo::load_system(source.system));
  }
  if (machines.empty()) machines.push_back(this_machine(options.nvidia_smi));
  if (!options.name.empty()) machines.back().name = options.name;
  for (const topo::Graph& machine : machines) {
    if (!machine.devices.empty()) continue;
    throw usage_error(
        fmt::format("{}: no source shows a GPU or a processor; give --smi, --hwloc or --nccl-xml",
                    machine.name));
  }
  make_names_unique(machines);
  return machines;
}

}  // namespace busbar
