// SPDX-License-Identifier: BSD-3-Clause
#include "apps/topo_input.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
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

/// The machine of captures; nothing where no option names any.
std::optional<topo::Graph> from_captures(const TopoOptions& options) {
  topo::Sources sources;
  const auto named = [&](const std::string& path) {
    if (sources.name.empty()) sources.name = options.name.empty() ? stem(path) : options.name;
    return !path.empty();
  };
  if (named(options.smi)) {
    sources.smi.matrix = topo::parse_smi_matrix(read_text_file("--smi", options.smi), options.smi);
  }
  if (named(options.query)) {
    sources.smi.gpus =
        topo::parse_smi_query(read_text_file("--query", options.query), options.query);
  }
  if (named(options.nccl_xml)) {
    sources.nccl =
        topo::parse_nccl_xml(read_text_file("--nccl-xml", options.nccl_xml), options.nccl_xml);
  }
  if (named(options.hwloc)) {
    sources.hwloc = topo::parse_hwloc_xml(read_text_file("--hwloc", options.hwloc), options.hwloc);
  }
  for (const std::string& path : options.nvlink) {
    if (named(path)) read_nvlink(sources.smi, path);
  }
  for (const std::string& path : options.p2p) {
    if (!named(path)) continue;
    auto& matrix = sources.smi.p2p_read ? sources.smi.p2p_write : sources.smi.p2p_read;
    matrix = topo::parse_smi_p2p(read_text_file("--p2p", path), path);
  }
  if (sources.name.empty()) return std::nullopt;
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
