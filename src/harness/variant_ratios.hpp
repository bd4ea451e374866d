// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/row_key.hpp"
#include "model/variant.hpp"

namespace busbar {

/// How the values of --vary compare, row by row, each with the first: the medians of a visit are a
/// pair, as the machine was the same for both.
class VariantRatios {
 public:
  explicit VariantRatios(Vary vary) : vary_(std::move(vary)) {}

  /// Adds the median of each visit of a row, in their order. A sentence for each value but the
  /// first once the row has been measured with all of them; empty before.
  [[nodiscard]] std::vector<std::string> add(const Record& record, std::vector<double> medians);

 private:
  /// `name` is the other value.
  [[nodiscard]] std::string sentence(const std::vector<double>& first,
                                     const std::vector<double>& other,
                                     const std::string& name) const;

  Vary vary_;
  std::map<RowKey, std::map<std::string, std::vector<double>>> rows_{};  ///< by variant
};

}  // namespace busbar
