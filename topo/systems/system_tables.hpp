// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "base/toml_fields.hpp"
#include "topo/graph/graph.hpp"
#include "topo/graph/protocol.hpp"

namespace busbar::topo {

/// The devices of a file that names none: all GPUs, else all processors.
[[nodiscard]] std::vector<int> default_devices(const Graph& graph);

/// The key "p2p" of a system file: one word for all pairs of a host, or a row of words for each of
/// the graph's devices. Empty where nothing is known.
[[nodiscard]] std::vector<std::vector<P2p>> read_p2p(const TomlFields& file, const Graph& graph);

/// The key "labels": a row of words for each of the graph's devices, as `nvidia-smi topo -m` prints
/// them. Empty where it is missing.
[[nodiscard]] std::vector<std::vector<std::string>> read_labels(const TomlFields& file,
                                                                const Graph& graph);

/// What the key "p2p" says of this graph, as TOML; empty where nothing is known.
[[nodiscard]] std::string p2p_value(const Graph& graph);

/// What the key "labels" says of this graph, as TOML.
[[nodiscard]] std::string labels_value(const Graph& graph);

/// The table [protocol] of a system file; nothing where it is missing.
[[nodiscard]] Protocol read_protocol(const TomlFields& file);

/// The share of `key`: above 0, at most 1; 0 where it is missing.
[[nodiscard]] double read_share(const TomlFields& fields, std::string_view key);

/// The table [protocol] of this protocol; empty where nothing is known.
[[nodiscard]] std::string protocol_table(const Protocol& protocol);

}  // namespace busbar::topo
