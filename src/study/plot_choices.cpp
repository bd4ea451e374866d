// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_choices.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

namespace busbar {
namespace {

constexpr int kGrey = 0x555555;
constexpr std::size_t kMostLabels = 10;  // in a panel; more of them are lines alone

using Height = std::function<double(const SizePoint&)>;

/// One change in a panel, of one curve or several; its key is the size and the text.
struct Change {
  std::string after{};
  int colour = 0;
  std::size_t curves = 0;
};
using Changes = std::map<std::pair<double, std::string>, Change>;

std::vector<const SizeCurve*> curves_of_panel(const PlotFigure& figure, const SizeCurves& curves,
                                              int panel) {
  std::vector<const SizeCurve*> found;
  for (std::size_t i = 0; i < curves.curves.size(); ++i) {
    if (figure.curves[i].panel == panel) found.push_back(&curves.curves[i]);
  }
  return found;
}

void add_changes(const SizeCurve& curve, Changes& found) {
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const SizePoint& before = curve.points[i - 1];
    const SizePoint& after = curve.points[i];
    if (before.choice.empty() || after.choice.empty() || before.choice == after.choice) continue;
    const double x = std::sqrt(static_cast<double>(before.size) * static_cast<double>(after.size));
    Change& change = found[{x, fmt::format("{} → {}", before.choice, after.choice)}];
    change.after = after.choice;
    if (change.curves++ == 0) change.colour = curve.style.colour;
  }
}

/// Shares of a panel's height that are free of curves near an x.
struct Room {
  double above = 1;
  double below = 1;

  [[nodiscard]] double most() const { return std::max(above, below); }
};

Room room_at(const std::vector<const SizeCurve*>& curves, double x, const Height& height) {
  constexpr double kNear = 1.1;  // powers of two: the points at both sides, with a factor of 2
  Room room;
  for (const SizeCurve* curve : curves) {
    for (const SizePoint& point : curve->points) {
      if (std::abs(std::log2(static_cast<double>(point.size) / x)) > kNear) continue;
      room.above = std::min(room.above, 1 - height(point));
      room.below = std::min(room.below, height(point));
    }
  }
  return room;
}

/// Both choices where they fit into the panel, else the later one.
std::string label(const std::string& both, const Change& change, const Room& room) {
  constexpr std::size_t kLongest = 32;  // bytes, of which the arrow is three
  constexpr double kEnough = 0.55;
  return both.size() <= kLongest && room.most() >= kEnough ? both : "→ " + change.after;
}

/// Left to right, so that the second of two labels at one size goes to the line's other side. There
/// is no place for a third.
void add_marks(PlotFigure& figure, const Changes& changes, int panel,
               const std::vector<const SizeCurve*>& curves, const Height& height) {
  std::size_t at_same_size = 0;
  double last_x = 0;
  for (const auto& [key, change] : changes) {
    const auto& [x, both] = key;
    at_same_size = x == last_x ? at_same_size + 1 : 0;
    last_x = x;
    const Room room = room_at(curves, x, height);
    const bool labelled = changes.size() <= kMostLabels && at_same_size < 2;
    figure.marks.push_back(
        {.x = x,
         .text = labelled ? label(both, change, room) : std::string(),
         .panel = panel,
         .place = room.above >= room.below ? PlotMark::Place::Above : PlotMark::Place::Below,
         .right = at_same_size == 1,
         .colour = change.curves == curves.size() ? kGrey : change.colour});
  }
}

}  // namespace

void add_choice_marks(PlotFigure& figure, const SizeCurves& curves, const Height& height) {
  for (int panel = 0; panel < static_cast<int>(figure.panels.size()); ++panel) {
    const std::vector<const SizeCurve*> drawn = curves_of_panel(figure, curves, panel);
    Changes changes;
    for (const SizeCurve* curve : drawn) add_changes(*curve, changes);
    add_marks(figure, changes, panel, drawn, height);
  }
}

}  // namespace busbar
