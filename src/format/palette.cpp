// SPDX-License-Identifier: BSD-3-Clause
#include "format/palette.hpp"

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
  std::size_t shape;          ///< of kShapes
  std::string_view owners{};  ///< systems of the papers, in letters and digits only; a star at the
                              ///< end of a name stands for anything
};
/// Okabe and Ito's colours, with olive for their yellow, which is pale on white. The last four are
/// the papers' and wait for their owners.
constexpr std::array<Look, 8> kLooks{{{0x56B4E9, 4},
                                      {0xCC79A7, 5},
                                      {0x000000, 3},
                                      {0x7A6A00, 1},
                                      {0x009E73, 0, "dgx2*"},
                                      {0x0072B2, 1, "ac922* ibmac922* ibmp9* 8335gth*"},
                                      {0xE69F00, 2, "p3dn* awsp3* p3 p316xlarge dgx1v*"},
                                      {0xD55E00, 3, "exxact* ts4* rtx rtx2080*"}}};

/// The look that a system owns; the number of looks for none.
std::size_t owned_look(const std::string& system) {
  std::string letters;
  for (const char c : lower(system)) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) letters.push_back(c);
  }
  const auto is_owned = [&](const Look& look) {
    const std::vector<std::string> owners = split_words(look.owners);
    return std::ranges::any_of(owners, [&](std::string_view owner) {
      return owner.ends_with('*') ? letters.starts_with(owner.substr(0, owner.size() - 1))
                                  : letters == owner;
    });
  };
  return static_cast<std::size_t>(std::ranges::find_if(kLooks, is_owned) - kLooks.begin());
}

/// Nine colours from dark to light.
constexpr std::array<unsigned, 9> kCividis{0x00224E, 0x123570, 0x3B496C, 0x575D6D, 0x707173,
                                           0x8A8678, 0xA59C74, 0xC3B369, 0xFEE838};
constexpr auto kLastStop = static_cast<double>(kCividis.size() - 1);

}  // namespace

Palette::Palette(std::span<const std::string> systems) {
  const std::set<std::string> names(systems.begin(), systems.end());
  std::set<std::size_t> taken;
  for (const std::string& name : names) {
    const std::size_t own = owned_look(name);
    if (own < kLooks.size() && taken.insert(own).second) places_[name] = own;
  }
  std::size_t place = 0;
  for (const std::string& name : names) {
    if (places_.contains(name)) continue;
    while (taken.contains(place)) ++place;
    places_[name] = place++;
  }
}

CurveStyle Palette::of(const std::string& system, std::size_t line, bool simulated) const {
  const auto found = places_.find(system);
  std::size_t place = found == places_.end() ? 0 : found->second;
  std::size_t further = line;
  if (places_.size() <= 1) {
    // Alone: its first line has its own look, the next ones those that are free.
    const std::size_t number = line % kLooks.size();
    if (number > 0) place = number <= place ? number - 1 : number;
    further = line / kLooks.size();
  }
  // Beyond the table the colours come again with the next shape.
  const Look& look = kLooks.at(place % kLooks.size());
  const auto& dashes = simulated ? kSimulatedDashes : kMeasuredDashes;
  return {.colour = look.colour,
          .point = kShapes.at((look.shape + place / kLooks.size() + further) % kShapes.size()),
          .dash = dashes.at(further % dashes.size())};
}

int scale_colour(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * kLastStop;
  const auto low = std::min(static_cast<std::size_t>(at), kCividis.size() - 2);
  const double part = at - static_cast<double>(low);
  int colour = 0;
  for (const unsigned shift : {16U, 8U, 0U}) {
    const double from = kCividis.at(low) >> shift & 0xFFU;
    const double to = kCividis.at(low + 1) >> shift & 0xFFU;
    colour = colour * 256 + static_cast<int>(std::lround(from + part * (to - from)));
  }
  return colour;
}

std::string scale_definition() {
  std::string stops;
  for (std::size_t i = 0; i < kCividis.size(); ++i) {
    stops += fmt::format("{}{} \"#{:06x}\"", i == 0 ? "" : ", ", static_cast<double>(i) / kLastStop,
                         kCividis.at(i));
  }
  return stops;
}

}  // namespace busbar
