// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/simai.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using testing::HasSubstr;

RateCurve curve(const std::string& collective, int ranks, double GBps) {
  return {.key = {.collective = collective, .ranks = ranks},
          .points = {{kMiB, GBps / 2}, {kGiB, GBps}}};
}

TEST(SimaiYaml, HasTheRatesOfTheLargestSizeAndMostRanksOfEachGroup) {
  const std::vector<SystemRates> systems{
      {.system = "TP",
       .curves = {curve("allreduce", 4, 300), curve("allreduce", 8, 389.25),
                  curve("allgather", 4, 280)}},
      {.system = "PP", .simulated = true, .curves = {curve("sendrecv", 2, 47.5)}},
      {.system = "DP", .constant_GBps = 42}};
  const std::string text = simai_yaml(systems, {});
  EXPECT_THAT(text, HasSubstr("# TP: TP: allreduce of 8 ranks at 1 GiB\n"
                              "TP:\n  allreduce,: 389.2\n  allgather,: null\n"
                              "  reducescatter,: null\n  alltoall,: null\n"));
  EXPECT_THAT(text, HasSubstr("DP:\n  allreduce,: 42\n  allgather,: 42\n"));
  EXPECT_THAT(text, HasSubstr("# EP: not given\nEP:\n  allreduce,: null\n"));
  EXPECT_THAT(text, HasSubstr("# PP: PP (simulated): sendrecv of 2 ranks at 1 GiB\n"
                              "PP:\n  busbw: 47.5\n"));
  EXPECT_THAT(simai_yaml(systems, 4), HasSubstr("  allreduce,: 300\n  allgather,: 280\n"));
}

TEST(SimaiYaml, TakesOneSystemForAllGroups) {
  const SystemRates box{.system = "box", .curves = {curve("alltoall", 8, 80)}};
  const std::string text = simai_yaml(std::span(&box, 1), {});
  for (const char* group : {"TP", "DP", "EP"}) {
    EXPECT_THAT(text, HasSubstr(std::string(group) + ": box: alltoall of 8 ranks at 1 GiB"));
  }
}

TEST(SimaiYaml, RefusesOtherNamesAndWhatHasNoRates) {
  const std::vector<SystemRates> systems{{.system = "TP"}, {.system = "box"}};
  test::expect_failure(Status::Usage, "'box'", [&] { (void)simai_yaml(systems, {}); });
  const SystemRates box{.system = "box", .curves = {curve("alltoall", 8, 80)}};
  test::expect_failure(Status::Usage, "of 3 ranks",
                       [&] { (void)simai_yaml(std::span(&box, 1), 3); });
}

}  // namespace
}  // namespace busbar::study
