// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/routines.hpp"

namespace busbar {
namespace {

TEST(NcclRoutines, ExistForEveryMeasuredCollectiveInPlaceUnlessTheyWouldOverwrite) {
  ASSERT_FALSE(measured_collectives().empty());
  for (const Collective* collective : measured_collectives()) {
    const NcclRoutine& routine = nccl_routine(collective->name);
    EXPECT_EQ(routine.collective, collective->name);
    const std::set<std::string_view> overwriting{"alltoall", "alltoallv", "sendrecv"};
    EXPECT_EQ(routine.overwrites, overwriting.contains(collective->name)) << collective->name;
  }
}

TEST(NcclTypes, DifferForEveryTypeAsInTheHeader) {
  std::set<int> types;
  for (const TypeInfo& type : kTypes) {
    EXPECT_TRUE(types.insert(nccl_type(type.type)).second) << type.name << " is another's type too";
  }
  EXPECT_EQ(nccl_type(DataType::Int8), ncclInt8);
  EXPECT_EQ(nccl_type(DataType::Uint64), ncclUint64);
  EXPECT_EQ(nccl_type(DataType::Half), ncclFloat16);
  EXPECT_EQ(nccl_type(DataType::Float), ncclFloat32);
  EXPECT_EQ(nccl_type(DataType::Double), ncclFloat64);
  EXPECT_EQ(nccl_type(DataType::Bfloat16), ncclBfloat16);
  EXPECT_EQ(static_cast<int>(nccl_type(DataType::F8e4m3)), 10);  // nccl.h of 2.24
  EXPECT_EQ(static_cast<int>(nccl_type(DataType::F8e5m2)), 11);
}

TEST(NcclOps, AreTheLibrarysOfTheSameNameAndAnyWhereNothingIsReduced) {
  EXPECT_EQ(nccl_op(ReduceOp::Sum), ncclSum);
  EXPECT_EQ(nccl_op(ReduceOp::Prod), ncclProd);
  EXPECT_EQ(nccl_op(ReduceOp::Max), ncclMax);
  EXPECT_EQ(nccl_op(ReduceOp::Min), ncclMin);
  EXPECT_EQ(nccl_op(ReduceOp::Avg), ncclAvg);
  EXPECT_EQ(nccl_op(ReduceOp::None), ncclSum);
}

}  // namespace
}  // namespace busbar
