// SPDX-License-Identifier: BSD-3-Clause
#include "model/backend.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

TEST(ChooseBackend, TakesTheBestAvailableForAutoAndSaysSo) {
  const BackendChoice choice = choose_backend("auto");
  ASSERT_NE(choice.backend, nullptr);
  EXPECT_FALSE(choice.backend->unavailable().has_value());
  EXPECT_NE(choice.why.find("best available"), std::string::npos) << choice.why;
}

TEST(ChooseBackend, TakesTheOneThatIsNamed) {
  EXPECT_EQ(choose_backend("mpi").backend->name(), "mpi");
}

TEST(ChooseBackend, SaysWhatThereIsWhereTheNamedOneIsNotInTheBuild) {
  const test::Failure failure = test::failure_of([] { (void)choose_backend("gloo"); });
  EXPECT_EQ(failure.status, Status::Unavailable);
  EXPECT_TRUE(failure.message.starts_with("--backend gloo: not in this build, which has: "))
      << failure.message;
  EXPECT_TRUE(failure.says("mpi"));
}

TEST(RegisteredBackends, ComeBestFirst) {
  const auto backends = registered_backends();
  ASSERT_FALSE(backends.empty());
  for (std::size_t i = 1; i < backends.size(); ++i) {
    EXPECT_GE(backends[i - 1]->preference(), backends[i]->preference());
  }
}

}  // namespace
}  // namespace busbar
