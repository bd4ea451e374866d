// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

#include "bootstrap/step_position.hpp"

namespace busbar {

/// Called from a thread of the bootstrap's own.
struct TcpEvents {
  /// A connection was refused.
  std::function<void(const std::string& line)> notice{};
  /// A rank has ended before the others; this process ends after it. Empty: a launcher's business.
  std::function<void(const std::string& what)> lost{};
  /// Where this rank is.
  std::function<StepPosition()> position = [] { return StepPosition{}; };
  /// At rank 0: another rank has made no progress for too long.
  std::function<void()> stalled = [] {};
};

}  // namespace busbar
