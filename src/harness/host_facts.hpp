// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "harness/options.hpp"
#include "machine/host_window.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// Reads the facts of all hosts for --facts: one rank of each host does, before and after what is
/// measured, never during.
class HostFacts {
 public:
  /// Does nothing without --facts. Collective.
  HostFacts(Bootstrap& world, const Options& options);

  /// The lines of a reading on rank 0, from the second on of what has changed; empty on the other
  /// ranks. Collective.
  [[nodiscard]] std::string read();

 private:
  std::string nvidia_smi_;
  std::unique_ptr<Bootstrap> readers_{};  ///< null on ranks that read nothing
  std::optional<machine::HostReading> before_{};
};

/// The lines of this host's facts, for a program that measures nothing.
[[nodiscard]] std::string own_facts(const Options& options);
}  // namespace busbar
