// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "machine/host_window.hpp"
#include "study/doctor/host_view.hpp"

namespace busbar::study {

enum class Severity {
  Problem,   ///< is missing or wrong
  Hint,      ///< matters on some machines: change it and measure
  Note,      ///< is as it should be
  NotLooked  ///< and why
};

constexpr auto enum_names(Severity) {
  return std::array{Named{Severity::Problem, "problem"}, Named{Severity::Hint, "hint"},
                    Named{Severity::Note, "fine"}, Named{Severity::NotLooked, "not looked at"}};
}

/// What a check found.
struct HostFinding {
  Severity severity = Severity::Note;
  std::string text{};
  std::string cure{};   ///< a command that fixes it, with what people must know behind a '#'
  std::string check{};  ///< its name: "numa-balancing"
};

/// What each check finds on a host, one or more of each, in the order of their table; pure.
[[nodiscard]] std::vector<HostFinding> check_host(const HostView& view);
/// What differs between hosts of one job and should not, by their last readings; pure.
[[nodiscard]] std::vector<HostFinding> check_same(const std::vector<machine::HostWindow>& hosts);

}  // namespace busbar::study
