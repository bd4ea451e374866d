// SPDX-License-Identifier: BSD-3-Clause
#include "base/thread.hpp"

#include <pthread.h>

#include <gtest/gtest.h>

#include "harness/watchdog.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

TEST(StartThread, SaysInOneLineThatThereIsNone) {
  pthread_attr_t usual{};
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_t huge = usual;  // more than any address space has
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 60U), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  test::expect_failure(Status::Runtime, "cannot start a thread (ulimit -u, ", [] {
    Watchdog watchdog({}, {});  // which ends, too
    watchdog.start(Seconds{1});
  });
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
}

}  // namespace
}  // namespace busbar
