// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "model/collective.hpp"
#include "study/import/log_table.hpp"

namespace busbar::study {

/// The collective of a table, and who said it.
struct TableCollective {
  const Collective* collective = nullptr;
  std::string source{};  ///< "--collective", or what its rows show; empty where the log names it
  bool inferred = false;
};

/// The collective that the log names, or the user, or that the rows leave as the only one. Throws
/// Error (Usage) where there is none, where several are left, and where a good part of the rows
/// contradicts the user's. `place` is for the message, `given` and `ranks` are the user's.
[[nodiscard]] TableCollective collective_of(const LogTable& table, const std::string& place,
                                            const std::string& given, std::optional<int> ranks);

}  // namespace busbar::study
