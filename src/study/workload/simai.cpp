// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/simai.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar::study {
namespace {

constexpr std::array<std::string_view, 4> kGroups{"TP", "DP", "EP", "PP"};
constexpr std::array<std::string_view, 4> kExchanged{"allreduce", "allgather", "reducescatter",
                                                     "alltoall"};
constexpr std::string_view kPassed = "sendrecv";  // between the stages of a pipeline

/// Rates of one group of SimAI's, as they are looked up.
class GroupRates {
 public:
  GroupRates(const SystemRates& system, std::optional<int> ranks) : system_(system), ranks_(ranks) {
    for (const RateCurve& curve : system.curves) most_ = std::max(most_, curve.key.ranks);
  }

  /// "389.2", or "null".
  [[nodiscard]] std::string text(std::string_view collective) {
    if (system_.constant_GBps) return found(*system_.constant_GBps);
    for (const RateCurve& curve : system_.curves) {
      const int wanted = ranks_.value_or(collective == kPassed ? curve.key.ranks : most_);
      if (curve.key.collective != collective || curve.key.ranks != wanted) continue;
      const auto& [size, rate] = *curve.points.rbegin();
      sources_.push_back(
          fmt::format("{} of {} ranks at {}", collective, wanted, format_bytes(size)));
      return found(rate);
    }
    return "null";
  }
  [[nodiscard]] bool any() const { return any_; }
  /// Where the rates are from, for a comment.
  [[nodiscard]] std::string sources() const {
    return fmt::format("{}{}{}{}", system_.system, system_.simulated ? " (simulated)" : "",
                       sources_.empty() ? "" : ": ", join(sources_, ", "));
  }

 private:
  std::string found(double GBps) {
    any_ = true;
    return fmt::format("{:.4g}", GBps);
  }

  const SystemRates& system_;
  std::optional<int> ranks_;
  int most_ = 0;
  bool any_ = false;
  std::vector<std::string> sources_{};
};

const SystemRates* system_of(std::span<const SystemRates> systems, std::string_view group) {
  if (systems.size() == 1 && std::ranges::find(kGroups, systems[0].system) == kGroups.end()) {
    return systems.data();
  }
  return find_by(systems, group, &SystemRates::system);
}

void check_names(std::span<const SystemRates> systems) {
  for (const SystemRates& one : systems) {
    if (systems.size() == 1 || std::ranges::count(kGroups, one.system) > 0) continue;
    throw usage_error(
        "--simai: '{}' is none of SimAI's groups; name each: --curve TP=FILE, DP=, EP=, PP=",
        one.system);
  }
}

}  // namespace

std::vector<std::string_view> simai_collectives() {
  std::vector<std::string_view> all(kExchanged.begin(), kExchanged.end());
  all.push_back(kPassed);
  return all;
}

std::string simai_yaml(std::span<const SystemRates> systems, std::optional<int> ranks) {
  check_names(systems);
  std::string text = fmt::format("# bus bandwidths in GB/s for SimAI, of busbar {}\n", version());
  bool any = false;
  for (const std::string_view group : kGroups) {
    const SystemRates* system = system_of(systems, group);
    static const SystemRates kNone{.system = "not given"};
    GroupRates rates(system == nullptr ? kNone : *system, ranks);
    std::string lines;
    if (group == "PP") {
      lines = fmt::format("  busbw: {}\n", rates.text(kPassed));
    } else {
      for (const std::string_view one : kExchanged) {
        lines += fmt::format("  {},: {}\n", one, rates.text(one));
      }
    }
    any = any || rates.any();
    text += fmt::format("# {}: {}\n{}:\n{}", group, one_line(rates.sources()), group, lines);
  }
  if (!any) {
    throw usage_error("--simai: no rates{}; give --curve FILE of {}",
                      ranks ? fmt::format(" of {} ranks", *ranks) : "",
                      join_all(simai_collectives(), ", "));
  }
  return text;
}

}  // namespace busbar::study
