// SPDX-License-Identifier: BSD-3-Clause
#include "model/sweep.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {

std::vector<Bytes> Sweep::sizes() const {
  std::vector<Bytes> sizes;
  for (Bytes size = first; size <= last;) {
    sizes.push_back(size);
    const Bytes increase = factor > 1 ? size * (factor - 1) : step;
    if (increase > last - size) break;
    size += increase;
  }
  return sizes;
}

std::string sweep_text(const Sweep& sweep) {
  return fmt::format("{}-{}{}{}", sweep.first, sweep.last, sweep.factor > 1 ? 'x' : '+',
                     sweep.factor > 1 ? sweep.factor : sweep.step);
}

std::optional<Sweep> parse_sweep(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  const std::size_t sign = text.find_first_of("x+", dash);
  if (sign == std::string_view::npos) return {};
  const auto first = to_number<Bytes>(text.substr(0, dash));
  const auto last = to_number<Bytes>(text.substr(dash + 1, sign - dash - 1));
  const auto increase = to_number<Bytes>(text.substr(sign + 1));
  if (!first || !last || !increase) return {};
  const bool factor = text[sign] == 'x';
  if (*increase < (factor ? 2U : 1U)) return {};
  return Sweep{.first = *first,
               .last = *last,
               .step = factor ? 0 : *increase,
               .factor = factor ? *increase : 1};
}

}  // namespace busbar
