// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"

namespace busbar::topo {

/// Which of the tools' tables about pairs of GPUs it is.
enum class AmdTable { Weight, Hops, Type, Access, Bandwidth };

/// What AMD's tools print about pairs of GPUs, before it is understood: texts of cells, [from][to].
struct AmdTables {
  std::vector<std::string> gpus{};  ///< "GPU0", or PCI addresses, in the order of the columns
  std::map<AmdTable, std::vector<std::vector<std::string>>> tables{};
  std::vector<std::string> numa{};  ///< of each GPU; empty where it is not reported

  /// The cell, or an empty text.
  [[nodiscard]] std::string cell(AmdTable table, std::size_t from, std::size_t to) const;
};

/// Error (Usage) of a text of AMD's tools in one line: "PLACE: what; save all of the output again
/// ...".
[[nodiscard]] Error amd_fault(std::string_view place, std::string_view what);

/// What the tools report of one GPU: names of fields in lower case ("asic.market_name"), and
/// values.
using AmdFields = std::vector<std::pair<std::string, std::string>>;

/// Whether a text is of --json.
[[nodiscard]] bool is_json(std::string_view text);

/// @name What rocm-smi and amd-smi print, as text and by --json. Throw Error (Usage).
/// @{
[[nodiscard]] AmdTables parse_amd_tables(std::string_view text, std::string_view origin);
[[nodiscard]] std::vector<AmdFields> parse_amd_fields(std::string_view text,
                                                      std::string_view origin);
/// @}

}  // namespace busbar::topo
