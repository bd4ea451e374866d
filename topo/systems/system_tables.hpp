// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml_fields.hpp"
#include "topo/graph/graph.hpp"
#include "topo/graph/protocol.hpp"

namespace busbar::topo {

/// "GPU0-7" stands for GPU0 to GPU7; any other text for itself. Throws the fault of `key` for a
/// range that does not count upwards, or of more than 256.
[[nodiscard]] std::vector<std::string> names_of_range(const TomlFields& fields,
                                                      std::string_view key,
                                                      const std::string& text);

/// The names of all these, in order.
[[nodiscard]] std::vector<std::string> names_of_ranges(const TomlFields& fields,
                                                       std::string_view key);

/// The pairs of names that a link between two ranges joins: as many with as many one to one, a
/// longer range with a shorter in blocks (two GPUs a switch), a range with itself every pair once.
/// Throws the fault of `key` where neither length divides the other.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs_of_ranges(
    const TomlFields& fields, std::string_view key, const std::string& one,
    const std::string& other);

/// The devices of a file that names none: all GPUs, else all processors.
[[nodiscard]] std::vector<int> default_devices(const Graph& graph);

/// The key "p2p" of a system file: one word for all pairs of a host, or a row of words for each of
/// the graph's devices. Empty where nothing is known.
[[nodiscard]] std::vector<std::vector<P2p>> read_p2p(const TomlFields& file, const Graph& graph);

/// The key "labels": a row of words for each of the graph's devices, as `nvidia-smi topo -m` prints
/// them. Empty where it is missing.
[[nodiscard]] std::vector<std::vector<std::string>> read_labels(const TomlFields& file,
                                                                const Graph& graph);

/// The table [protocol] of a system file; nothing where it is missing.
[[nodiscard]] Protocol read_protocol(const TomlFields& file);

/// TOML; empty where nothing is known.
[[nodiscard]] std::string protocol_table(const Protocol& protocol);

[[nodiscard]] Medium read_medium(const TomlFields& fields);

}  // namespace busbar::topo
