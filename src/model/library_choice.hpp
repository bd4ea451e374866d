// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>

namespace busbar {

/// How the library runs one operation, as its own log reports it; a member that the log does not
/// give is empty.
struct LibraryChoice {
  std::string algorithm{};  ///< "Ring", "Tree", "NVLS", ...
  std::string protocol{};   ///< "LL", "LL128", "Simple", or a kernel's name
  std::optional<int> channels{};
};

/// How the library connects a rank to others, as its own log reports it. Plain data, as it is sent
/// between ranks.
struct LibraryTransports {
  bool known = false;       ///< the log has such lines
  bool switchable = false;  ///< the log can be on for single operations: choices can be observed
  bool nvls = false;        ///< NVLink SHARP: the switch reduces
  bool gpudirect = false;   ///< some connection over the network uses GPUDirect RDMA
  std::array<char, 256> links{};     ///< kinds of connections, "NET/IB, P2P/CUMEM", sorted
  std::array<char, 120> channels{};  ///< "16 coll, 8 nvls, 32 p2p"
};

}  // namespace busbar
