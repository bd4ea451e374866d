// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

struct TextOptions {
  bool strict = false;       ///< the exit code of the last line is that of --strict
  bool all_sources = false;  ///< of every rule, not only of those with a value that is not PASS
};

/// For a terminal and a bug report: a line per rule, instance and size (long lists of PASS are one
/// line), where the figures of rules are from, suspects with evidence, every node by name, and the
/// overall outcome last.
[[nodiscard]] std::string verdict_text(const Acceptance& acceptance,
                                       const Specification& specification,
                                       const TextOptions& options = {});

/// For a job summary on GitHub: the overall outcome first, what is not PASS, suspects, nodes,
/// contract.
[[nodiscard]] std::string verdict_markdown(const Acceptance& acceptance,
                                           const Specification& specification);

/// A page that needs nothing besides itself: waterfall, heat maps of pairs, launches, contract.
[[nodiscard]] std::string verdict_html(const Acceptance& acceptance,
                                       const Specification& specification);

/// verdicts.csv: '#' lines, column names, a line per rule, instance, collective and size; RFC 4180.
/// A cell without a value is empty.
[[nodiscard]] std::string verdict_csv(const Acceptance& acceptance,
                                      const Specification& specification);

/// One JSON document, two blanks of indentation and a line end; docs/acceptance.md describes it.
[[nodiscard]] std::string verdict_json(const Acceptance& acceptance,
                                       const Specification& specification);

/// JUnit XML under the rules of Jenkins' xunit plugin: a suite per device set, a case per rule,
/// instance, collective and size. That schema has no properties of a case, so a suite has them.
[[nodiscard]] std::string verdict_junit(const Acceptance& acceptance,
                                        const Specification& specification);

/// Text for node_exporter's textfile collector. Of a device set with more than 64 instances only
/// those have series of their own that are not PASS.
[[nodiscard]] std::string verdict_prometheus(const Acceptance& acceptance,
                                             const Specification& specification);

}  // namespace busbar::judge
