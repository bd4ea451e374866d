// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "base/units.hpp"

namespace busbar::study {

/// Why a figure is believed, from the surest.
enum class Evidence {
  Measured,  ///< the source prints its own table or log
  Specification,
  Code,
  Floor,  ///< a limit that an operator's check has: no result
  User,   ///< the word of one user in an issue
  Derived,
  ThirdHand
};

constexpr auto enum_names(Evidence /*unused*/) {
  return std::array{
      Named{Evidence::Measured, "measured"},   Named{Evidence::Specification, "specification"},
      Named{Evidence::Code, "code"},           Named{Evidence::Floor, "floor"},
      Named{Evidence::User, "user"},           Named{Evidence::Derived, "derived"},
      Named{Evidence::ThirdHand, "third hand"}};
}

/// A published figure, of one number of ranks and one size.
struct PublishedRate {
  std::string system{};    ///< of topo/systems
  std::string instance{};  ///< the machine's name at its cloud; empty: no cloud, or not stated
  int nodes = 1;
  std::string collective{};  ///< our name, or of a copy: "host-to-device"
  int ranks = 0;
  std::optional<Bytes> size{};         ///< nothing: the source does not state it
  std::optional<bool> in_place{};      ///< nothing: the source does not state it
  std::optional<double> busbw_GBps{};  ///< nothing: the source has no figure
  std::optional<double> time_us{};
  std::optional<double> theoretical_GBps{};  ///< what the links allow, as the source has it
  Evidence evidence = Evidence::Measured;
  bool usual = true;  ///< false: not as a healthy machine runs by default (a ring that was forced)
  std::string condition{};
  std::string source{};
};

/// One for each number of ranks and size of a [[rate]].
using PublishedRates = std::vector<PublishedRate>;

/// That file, from the project's root.
inline constexpr std::string_view kPublishedFile = "results/reference/published.toml";

/// Throws Error (Usage) with origin:line:column.
[[nodiscard]] PublishedRates parse_published(std::string_view text, std::string_view origin);
/// Of the file that the project keeps.
[[nodiscard]] PublishedRates kept_published();

}  // namespace busbar::study
