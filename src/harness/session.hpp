// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "harness/options.hpp"
#include "harness/watchdog.hpp"
#include "model/bootstrap.hpp"
#include "model/collective.hpp"

namespace busbar {

/// What the process was started as.
struct Invocation {
  std::vector<std::string> arguments;    ///< the whole command line
  std::vector<std::string> environment;  ///< of libraries, before any of them changed it
  /// Called with the backend that the ranks have agreed on.
  std::function<void(const Backend& backend)> on_backend = [](const Backend&) {};
  /// Called with an error before memory and communicators are given back, which may block for ever
  /// after a device's failure; need not return.
  std::function<void(const std::exception& error)> on_failure = [](const std::exception&) {};
};

/// One run of a collective, from placement to footers. Collective. Throws Error.
[[nodiscard]] Status run_session(const Options& options, const Collective& collective,
                                 const Invocation& invocation, Bootstrap& world,
                                 Watchdog& watchdog);

}  // namespace busbar
