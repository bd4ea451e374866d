// SPDX-License-Identifier: BSD-3-Clause
#include "report/series_style.hpp"

#include <algorithm>
#include <array>

namespace busbar {
namespace {

constexpr std::array<SeriesStyle, 8> kStyles{{{"#00795a", Marker::Diamond},
                                              {"#0072b2", Marker::Square},
                                              {"#e69f00", Marker::Triangle},
                                              {"#c8321e", Marker::Circle},
                                              {"#cc79a7", Marker::Down},
                                              {"#56b4e9", Marker::Plus},
                                              {"#000000", Marker::Cross},
                                              {"#7a6a00", Marker::Star}}};
constexpr std::size_t kPapers = 4;  ///< the first styles, which wait for their owners

/// Which of the first styles a system owns; kPapers for none.
std::size_t owned(std::string_view system) {
  constexpr std::array<std::array<std::string_view, 4>, kPapers> kOwners{
      {{"dgx-2", "", "", ""},
       {"ac922", "ac922-x4", "ibm-p9", ""},
       {"dgx-1v", "p3dn", "p3dn-x2", "p3dn.24xlarge"},
       {"exxact-ts4", "rtx", "", ""}}};
  for (std::size_t i = 0; i < kPapers; ++i) {
    if (std::find(kOwners.at(i).begin(), kOwners.at(i).end(), system) != kOwners.at(i).end()) {
      return i;
    }
  }
  return kPapers;
}

}  // namespace

std::vector<SeriesStyle> series_styles(std::span<const std::string> systems) {
  std::array<bool, kStyles.size()> taken{};
  std::vector<std::size_t> found(systems.size(), kStyles.size());
  for (std::size_t i = 0; i < systems.size(); ++i) {
    const std::size_t own = owned(systems[i]);
    if (own == kPapers || taken.at(own)) continue;
    taken.at(own) = true;
    found[i] = own;
  }
  std::size_t again = 0;
  for (std::size_t& style : found) {
    if (style != kStyles.size()) continue;
    // from the colours that no paper has, then from the papers' that nobody here owns
    std::size_t free = kPapers;
    while (free < kPapers + kStyles.size() && taken.at(free % kStyles.size())) ++free;
    style = free < kPapers + kStyles.size() ? free % kStyles.size() : again++ % kStyles.size();
    taken.at(style) = true;
  }
  std::vector<SeriesStyle> styles;
  for (const std::size_t style : found) styles.push_back(kStyles.at(style));
  return styles;
}

}  // namespace busbar
