// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "judge/spec/lint_parts.hpp"
#include "model/collective.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::judge {
namespace {

/// Where nothing is known of the system. On every published curve that this project knows, bus
/// bandwidth below 1 MiB is a small part of what large messages reach.
constexpr Bytes kAlwaysLatency = kMiB;

/// Microseconds that a ring of the library spends on its steps alone, by the system's protocol
/// (low-latency ring, the cheapest it has); nothing where no system is named.
std::optional<double> steps_us(const LintCase& subject) {
  const CeilingRule& ceiling = subject.specification.ceiling;
  if (ceiling.system.empty() || subject.shape.ranks < 2) return std::nullopt;
  const topo::Protocol protocol = topo::completed(topo::load_machine(ceiling.system).host.protocol);
  const topo::StepTimes& times =
      protocol.steps.at(static_cast<std::size_t>(topo::Sending::RingLowLatency));
  const double rounds = subject.collective == "allreduce" ? 2 : 1;
  const double across = subject.shape.nodes > 1 ? subject.shape.nodes : 0;
  const double inside = subject.shape.ranks - 1 - across;
  return times.launch_us +
         rounds * (across * times.network_us + std::max(0.0, inside) * times.nvlink_us);
}

/// Microseconds that the bytes alone take at the ceiling.
double wire_us(const LintCase& subject, Bytes size) {
  const Collective* known = find_collective(subject.collective);
  const double factor = known == nullptr ? 1 : known->bus_factor(subject.shape.ranks);
  return static_cast<double>(size) * factor / (subject.ceiling->GBps * 1e3);
}

bool is_latency_bound(const LintCase& subject, Bytes size) {
  // The steps of no system take a millisecond; its file is not read for what is that long.
  constexpr double kNeverLatencyMicroseconds = 1e3;
  if (size < kAlwaysLatency) return true;
  if (!subject.ceiling) return false;
  const double wire = wire_us(subject, size);
  if (wire > kNeverLatencyMicroseconds) return false;
  const auto steps = steps_us(subject);
  return steps && wire < *steps;
}

}  // namespace

void lint_latency(const LintCase& subject, LintFindings& findings) {
  if (subject.rule.metric == Metric::Time) return;
  const Bytes size = subject.rule.sizes.front();
  if (!is_latency_bound(subject, size)) return;
  findings.push_back(
      {.severity = LintFinding::Severity::Warning,
       .place = subject.rule.size_place,
       .rule = subject.rule.id,
       .text = fmt::format("{} of {} is mostly latency, and {} tells little of it: take metric = "
                           "\"time_us\", or larger sizes",
                           format_bytes(size), subject.collective, name(subject.rule.metric))});
}

}  // namespace busbar::judge
