// SPDX-License-Identifier: BSD-3-Clause
#include "model/backend.hpp"

#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

Device named(std::string_view name) {
  Device device;
  std::copy(name.begin(), name.end(), device.name.begin());
  return device;
}

TEST(IsFake, KnowsTheDevicesOfTheFakeGpuMachine) {
  EXPECT_TRUE(is_fake(named("Fake H100")));
  EXPECT_FALSE(is_fake(named("NVIDIA H200")));
  EXPECT_FALSE(is_fake(named("NVIDIA Fake")));
  EXPECT_FALSE(is_fake(Device{}));
}

/// The best backend of host memory in this build: mpi, or gloo in one without MPI.
std::string host_memory() {
  for (const Backend* backend : registered_backends()) {
    if (!backend->has_devices()) return std::string(backend->name());
  }
  return "none";
}

std::optional<std::string> usable(const Backend& /*backend*/) { return std::nullopt; }

TEST(ChooseBackend, ListsWhatThereIsWhereTheNamedOneIsNotInTheBuild) {
  test::expect_failure(Status::Unavailable,
                       {"--backend rccl: not in this build, which has: ", host_memory()},
                       [] { (void)choose_backend("rccl"); });
}

TEST(ChooseBackend, ReportsWhyEachOneCannotBeUsed) {
  const auto none = [](const Backend& backend) {
    return std::optional("no " + std::string(backend.name()) + " today");
  };
  const auto why = [&](const std::string& name) {
    const test::Failure failure = test::failure_of([&] { (void)choose_backend(name, none); });
    EXPECT_EQ(failure.status, Status::Unavailable);
    return failure.message;
  };
  const std::string host = host_memory();
  EXPECT_THAT(why("auto"), AllOf(StartsWith("no backend is available: "),
                                 HasSubstr(host + " is unavailable: no " + host + " today")));
  const bool has_gloo = names_in_this_build().find("gloo") != std::string::npos;
  EXPECT_EQ(why("auto").find("gloo is not in this build: install libgloo-dev") == std::string::npos,
            has_gloo);
  EXPECT_EQ(why(host), "--backend " + host + ": no " + host + " today");
}

TEST(ChooseBackend, ReportsWhyABetterOneWasNotTaken) {
  if (registered_backends().size() < 2) GTEST_SKIP() << "this build has one backend";
  const Backend* const best = registered_backends().front();
  const BackendChoice choice = choose_backend("auto", [&](const Backend& backend) {
    return &backend == best ? std::optional<std::string>("broken") : std::nullopt;
  });
  EXPECT_EQ(choice.backend, registered_backends()[1]);
  EXPECT_THAT(choice.why,
              StartsWith(std::string(best->name()) + " is unavailable: broken; best available"));
}

TEST(ChooseBackend, TakesForAllRanksWhatEachCanUse) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    EXPECT_EQ(choose_backend(host_memory(), world, usable).backend->name(), host_memory());
    EXPECT_EQ(choose_backend("auto", world, usable).backend, registered_backends().front());
    const auto all_but_the_last = [&](const Backend&) {
      return world.rank() == 2 ? std::optional<std::string>("broken") : std::nullopt;
    };
    test::expect_failure(Status::Unavailable, "rank 2: broken",
                         [&] { (void)choose_backend(host_memory(), world, all_but_the_last); });
  });
}

TEST(ChooseBackend, DoesNotLeaveDevicesUnusedForOneRankThatHasNone) {
  const auto all = registered_backends();
  const auto devices = std::ranges::find_if(all, &Backend::has_devices);
  if (devices == all.end()) GTEST_SKIP() << "this build has no backend with devices";
  test::on_ranks(3, [&](test::ThreadBootstrap& world) {
    const auto mine = [&](const Backend& backend) {
      const bool broken = &backend == *devices && world.rank() == 1;
      return broken ? std::optional<std::string>("driver too old") : std::nullopt;
    };
    test::expect_failure(Status::Unavailable,
                         {"rank 1 on ", "driver too old", "--backend " + host_memory()},
                         [&] { (void)choose_backend("auto", world, mine); });
    EXPECT_EQ(choose_backend(host_memory(), world, mine).backend->name(), host_memory());
  });
}

TEST(ChooseBackend, TakesHostMemoryWhereNoRankHasADevice) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const auto mine = [&](const Backend& backend) {
      return backend.has_devices() ? std::optional("no GPU at rank " + std::to_string(world.rank()))
                                   : std::nullopt;
    };
    EXPECT_EQ(choose_backend("auto", world, mine).backend->name(), host_memory());
  });
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
