// SPDX-License-Identifier: BSD-3-Clause
#include "harness/run.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

/// What a simulated all-reduce prints.
std::string table_of(const std::string& system, int ranks) {
  Options options;
  options.sweep.last = kMiB, options.system = system, options.ranks = ranks;
  testing::internal::CaptureStdout();
  (void)run_simulation(options, test::collective("allreduce"), {});
  return testing::internal::GetCapturedStdout();
}

TEST(Simulation, ListsSixteenRanksButOfMoreTheFirstAndTheLast) {
  EXPECT_THAT(table_of("dgx-2", 16), HasSubstr(" Rank  8 "));
  EXPECT_THAT(table_of("dgx-h100", 17),
              testing::ContainsRegex(" Rank  0 .*\n.* 15 ranks more\n.* Rank 16 "));
}

TEST(Simulation, SkipsDevicesThatNothingJoins) {
  const test::TemporaryFolder folder;
  folder.write("two.toml", "name = \"two\"\nnode = [{ name = \"GPU0-1\", kind = \"gpu\" }]");
  EXPECT_THAT(table_of(folder.path("two.toml"), 2), HasSubstr("skipped: not modelled"));
}

}  // namespace
}  // namespace busbar
