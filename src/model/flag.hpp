// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "base/enum_names.hpp"
#include "model/record.hpp"

namespace busbar {

/// What a reader of a row must know; Record::flags has the names. docs/csv.md describes them.
enum class Flag {
  BandwidthDiffers,
  DelayInjected,
  Drifting,
  Fake,
  FaultInjected,
  FewSamples,
  Graph,
  Imported,
  LaunchBound,
  Loaded,
  Mean,
  NoInterval,
  NotChecked,
  NotRegistered,
  NotSteady,
  OneProcessor,
  OneWayCopy,
  Oversubscribed,
  Registered,
  RotatesInCache,
  Segmented,
  SharedGpu,
  Simulated,
  SizeAssumed,
  Symmetric,
  TimeFromBandwidth,
  Unaligned,
};

constexpr auto enum_names(Flag) {
  return std::array{Named{Flag::BandwidthDiffers, "bandwidth-differs"},
                    Named{Flag::DelayInjected, "delay-injected"},
                    Named{Flag::Drifting, "drifting"},
                    Named{Flag::Fake, "fake"},
                    Named{Flag::FaultInjected, "fault-injected"},
                    Named{Flag::FewSamples, "few-samples"},
                    Named{Flag::Graph, "graph"},
                    Named{Flag::Imported, "imported"},
                    Named{Flag::LaunchBound, "launch-bound"},
                    Named{Flag::Loaded, "loaded"},
                    Named{Flag::Mean, "mean"},
                    Named{Flag::NoInterval, "no-interval"},
                    Named{Flag::NotChecked, "not-checked"},
                    Named{Flag::NotRegistered, "not-registered"},
                    Named{Flag::NotSteady, "not-steady"},
                    Named{Flag::OneProcessor, "one-processor"},
                    Named{Flag::OneWayCopy, "one-way-copy"},
                    Named{Flag::Oversubscribed, "oversubscribed"},
                    Named{Flag::Registered, "registered"},
                    Named{Flag::RotatesInCache, "rotates-in-cache"},
                    Named{Flag::Segmented, "segmented"},
                    Named{Flag::SharedGpu, "shared-gpu"},
                    Named{Flag::Simulated, "simulated"},
                    Named{Flag::SizeAssumed, "size-assumed"},
                    Named{Flag::Symmetric, "symmetric"},
                    Named{Flag::TimeFromBandwidth, "time-from-bandwidth"},
                    Named{Flag::Unaligned, "unaligned"}};
}

/// Adds a flag behind those that the row has.
inline void add_flag(Record& record, Flag flag) {
  if (!record.flags.empty()) record.flags += ' ';
  record.flags += name(flag);
}

/// True for a row that has the flag; flags of other versions of busbar do not disturb.
[[nodiscard]] inline bool has_flag(const Record& record, Flag flag) {
  const std::string word = fmt::format(" {} ", name(flag));
  return fmt::format(" {} ", record.flags).find(word) != std::string::npos;
}

}  // namespace busbar
