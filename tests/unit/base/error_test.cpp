// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"

#include <cerrno>

namespace busbar {
namespace {

TEST(ExitCode, IsTheDocumentedNumber) {
  EXPECT_EQ(exit_code(Status::Ok), 0);
  EXPECT_EQ(exit_code(Status::Wrong), 1);
  EXPECT_EQ(exit_code(Status::Usage), 2);
  EXPECT_EQ(exit_code(Status::Unavailable), 3);
  EXPECT_EQ(exit_code(Status::Runtime), 4);
  EXPECT_EQ(exit_code(Status::Skipped), 77);
}

TEST(Error, HasItsMessageAndStatus) {
  const Error usage = usage_error("-b: no");
  EXPECT_EQ(usage.status(), Status::Usage);
  EXPECT_STREQ(usage.what(), "-b: no");
  const Error system = system_failure("cannot write x.csv", ENOSPC);
  EXPECT_EQ(system.status(), Status::Runtime);
  EXPECT_STREQ(system.what(), "cannot write x.csv: No space left on device");
}

TEST(RuntimeFailure, NamesThePlaceInOurSource) {
  const int line = __LINE__ + 1;
  const Error error = runtime_failure("it broke");
  EXPECT_EQ(error.status(), Status::Runtime);
  EXPECT_EQ(std::string(error.what()),
            "it broke (" + std::string(__FILE__) + ":" + std::to_string(line) + ")");
}

}  // namespace
}  // namespace busbar
