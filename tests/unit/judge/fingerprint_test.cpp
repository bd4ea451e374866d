// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fingerprint.hpp"

namespace busbar::judge {
namespace {

Observation two_gpus() {
  const std::string rank = "host h1 device 0 bus 0000:07:00.0 uuid GPU-1 name NVIDIA H200";
  return {.file = "a.csv",
          .facts = {{"gpus_per_node", "2"}, {"rank_0", rank}},
          .records = {{.ranks = 2, .nodes = 1}}};
}

/// Why two GPUs are not those of a fingerprint and a backend, or empty.
std::string stranger(const std::map<std::string, std::vector<std::string>>& fingerprint,
                     const Facts& assumed = {}, const std::string& reported = {},
                     const std::string& wanted = "auto") {
  Specification specification;
  specification.system.fingerprint = fingerprint;
  specification.run.backend = wanted;
  std::vector<Observation> launches{two_gpus()};
  launches.front().records.push_back({.backend = reported});
  return fingerprint_error(specification, launches, assumed);
}

TEST(Fingerprint, AFingerprintAsksEveryFile) {
  EXPECT_EQ(stranger({{"gpu", {"H200"}}, {"gpus_per_node", {"2"}}}), "");
  EXPECT_EQ(stranger({{"gpus_per_node", {"8"}}}),
            "fingerprint: gpus_per_node is '2', expected '8' (a.csv)");
  // An assumption stands for what files do not report, not for what they do.
  EXPECT_NE(stranger({{"gpus_per_node", {"8"}}}, {{"gpus_per_node", "8"}}), "");
  EXPECT_NE(stranger({{"driver", {"580.1"}}}), "");
  EXPECT_EQ(stranger({{"driver", {"580.1"}}}, {{"driver", "580.1"}}), "");
  EXPECT_EQ(
      stranger({{"gpu", {"NVIDIA H200 NVL", "NVIDIA B200"}}}),
      "fingerprint: gpu is 'NVIDIA H200', expected 'NVIDIA H200 NVL' or 'NVIDIA B200' (a.csv)");
  EXPECT_THAT(stranger({{"gpu", {"H2"}}}), HasSubstr("write gpu = \"NVIDIA H200\""));
}

TEST(Fingerprint, AsksPredictedRowsOnlyForWhatTheyReport) {
  EXPECT_EQ(stranger({{"driver", {"580.1"}}}, {}, "sim"), "");
  EXPECT_NE(stranger({{"gpus_per_node", {"8"}}}, {}, "sim"), "");
}

TEST(Fingerprint, RowsOfAnotherBackendAreRefused) {
  EXPECT_EQ(stranger({}, {}, "nccl", "nccl"), "");
  EXPECT_EQ(stranger({}, {}, "sim", "nccl"), "") << "says so itself, in another way";
  EXPECT_EQ(stranger({}, {}, "mpi", "nccl"),
            "[run] backend: measured over mpi, expected nccl (a.csv)");
  EXPECT_EQ(stranger({}, {}, "mpi", "auto"), "");
}

}  // namespace
}  // namespace busbar::judge
