// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/routines.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "model/collective.hpp"
#include "tests/unit/support/mpi_singleton.hpp"

namespace busbar {
namespace {

TEST(MpiRoutines, ExistForEveryCollectiveOfThisBuildAndKnowWhatHasNoInPlaceCall) {
  for (const Collective* collective : measured_collectives()) {
    ASSERT_NE(find_routine(collective->name), nullptr) << collective->name;
    EXPECT_EQ(find_routine(collective->name)->copies_in_place, collective->name == "sendrecv");
  }
  EXPECT_EQ(find_routine("hypercube"), nullptr);
}

TEST(MpiBroadcast, CopiesWhatTheRootSendsOutOfPlaceOnly) {
  static_cast<void>(test::mpi_singleton());
  const int sent = 7;
  for (const auto& [rank, in_place, expected] :
       {std::tuple{0, false, 7}, {0, true, 0}, {1, false, 0}}) {
    int to = 0;
    MpiArguments call{.send = &sent, .recv = &to, .count = 1, .type = MPI_INT};
    call.rank = rank, call.in_place = in_place, call.comm = MPI_COMM_SELF;
    EXPECT_EQ(find_routine("broadcast")->call(call, nullptr), MPI_SUCCESS);
    EXPECT_EQ(to, expected) << rank << in_place;
  }
}

/// Memory that a library takes for a collective of this size over these ranks.
struct Need {
  const char* collective;
  Bytes size;
  int ranks;
  Bytes expected;
};

void expect_needs(MpiFamily family, const std::vector<Need>& needs) {
  for (const auto& [collective, size, ranks, expected] : needs) {
    EXPECT_EQ(find_routine(collective)->temporary.bytes(family, size, ranks), expected)
        << collective << ' ' << ranks;
  }
}

TEST(TemporaryMemory, IsThatOfTheAlgorithmsOfMpich) {
  expect_needs(MpiFamily::Mpich, {{"allreduce", kGiB, 16, kGiB / 2},
                                  {"allreduce", kGiB, 2, kGiB / 2},
                                  {"allreduce", kGiB, 6, kGiB},
                                  {"allreduce", kGiB, 1, 0},
                                  {"reducescatter", kGiB, 16, 64 * kMiB},
                                  {"reducescatter", 64 * kKiB, 16, 128 * kKiB},
                                  {"broadcast", kGiB, 16, 0},
                                  {"allgather", kGiB, 16, 0},
                                  {"reduce", kGiB, 16, 2 * kGiB + kGiB / 2},
                                  {"reduce", kGiB, 6, 3 * kGiB},
                                  {"reduce", kGiB, 1, 0},
                                  {"gather", kGiB, 16, kGiB / 2},
                                  {"scatter", kGiB, 16, kGiB},
                                  {"scatter", kGiB, 1, 0},
                                  {"alltoall", kGiB, 16, 64 * kMiB},
                                  {"sendrecv", kGiB, 16, 0}});
}

TEST(TemporaryMemory, IsTheWholeMessageOfOpenMpisTreesOrUpToThreeTimesThat) {
  for (const char* collective : {"allreduce", "gather"}) {
    expect_needs(MpiFamily::OpenMpi, {{collective, kGiB, 16, kGiB}, {collective, kGiB, 1, 0}});
  }
  for (const char* collective : {"reduce", "reducescatter"}) {
    expect_needs(MpiFamily::OpenMpi, {{collective, kGiB, 16, 3 * kGiB},
                                      {collective, kGiB, 3, 2 * kGiB},
                                      {collective, kGiB, 2, kGiB},
                                      {collective, kGiB, 1, 0}});
  }
  expect_needs(MpiFamily::OpenMpi,
               {{"allgather", kGiB, 16, 0}, {"allgather", kGiB, 6, kGiB}});  // 16: a power of two
}

TEST(TemporaryMemory, IsTheLargerNeedWhereTheLibraryIsNeither) {
  for (const Collective* collective : measured_collectives()) {
    const TemporaryMemory& memory = find_routine(collective->name)->temporary;
    for (const int ranks : {1, 2, 6, 16}) {
      EXPECT_EQ(memory.bytes(MpiFamily::Other, kGiB, ranks),
                std::max(memory.bytes(MpiFamily::Mpich, kGiB, ranks),
                         memory.bytes(MpiFamily::OpenMpi, kGiB, ranks)))
          << collective->name << ' ' << ranks;
    }
  }
}

TEST(MpiTypes, ExistForAllButTheTypesOfDevices) {
  for (const TypeInfo& type : kTypes) {
    const bool of_devices = type.floating && type.size < sizeof(float);
    EXPECT_EQ(mpi_type(type.type).has_value(), !of_devices) << type.name;
  }
  EXPECT_EQ(mpi_type(DataType::Float), MPI_FLOAT);
  EXPECT_EQ(mpi_type(DataType::Int8), MPI_INT8_T);
}

TEST(MpiOps, ExistForAllButTheAverage) {
  EXPECT_EQ(mpi_op(ReduceOp::Sum), MPI_SUM);
  EXPECT_EQ(mpi_op(ReduceOp::Prod), MPI_PROD);
  EXPECT_EQ(mpi_op(ReduceOp::Max), MPI_MAX);
  EXPECT_EQ(mpi_op(ReduceOp::Min), MPI_MIN);
  EXPECT_FALSE(mpi_op(ReduceOp::Avg).has_value());
}

}  // namespace
}  // namespace busbar
