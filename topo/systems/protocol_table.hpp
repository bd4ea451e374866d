// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/toml_fields.hpp"
#include "topo/graph/protocol.hpp"

namespace busbar::topo {

/// The table [protocol] of a system file; nothing told where it is missing.
[[nodiscard]] Protocol read_protocol(const TomlFields& file);

/// The share of `key`: above 0, at most 1; 0 where it is missing.
[[nodiscard]] double read_share(const TomlFields& fields, std::string_view key);

/// The table [protocol] of this protocol; empty where nothing is told.
[[nodiscard]] std::string protocol_table(const Protocol& protocol);

}  // namespace busbar::topo
