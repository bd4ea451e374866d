// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <system_error>
#include <thread>

#include "base/error.hpp"

namespace busbar {

/// What to say of the error that std::thread throws.
[[nodiscard]] inline Error thread_failure(const std::system_error& error) {
  return system_failure("cannot start a thread (ulimit -u, a container's pids.max)",
                        error.code().value());
}

/// A thread that does `work`. Throws Error (Runtime) where the system gives none.
[[nodiscard]] inline std::thread start_thread(std::function<void()> work) {
  try {
    return std::thread(std::move(work));
  } catch (const std::system_error& error) {
    throw thread_failure(error);
  }
}

}  // namespace busbar
