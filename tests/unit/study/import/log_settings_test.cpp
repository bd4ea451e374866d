// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

namespace busbar::study {
namespace {

using testing::Pair;

TEST(CommandIn, TakesLinesThatAShellWouldRun) {
  for (const char* line :
       {"./all_reduce_perf -b 8", "$ mpirun -np 8 ./build/all_reduce_perf -b 8 -e 8G",
        "+ NCCL_ALGO=Ring srun ./build/all_reduce_perf -b 128M",
        "- `NCCL_DEBUG=INFO all_gather_perf`", "Command: mpirun -np 2 /opt/all_reduce_perf_mpi",
        "kubectl exec -it pod -- all_reduce_perf", "./all_reduce_perf 2>&1 | tee out.txt",
        "CUDA_VISIBLE_DEVICES=0,1 ./all_reduce_perf -g 2 > out.txt"}) {
    EXPECT_TRUE(command_in(line)) << line;
  }
  for (const char* line :
       {"The following is an example exerpt from the logs of all_reduce_perf -b 8:",
        "all_reduce_perf shows 400 GB/s", "We ran ./all_reduce_perf", "### all_reduce_perf",
        "=== all_reduce_perf ===", "mpirun -np 8 ./my_perf", "all_reduce_perf", ""}) {
    EXPECT_FALSE(command_in(line)) << line;
  }
}

TEST(SettingsOfCommand, AreAssignmentsAndWhatLaunchersPassOn) {
  const auto settings = [](const char* line) {
    return settings_of_command(command_in(line).value());
  };
  EXPECT_THAT(settings("NCCL_ALGO=Ring mpirun -x NCCL_PROTO=LL -x PATH ./all_reduce_perf -b X=1"),
              ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_PROTO", "LL")));
  EXPECT_THAT(settings("srun --export=ALL,NCCL_ALGO=Tree ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_ALGO", "Tree")));
  EXPECT_THAT(settings("mpiexec -genv NCCL_ALGO Tree ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_ALGO", "Tree")));
  EXPECT_THAT(settings("mpiexec -genv ./all_reduce_perf"), IsEmpty());
}

}  // namespace
}  // namespace busbar::study
