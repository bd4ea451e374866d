// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"

namespace busbar {

/// How a published figure was put.
enum class Relation { Equal, About, Above };

constexpr auto enum_names(Relation /*unused*/) {
  return std::array{Named{Relation::Equal, "equal"}, Named{Relation::About, "about"},
                    Named{Relation::Above, "above"}};
}

/// A measured rate that somebody published.
struct PublishedRate {
  std::string system{};      ///< of topo/systems
  std::string collective{};  ///< our name; "copy": from GPU to GPU, no collective
  std::vector<int> ranks{};  ///< the rate holds for each of these
  Relation relation = Relation::Equal;
  std::optional<double> busbw_GBps{};  ///< nothing: the text has no figure
  double theoretical_GBps = 0;
  std::string condition{};
  std::string source{};
};

/// Training throughput of a system over another's with as many GPUs.
struct PublishedRatio {
  std::string model{};  ///< of `busbar workload`
  std::string group{};  ///< the source's, over which it averages
  std::string system{};
  std::string over{};
  std::vector<int> ranks{};       ///< rising
  std::vector<double> percent{};  ///< per number of ranks
  std::string source{};
};

struct Published {
  std::vector<PublishedRate> rates{};
  std::vector<PublishedRatio> ratios{};
};

/// The file that the project keeps, from its root.
inline constexpr std::string_view kPublishedFile = "results/reference/published.toml";

/// Throws Error (Usage) with origin:line:column.
[[nodiscard]] Published parse_published(std::string_view text, std::string_view origin);
[[nodiscard]] Published read_published(const std::string& path);

}  // namespace busbar
