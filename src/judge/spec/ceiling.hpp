// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// The most that a collective can reach, and where that is from.
struct CeilingFigure {
  double GBps = 0;     ///< bus bandwidth
  std::string text{};  ///< "min(450 scale-up, 50 x 15/1 scale-out), hierarchical"
};

/// From [ceiling]: of scale_up and scale_out (acceptance of one node, flat ring, hierarchical,
/// all-to-all, in-switch reduction), or of the named system's graph; nothing where it gives none,
/// and then a row's own bound_GBps counts. Throws Error (Usage) for a system with fewer devices on
/// a node than the set wants.
[[nodiscard]] std::optional<CeilingFigure> ceiling_of(const CeilingRule& rule,
                                                      const std::string& collective,
                                                      const SetShape& shape);

/// Ceilings that are computed once for each collective and shape: a graph's bound takes a while,
/// and a pair of nodes is like another.
class CeilingTable {
 public:
  /// The rule must outlive this.
  explicit CeilingTable(const CeilingRule& rule) : rule_(rule) {}

  /// As ceiling_of.
  [[nodiscard]] std::optional<CeilingFigure> of(const std::string& collective,
                                                const SetShape& shape);

 private:
  using Key = std::tuple<std::string, int, int, std::string>;

  const CeilingRule& rule_;
  std::map<Key, std::optional<CeilingFigure>> known_{};
};

}  // namespace busbar::judge
