// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace busbar::stats {

/// The probability of `successes` or more of `trials`, each with `chance`.
[[nodiscard]] double binomial_tail(double successes, double trials, double chance);

/// The rank (precedence) test without scale or distribution: the chance that of `tries` values that
/// are drawn as the `reference` values are at least `low` are as low as those of which `below`
/// reference values are (`below` of them are at most the low-th lowest try).
[[nodiscard]] double precedence_p(std::size_t below, std::size_t reference, std::size_t tries,
                                  std::size_t low);

/// The probability that of `drawn` of `all` things, of which so many are `marked`, `hits` or more
/// are marked.
[[nodiscard]] double hypergeometric_tail(std::size_t hits, std::size_t drawn, std::size_t marked,
                                         std::size_t all);

}  // namespace busbar::stats
