// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/routines.hpp"

#include <algorithm>

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

TEST(MpiRoutines, ExistForEveryCollectiveOfThisBuild) {
  for (const Collective* collective : measured_collectives()) {
    EXPECT_NE(find_routine(collective->name), nullptr) << collective->name;
  }
}

TEST(MpiRoutines, AreNoneForWhatIsNotACollective) { EXPECT_EQ(find_routine("hypercube"), nullptr); }

TEST(TemporaryMemory, IsHalfTheMessageOfAnAllReduceOfAPowerOfTwoOfRanks) {
  EXPECT_EQ(temporary("allreduce", kGiB, 16), kGiB / 2);
  EXPECT_EQ(temporary("allreduce", kGiB, 2), kGiB / 2);
  EXPECT_EQ(temporary("allreduce", kGiB, 6), kGiB);
  EXPECT_EQ(temporary("allreduce", kGiB, 1), 0U);
}

TEST(TemporaryMemory, IsOneBlockOfALargeReduceScatterAndMoreOfASmallOne) {
  EXPECT_EQ(temporary("reducescatter", kGiB, 16), 64 * kMiB);
  EXPECT_EQ(temporary("reducescatter", 64 * kKiB, 16), 128 * kKiB);
}

TEST(TemporaryMemory, IsNothingOfABroadcastOrALargeAllGather) {
  EXPECT_EQ(temporary("broadcast", kGiB, 16), 0U);
  EXPECT_EQ(temporary("allgather", kGiB, 16), 0U);
}

TEST(TemporaryMemory, IsMostForAReduceWhoseRootIsNotRankZero) {
  EXPECT_EQ(temporary("reduce", kGiB, 16), 2 * kGiB + kGiB / 2);
  EXPECT_EQ(temporary("reduce", kGiB, 6), 3 * kGiB);
  EXPECT_EQ(temporary("reduce", kGiB, 1), 0U);
}

TEST(TemporaryMemory, IsAsTheirTreesNeedForGatherAndScatter) {
  EXPECT_EQ(temporary("gather", kGiB, 16), kGiB / 2);
  EXPECT_EQ(temporary("scatter", kGiB, 16), kGiB);
  EXPECT_EQ(temporary("scatter", kGiB, 1), 0U);
}

TEST(TemporaryMemory, IsABlockOfAnAllToAllAndNothingOfASendReceive) {
  EXPECT_EQ(temporary("alltoall", kGiB, 16), 64 * kMiB);
  EXPECT_EQ(temporary("sendrecv", kGiB, 16), 0U);
}

TEST(TemporaryMemory, IsTheWholeMessageOfAnAllReduceOrGatherOfOpenMpi) {
  for (const char* collective : {"allreduce", "gather"}) {
    EXPECT_EQ(of_open_mpi(collective, kGiB, 16), kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 1), 0U) << collective;
  }
}

TEST(TemporaryMemory, IsUpToThreeTimesTheMessageOfAReduceOrReduceScatterOfOpenMpi) {
  for (const char* collective : {"reduce", "reducescatter"}) {
    EXPECT_EQ(of_open_mpi(collective, kGiB, 16), 3 * kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 3), 2 * kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 2), kGiB) << collective;
    EXPECT_EQ(of_open_mpi(collective, kGiB, 1), 0U) << collective;
  }
}

TEST(TemporaryMemory, IsNothingOfAnAllGatherOfOpenMpiOnlyWhereRanksAreAPowerOfTwo) {
  EXPECT_EQ(of_open_mpi("allgather", kGiB, 16), 0U);
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

TEST(MpiRoutines, KnowWhatHasNoInPlaceCall) {
  for (const Collective* collective : measured_collectives()) {
    EXPECT_EQ(find_routine(collective->name)->overwrites, collective->name == "sendrecv");
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
