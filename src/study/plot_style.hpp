// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>

namespace busbar {

/// How a curve looks; the numbers are gnuplot's.
struct PlotStyle {
  int colour = 0;  ///< 0xRRGGBB
  int point = 7;
  int dash = 1;  ///< 1 is a whole line

  [[nodiscard]] bool operator==(const PlotStyle&) const = default;
};

/// Styles of the systems of one figure: the papers' systems look as they do in the papers, others
/// take what is left, in the order of their names.
class PlotStyles {
 public:
  explicit PlotStyles(std::span<const std::string> systems);

  /// Of a system's curve number `variant` (from 0). Odd variants have open markers; what is
  /// simulated is dashed. An unknown system gets the first free style.
  [[nodiscard]] PlotStyle of(const std::string& system, int variant, bool simulated) const;

 private:
  struct Look {
    int colour = 0;
    int filled = 7;
    int open = 6;
    int place = 0;  ///< of several systems of one of the papers' kinds
  };
  std::map<std::string, Look> looks_;
};

/// The style of curve number `index` where all curves are of one system that the papers do not
/// have.
[[nodiscard]] PlotStyle free_style(int index, bool simulated);

/// Whether the papers have this system, under any of its names.
[[nodiscard]] bool is_paper_system(const std::string& system);

}  // namespace busbar
