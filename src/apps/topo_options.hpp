// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/choice/choose.hpp"
#include "topo/systems/joined_hosts.hpp"

namespace busbar {

/// Where one machine is from: a system, or captured files.
struct MachineSource {
  std::string system{};
  std::string smi{};
  std::string query{};
  std::string hwloc{};
  std::string nccl_xml{};
  std::vector<std::string> p2p{};     ///< reading, then writing
  std::vector<std::string> nvlink{};  ///< -s, -R, in any order
};

/// `busbar topo save --hosts`: equal machines that a network joins.
struct HostsRequest {
  int hosts = 1;
  std::optional<topo::NetworkRequest> network{};  ///< none: the machine's own
};

/// What `busbar topo` was asked for; values only.
struct TopoOptions {
  std::string action{};  ///< show, summary, bound, choose, classes, compare, save
  bool help = false;

  std::vector<MachineSource> machines{};  ///< none: this machine
  std::string nvidia_smi = "nvidia-smi";

  std::vector<topo::Selection> devices{};
  std::optional<int> count{};  ///< -k
  topo::Policy policy = topo::Policy::Best;
  bool partition = false;
  topo::BoundOptions bound{};

  bool json = false;
  bool dot = false;
  std::string svg{};                    ///< a file to write
  std::string name{};                   ///< save: of the system
  std::string out{};                    ///< save: a file to write
  std::optional<HostsRequest> hosts{};  ///< save
};

/// Reads what follows `busbar topo`. Throws a usage error of one line.
[[nodiscard]] TopoOptions parse_topo_options(std::span<char* const> arguments);

}  // namespace busbar
