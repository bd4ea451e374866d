// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "study/plot_figures.hpp"

namespace busbar {

/// What `busbar plot` was asked for; values only.
struct PlotOptions {
  std::vector<std::string> files{};  ///< FILE or LABEL=FILE
  std::string folder{};              ///< -o
  std::vector<std::string> formats{"svg", "png"};
  bool terminal = false;
  PlotRequest wishes{};
  bool help = false;
};

/// Reads what follows `busbar plot`. Throws a usage error of one line.
[[nodiscard]] PlotOptions parse_plot_options(std::span<char* const> arguments);

}  // namespace busbar
