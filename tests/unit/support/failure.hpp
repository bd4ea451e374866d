// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <initializer_list>

#include <gtest/gtest.h>

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

/// The words with which `work` refuses bad usage.
template <class Work>
[[nodiscard]] std::string refusal_of(const Work& work) {
  const Failure failure = failure_of(work);
  EXPECT_EQ(failure.status, Status::Usage);
  return failure.message;
}

/// Expects `work` to end with this status, and one line that has all of these words.
template <class Work>
void expect_failure(Status status, std::initializer_list<std::string> words, const Work& work,
                    Where where = Where::here()) {
  const testing::ScopedTrace trace(where.file, where.line, "");
  const Failure failure = failure_of(work);
  EXPECT_EQ(failure.status, status);
  EXPECT_TRUE(failure.is_one_line());
  for (const std::string& each : words) EXPECT_TRUE(failure.says(each)) << failure.message;
}
template <class Work>
void expect_failure(Status status, const std::string& words, const Work& work,
                    Where where = Where::here()) {
  expect_failure(status, {words}, work, where);
}

}  // namespace busbar::test
