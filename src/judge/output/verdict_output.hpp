// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "base/hostlist.hpp"
#include "base/lists.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

struct TextOptions {
  bool strict = false;       ///< the exit code of the last line is that of --strict
  bool all_sources = false;  ///< of every rule, not only of those with a value that is not PASS
  std::string page{};        ///< the path of report.html, for the last line; empty: there is none
};

/// For a terminal and a bug report: results (long lists of PASS are one line), sources of figures,
/// suspects, every node by name, and last one line with outcome, exit code, blame and the page.
[[nodiscard]] std::string verdict_text(const Acceptance& acceptance,
                                       const Specification& specification,
                                       const TextOptions& options = {});

/// For a job summary on GitHub.
[[nodiscard]] std::string verdict_markdown(const Acceptance& acceptance,
                                           const Specification& specification);

/// A page that needs nothing besides itself: waterfall, heat maps of pairs, launches, contract.
[[nodiscard]] std::string verdict_html(const Acceptance& acceptance,
                                       const Specification& specification);

/// '#' lines, column names, a line per rule, instance, collective and size; RFC 4180.
[[nodiscard]] std::string verdict_csv(const Acceptance& acceptance,
                                      const Specification& specification);

/// One JSON document, two blanks of indentation and a line end; docs/acceptance.md describes it.
[[nodiscard]] std::string verdict_json(const Acceptance& acceptance,
                                       const Specification& specification);

/// JUnit XML under the rules of Jenkins' xunit plugin: a suite per device set, a case per rule,
/// instance, collective and size. That schema has no properties of a case, so a suite has them.
[[nodiscard]] std::string verdict_junit(const Acceptance& acceptance,
                                        const Specification& specification);

/// Nodes of these states as a list for `sbatch -w` and `-x`, and a line end; empty for none.
template <NodeState... states>
[[nodiscard]] std::string listed_nodes(const Acceptance& acceptance, const Specification&) {
  const auto own = filtered(acceptance.nodes, [](const NodeAccount& account) {
    return ((account.state == states) || ...);
  });
  return own.empty() ? "" : hostlist(mapped(own, &NodeAccount::node)) + "\n";
}

/// For node_exporter's textfile collector; of a device set the 500 worst have series of their own.
[[nodiscard]] std::string verdict_prometheus(const Acceptance& acceptance,
                                             const Specification& specification);

}  // namespace busbar::judge
