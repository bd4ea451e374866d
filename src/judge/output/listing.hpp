// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// A line for people: one verdict, or many that say the same.
struct ListedRow {
  std::string rule{};
  std::string instance{};  ///< "h1+h2", "15 of 15 pairs", "1976 more pairs"
  std::string collective{};
  std::string size{};
  std::string measured{};  ///< "12.34", "12.1..12.9"; empty: no value
  std::string unit{};
  std::string bound{};  ///< empty: none, or not the same for all
  std::string ratio{};
  Outcome outcome = Outcome::Error;
  std::string reason{};
};

/// Verdicts as lines, in their order. More than 4 PASS, and more than 20 others with one reason, of
/// a rule, collective and size become one line; of others the first 40 are listed. Where
/// one cause refuses all, each rule, collective and size is one line without a reason.
[[nodiscard]] std::vector<ListedRow> list_rows(const Acceptance& acceptance,
                                               const Specification& specification);

}  // namespace busbar::judge
