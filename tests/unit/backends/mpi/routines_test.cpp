// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/routines.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "model/collective.hpp"

namespace busbar {
namespace {

Bytes temporary(const char* collective, Bytes size, int ranks) {
  return find_routine(collective)->temporary.bytes(MpiFamily::Mpich, size, ranks);
}

Bytes of_open_mpi(const char* collective, Bytes size, int ranks) {
  return find_routine(collective)->temporary.bytes(MpiFamily::OpenMpi, size, ranks);
}

TEST(MpiRoutines, ExistForEveryCollectiveOfThisBuildAndKnowWhatHasNoInPlaceCall) {
  for (const Collective* collective : measured_collectives()) {
    ASSERT_NE(find_routine(collective->name), nullptr) << collective->name;
    EXPECT_EQ(find_routine(collective->name)->overwrites, collective->name == "sendrecv");
  }
  EXPECT_EQ(find_routine("hypercube"), nullptr);
}

/// Memory that a library takes for a collective of this size over these ranks.
struct Need {
  const char* collective;
  Bytes size;
  int ranks;
  Bytes expected;
};

TEST(TemporaryMemory, IsThatOfTheAlgorithmsOfMpich) {
  const std::vector<Need> needs = {{"allreduce", kGiB, 16, kGiB / 2},
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
                                   {"sendrecv", kGiB, 16, 0}};
  for (const auto& [collective, size, ranks, expected] : needs) {
    EXPECT_EQ(temporary(collective, size, ranks), expected) << collective << ' ' << ranks;
  }
}

TEST(TemporaryMemory, IsTheWholeMessageOfOpenMpisTreesOrUpToThreeTimesThat) {
  for (const char* collective : {"allreduce", "gather"}) {
    EXPECT_EQ(of_open_mpi(collective, kGiB, 16), kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 1), 0U) << collective;
  }
  for (const char* collective : {"reduce", "reducescatter"}) {
    EXPECT_EQ(of_open_mpi(collective, kGiB, 16), 3 * kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 3), 2 * kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 2), kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 1), 0U) << collective;
  }
  EXPECT_EQ(of_open_mpi("allgather", kGiB, 16), 0U);  // a power of two
  EXPECT_EQ(of_open_mpi("allgather", kGiB, 6), kGiB);
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
