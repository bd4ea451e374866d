// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "study/plot_figure.hpp"

namespace busbar {

/// The size of a text drawing, in characters.
struct TextSize {
  int columns = 100;
  int lines = 32;
};

/// Draws figures by gnuplot, with the scripts in a folder of its own that goes with the object.
class Gnuplot {
 public:
  /// Throws Error (Unavailable) where there is no gnuplot.
  Gnuplot();
  Gnuplot(const Gnuplot&) = delete;
  Gnuplot& operator=(const Gnuplot&) = delete;
  ~Gnuplot();

  /// Draws a data file of `figure_data` as .svg or .png, by the ending of `picture`. Throws Error
  /// (Runtime) where gnuplot fails; then there is no picture.
  void draw(const std::string& figure, const std::filesystem::path& data,
            const std::filesystem::path& picture) const;
  /// Draws as text.
  [[nodiscard]] std::string text(const PlotFigure& figure, TextSize size) const;

 private:
  [[nodiscard]] std::string run(const std::string& figure, const std::string& settings) const;

  std::filesystem::path folder_{};
};

}  // namespace busbar
