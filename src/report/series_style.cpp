// SPDX-License-Identifier: BSD-3-Clause
#include "report/series_style.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

namespace busbar {
namespace {

/// Shapes that have a hollow form in gnuplot, too.
constexpr std::array kShapes{Marker::Diamond, Marker::Square, Marker::Triangle,
                             Marker::Circle,  Marker::Down,   Marker::Pentagon};

struct Look {
  std::string_view colour;
  std::size_t shape;  ///< of kShapes
};
/// Okabe and Ito's colours, with olive for their yellow, which is pale on white. The first are the
/// papers' and wait for their owners.
constexpr std::array<Look, 8> kLooks{{{"#009e73", 0},
                                      {"#0072b2", 1},
                                      {"#e69f00", 2},
                                      {"#d55e00", 3},
                                      {"#56b4e9", 4},
                                      {"#cc79a7", 5},
                                      {"#000000", 3},
                                      {"#7a6a00", 1}}};
constexpr std::array<std::size_t, kLooks.size()> kOrder{4, 5, 6, 7, 0, 1, 2, 3};
constexpr std::size_t kDashes = 3;

struct PaperName {
  std::string_view name;  ///< letters and digits only; a star at the end stands for anything
  std::size_t look;
};
constexpr std::array kPaperNames{
    PaperName{"dgx2*", 0},  PaperName{"ac922*", 1},   PaperName{"ibmac922*", 1},
    PaperName{"ibmp9*", 1}, PaperName{"8335gth*", 1}, PaperName{"p3dn*", 2},
    PaperName{"awsp3*", 2}, PaperName{"p3", 2},       PaperName{"p316xlarge", 2},
    PaperName{"dgx1v*", 2}, PaperName{"exxact*", 3},  PaperName{"ts4*", 3},
    PaperName{"rtx", 3},    PaperName{"rtx2080*", 3},
};

std::string letters_of(const std::string& text) {
  std::string letters;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) letters.push_back(static_cast<char>(std::tolower(byte)));
  }
  return letters;
}

/// The look that a system owns; the number of looks for none.
std::size_t owned(const std::string& system) {
  const std::string letters = letters_of(system);
  for (const auto& [name, look] : kPaperNames) {
    const bool open = name.ends_with('*');
    const std::string_view stem = name.substr(0, name.size() - (open ? 1 : 0));
    if (open ? letters.starts_with(stem) : letters == stem) return look;
  }
  return kLooks.size();
}

/// Beyond the table the colours come again with the next shape.
SeriesStyle style_at(std::size_t place, std::size_t further_shapes, std::size_t dash) {
  const Look& look = kLooks.at(place % kLooks.size());
  const std::size_t shape = look.shape + place / kLooks.size() + further_shapes;
  return {.colour = look.colour,
          .marker = kShapes.at(shape % kShapes.size()),
          .dash = static_cast<int>(dash % kDashes)};
}

}  // namespace

SeriesStyles::SeriesStyles(std::span<const std::string> systems) {
  const std::set<std::string> names(systems.begin(), systems.end());
  std::set<std::size_t> taken;
  for (const std::string& name : names) {
    const std::size_t own = owned(name);
    if (own < kLooks.size() && taken.insert(own).second) places_[name] = own;
  }
  std::size_t next = 0;
  for (const std::string& name : names) {
    if (places_.contains(name)) continue;
    const auto place = [&] {
      return kOrder.at(next % kLooks.size()) + next / kLooks.size() * kLooks.size();
    };
    while (taken.contains(place())) ++next;
    taken.insert(place());
    places_[name] = place();
  }
}

SeriesStyle SeriesStyles::of(const std::string& system, std::size_t line) const {
  const auto found = places_.find(system);
  const std::size_t place = found == places_.end() ? kOrder.front() : found->second;
  if (places_.size() > 1) return style_at(place, line, line);
  // alone: its first line has its own look, the next ones those that are free
  std::array<std::size_t, kLooks.size()> looks = kOrder;
  std::rotate(looks.begin(), std::find(looks.begin(), looks.end(), place),
              std::find(looks.begin(), looks.end(), place) + 1);
  const std::size_t round = line / kLooks.size();
  return style_at(looks.at(line % kLooks.size()), round, round);
}

}  // namespace busbar
