// SPDX-License-Identifier: BSD-3-Clause
#include "apps/topo_input.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "topo/assemble/agreement.hpp"
#include "topo/assemble/assemble.hpp"
#include "topo/assemble/live.hpp"
#include "topo/probes/hwloc_tree.hpp"
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

void read_smi(topo::SmiProbe& smi, const TopoOptions& options) {
  if (!options.smi.empty()) {
    smi.matrix = topo::parse_smi_matrix(read_text_file("--smi", options.smi), options.smi);
  }
  if (!options.query.empty()) {
    smi.gpus = topo::parse_smi_query(read_text_file("--query", options.query), options.query);
  }
  for (const std::string& path : options.nvlink) read_nvlink(smi, path);
  for (const std::string& path : options.p2p) {
    auto& matrix = smi.p2p_read ? smi.p2p_write : smi.p2p_read;
    matrix = topo::parse_smi_p2p(read_text_file("--p2p", path), path);
  }
}

/// The first capture lends the machine its name; empty where there is none.
std::string first_capture(const TopoOptions& options) {
  std::vector<std::string> paths{options.smi, options.query, options.nccl_xml, options.hwloc};
  paths.insert(paths.end(), options.nvlink.begin(), options.nvlink.end());
  paths.insert(paths.end(), options.p2p.begin(), options.p2p.end());
  const auto first = std::find_if(paths.begin(), paths.end(),
                                  [](const std::string& path) { return !path.empty(); });
  return first == paths.end() ? "" : *first;
}

/// The machine of captures; nothing where no option names any.
std::optional<topo::Graph> from_captures(const TopoOptions& options) {
  const std::string first = first_capture(options);
  if (first.empty()) return std::nullopt;
  topo::Sources sources{.name = options.name.empty() ? stem(first) : options.name};
  read_smi(sources.smi, options);
  if (!options.nccl_xml.empty()) {
    sources.nccl =
        topo::parse_nccl_xml(read_text_file("--nccl-xml", options.nccl_xml), options.nccl_xml);
  }
  if (!options.hwloc.empty()) {
    sources.hwloc = topo::parse_hwloc_xml(read_text_file("--hwloc", options.hwloc), options.hwloc);
  }
  if (const auto problem = topo::contradiction(sources)) throw usage_error(*problem);
  return topo::assemble(sources);
}

}  // namespace

std::vector<topo::Graph> read_machines(const TopoOptions& options) {
  std::vector<topo::Graph> machines;
  for (const std::string& system : options.systems) {
    machines.push_back(topo::load_system(system));
  }
  if (!machines.empty()) return machines;
  if (auto captured = from_captures(options)) {
    machines.push_back(std::move(*captured));
  } else {
    machines.push_back(topo::assemble(topo::probe_machine(options.nvidia_smi)));
  }
  if (!options.name.empty()) machines.back().name = options.name;
  if (machines.back().devices.empty()) {
    throw usage_error(
        fmt::format("{}: no GPU and no processor is told; give a source that has them by --smi, "
                    "--hwloc or --nccl-xml",
                    machines.back().name));
  }
  return machines;
}

}  // namespace busbar
