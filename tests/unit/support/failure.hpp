// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"

namespace busbar::test {

/// What a piece of code threw: its status and words, for tests that compare both.
struct Failure {
  Status status = Status::Ok;
  std::string message{};

  [[nodiscard]] bool says(const std::string& words) const {
    return message.find(words) != std::string::npos;
  }
  [[nodiscard]] bool is_one_line() const { return message.find('\n') == std::string::npos; }
};

/// Runs `work`; status Ok and no words where it throws nothing.
template <class Work>
[[nodiscard]] Failure failure_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return {.status = error.status(), .message = error.what()};
  }
  return {};
}

}  // namespace busbar::test
