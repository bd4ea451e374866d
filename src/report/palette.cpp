// SPDX-License-Identifier: BSD-3-Clause
#include "report/palette.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

/// gnuplot's filled diamond, square, triangle, circle, triangle upside down and pentagon.
constexpr std::array kShapes{13, 5, 9, 7, 11, 15};
constexpr std::array kMeasuredDashes{1, 4, 5};
constexpr std::array kSimulatedDashes{2, 3, 2};

struct Look {
  int colour;
  std::size_t shape;  ///< of kShapes
};
/// Okabe and Ito's colours, with olive for their yellow, which is pale on white. The first are the
/// papers' and wait for their owners.
constexpr std::array<Look, 8> kLooks{{{0x009E73, 0},
                                      {0x0072B2, 1},
                                      {0xE69F00, 2},
                                      {0xD55E00, 3},
                                      {0x56B4E9, 4},
                                      {0xCC79A7, 5},
                                      {0x000000, 3},
                                      {0x7A6A00, 1}}};
constexpr std::array<std::size_t, kLooks.size()> kOrder{4, 5, 6, 7, 0, 1, 2, 3};

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
CurveStyle style_at(std::size_t place, std::size_t further_shapes, std::size_t dash,
                    bool simulated) {
  const Look& look = kLooks.at(place % kLooks.size());
  const std::size_t shape = look.shape + place / kLooks.size() + further_shapes;
  return {
      .colour = look.colour,
      .point = kShapes.at(shape % kShapes.size()),
      .dash = (simulated ? kSimulatedDashes : kMeasuredDashes).at(dash % kMeasuredDashes.size())};
}

struct Rgb {
  double red;
  double green;
  double blue;
};
constexpr std::array<Rgb, 9> kCividis{{{0x00, 0x22, 0x4e},
                                       {0x12, 0x35, 0x70},
                                       {0x3b, 0x49, 0x6c},
                                       {0x57, 0x5d, 0x6d},
                                       {0x70, 0x71, 0x73},
                                       {0x8a, 0x86, 0x78},
                                       {0xa5, 0x9c, 0x74},
                                       {0xc3, 0xb3, 0x69},
                                       {0xfe, 0xe8, 0x38}}};

}  // namespace

Palette::Palette(std::span<const std::string> systems) {
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

CurveStyle Palette::of(const std::string& system, std::size_t line, bool simulated) const {
  const auto found = places_.find(system);
  const std::size_t place = found == places_.end() ? kOrder.front() : found->second;
  if (places_.size() > 1) return style_at(place, line, line, simulated);
  // alone: its first line has its own look, the next ones those that are free
  std::array<std::size_t, kLooks.size()> looks = kOrder;
  std::rotate(looks.begin(), std::find(looks.begin(), looks.end(), place),
              std::find(looks.begin(), looks.end(), place) + 1);
  const std::size_t round = line / kLooks.size();
  return style_at(looks.at(line % kLooks.size()), round, round, simulated);
}

int scale_colour(double share) {
  constexpr auto kSteps = static_cast<double>(kCividis.size() - 1);
  const double at = std::clamp(share, 0.0, 1.0) * kSteps;
  const auto low = std::min(static_cast<std::size_t>(at), kCividis.size() - 2);
  const double part = at - static_cast<double>(low);
  int colour = 0;
  for (const double Rgb::*channel : {&Rgb::red, &Rgb::green, &Rgb::blue}) {
    const double from = kCividis.at(low).*channel;
    const double mixed = from + part * (kCividis.at(low + 1).*channel - from);
    colour = colour * 256 + static_cast<int>(std::lround(mixed));
  }
  return colour;
}

std::string scale_definition() {
  std::vector<std::string> stops;
  constexpr auto kSteps = static_cast<double>(kCividis.size() - 1);
  for (std::size_t i = 0; i < kCividis.size(); ++i) {
    const double share = static_cast<double>(i) / kSteps;
    stops.push_back(fmt::format("{} \"#{:06x}\"", share, scale_colour(share)));
  }
  return join(stops, ", ");
}

}  // namespace busbar
