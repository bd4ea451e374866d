// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_style.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <string_view>

namespace busbar {
namespace {

struct Shape {
  int colour;
  int filled;
  int open;
};

struct PaperName {
  std::string_view name;  ///< letters and digits only; a star at the end stands for anything
  std::size_t shape;      ///< of kPaperShapes
};

// Colours are Okabe and Ito's: green, blue, orange, vermilion; see source-papers, figure legends.
constexpr std::array kPaperShapes{
    Shape{0x009E73, 13, 12},  // DGX-2: green diamond
    Shape{0x0072B2, 5, 4},    // IBM AC922: blue square
    Shape{0xE69F00, 9, 8},    // AWS P3 and DGX-1V: orange triangle
    Shape{0xD55E00, 7, 6},    // RTX 2080 Ti: red circle
};
constexpr std::array kPaperNames{
    PaperName{"dgx2*", 0},  PaperName{"ac922*", 1},   PaperName{"ibmac922*", 1},
    PaperName{"ibmp9*", 1}, PaperName{"8335gth*", 1}, PaperName{"p3dn*", 2},
    PaperName{"awsp3*", 2}, PaperName{"p3", 2},       PaperName{"p316xlarge", 2},
    PaperName{"dgx1v*", 2}, PaperName{"exxact*", 3},  PaperName{"ts4*", 3},
    PaperName{"rtx", 3},    PaperName{"rtx2080*", 3},
};
constexpr std::array kFreeShapes{
    Shape{0x56B4E9, 11, 10}, Shape{0xCC79A7, 15, 14}, Shape{0x000000, 3, 2},
    Shape{0x0072B2, 11, 10}, Shape{0xD55E00, 15, 14}, Shape{0x009E73, 3, 1},
    Shape{0xE69F00, 15, 14}, Shape{0x777777, 11, 10},
};
constexpr std::size_t kNone = kPaperShapes.size();
constexpr std::array kMeasuredDashes{1, 4, 5};
constexpr std::array kSimulatedDashes{2, 3};

std::string letters_of(const std::string& text) {
  std::string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters.push_back(static_cast<char>(std::tolower(byte)));
  }
  return letters;
}

std::size_t paper_shape_of(const std::string& system) {
  const std::string letters = letters_of(system);
  for (const auto& [name, shape] : kPaperNames) {
    const bool open = name.ends_with('*');
    const std::string_view stem = name.substr(0, name.size() - (open ? 1 : 0));
    if (open ? letters.starts_with(stem) : letters == stem) return shape;
  }
  return kNone;
}

/// Whole lines are for what was measured, however many variants there are.
int dash_of(int variant, bool simulated) {
  const auto at = static_cast<std::size_t>(std::max(variant, 0) / 2);
  return simulated ? kSimulatedDashes.at(at % kSimulatedDashes.size())
                   : kMeasuredDashes.at(at % kMeasuredDashes.size());
}

}  // namespace

bool is_paper_system(const std::string& system) { return paper_shape_of(system) != kNone; }

PlotStyles::PlotStyles(std::span<const std::string> systems) {
  std::array<int, kPaperShapes.size()> seen{};
  std::size_t next_free = 0;
  for (const std::string& system : std::set<std::string>(systems.begin(), systems.end())) {
    const std::size_t paper = paper_shape_of(system);
    if (paper != kNone) {
      const Shape& shape = kPaperShapes.at(paper);
      looks_[system] = {shape.colour, shape.filled, shape.open, seen.at(paper)++};
    } else {
      const Shape& shape = kFreeShapes.at(next_free++ % kFreeShapes.size());
      looks_[system] = {shape.colour, shape.filled, shape.open, 0};
    }
  }
}

PlotStyle PlotStyles::of(const std::string& system, int variant, bool simulated) const {
  const auto found = looks_.find(system);
  if (found == looks_.end()) return free_style(variant, simulated);
  const Look& look = found->second;
  const int which = variant + look.place;
  return {.colour = look.colour,
          .point = which % 2 == 0 ? look.filled : look.open,
          .dash = dash_of(which, simulated)};
}

PlotStyle free_style(int index, bool simulated) {
  const auto at = static_cast<std::size_t>(std::max(index, 0));
  const Shape& shape = kFreeShapes.at(at % kFreeShapes.size());
  const bool again = at / kFreeShapes.size() % 2 == 1;
  return {.colour = shape.colour,
          .point = again ? shape.open : shape.filled,
          .dash = dash_of(again ? 2 : 0, simulated)};
}

}  // namespace busbar
