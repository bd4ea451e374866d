// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace busbar {

/// The line for a word that earlier versions had: "topo --dot was removed; use ...". Empty for
/// every other word. `where` is a program or a table of a file: "busbar topo", "[[expect]]".
[[nodiscard]] std::string removed_word(std::string_view where, std::string_view word);

}  // namespace busbar
