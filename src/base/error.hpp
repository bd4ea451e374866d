// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace busbar {

/// A place in our own source, for errors that are a fault of the program or of a library.
struct Where {
  const char* file = "";
  int line = 0;

  /// The caller's place: use it as a default argument only.
  [[nodiscard]] static constexpr Where here(const char* file = __builtin_FILE(),
                                            int line = __builtin_LINE()) {
    return {file, line};
  }
};

/// Exit codes of every program; docs/launching.md describes them.
enum class Status {
  Ok = 0,
  Wrong = 1,        ///< wrong data or a failed check
  Usage = 2,        ///< bad usage or bad input
  Unavailable = 3,  ///< inconclusive, or not available here
  Runtime = 4,      ///< runtime failure or timeout
  Skipped = 77,     ///< nothing could be measured here: every row was skipped
};

[[nodiscard]] constexpr int exit_code(Status status) { return static_cast<int>(status); }

/// The one exception type: an exit status and one line that says what, where, and what to do.
class Error : public std::runtime_error {
 public:
  Error(Status status, const std::string& message) : std::runtime_error(message), status_(status) {}

  [[nodiscard]] Status status() const { return status_; }

 private:
  Status status_;
};

/// Bad usage: the message names the option that fixes it.
[[nodiscard]] inline Error usage_error(const std::string& message) {
  return {Status::Usage, message};
}
template <class First, class... More>
[[nodiscard]] Error usage_error(fmt::format_string<First, More...> message, First&& first,
                                More&&... more) {
  return usage_error(fmt::format(message, std::forward<First>(first), std::forward<More>(more)...));
}

/// A failure while running, with the place in our source that noticed it.
[[nodiscard]] inline Error runtime_failure(const std::string& message,
                                           Where where = Where::here()) {
  return {Status::Runtime, fmt::format("{} ({}:{})", message, where.file, where.line)};
}

/// A system call failed: adds errno's text to the message.
[[nodiscard]] inline Error system_failure(const std::string& what, int error_number) {
  return {Status::Runtime,
          fmt::format("{}: {}", what, std::generic_category().message(error_number))};
}

}  // namespace busbar
