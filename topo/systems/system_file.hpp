// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// One host and how many equal ones there are: what a prediction needs of very many. A file that
/// names the nodes of several hosts itself is one graph of them all, and `hosts` is 1.
struct EqualHosts {
  Graph host{};  ///< without labels
  int hosts = 1;
};

/// A built-in system.
struct BuiltInSystem {
  EqualHosts machine{};
  std::vector<std::string> names{};  ///< its own, then its aliases
  std::size_t based_on = 0;          ///< files under its own

  [[nodiscard]] const std::string& name() const { return machine.host.name; }
  [[nodiscard]] bool is_called(std::string_view wanted) const;  ///< in any case
};

/// The graph of a system file's text (docs/systems.md); `origin` names it in messages. Throws Error
/// (Usage) with origin:line:column for anything that it does not understand.
[[nodiscard]] Graph parse_system(std::string_view text, std::string_view origin);

/// A system file of this graph, which parse_system reads back to the same graph; or of that many
/// equal hosts of which it is one.
[[nodiscard]] std::string write_system(const Graph& graph, int hosts = 1);

/// A built-in system by name or alias, in any case; or the file of this path, which ends in .toml
/// or has a '/'. Throws Error (Usage) where there is none.
[[nodiscard]] Graph load_system(const std::string& name_or_path);

/// The same without copies of equal hosts, which may be up to 65,536.
[[nodiscard]] EqualHosts parse_machine(std::string_view text, std::string_view origin);
[[nodiscard]] EqualHosts load_machine(const std::string& name_or_path);

/// The systems that are compiled in (topo/systems/*.toml), by name.
[[nodiscard]] std::vector<BuiltInSystem> built_in_systems();

}  // namespace busbar::topo
