// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/libraries.hpp"

#include "backends/nccl/nccl_comm.hpp"
#include "backends/nccl/routines.hpp"
#include "model/nccl_choice.hpp"

// What needs no library; tests/gpu/fake and tests/gpu have the rest.
namespace busbar {
namespace {

TEST(SharedLibrary, OpensTheFirstNameThatIsThere) {
  SharedLibrary library{"libnobody-has-this.so.7", "libm.so.6"};
  ASSERT_TRUE(library.is_open());
  EXPECT_THAT(library.path(), HasSubstr("libm.so.6"));
  const LibraryFunction<double(double)> root{library.require("sqrt")};
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_EQ(library.problem(), "");
}

TEST(SharedLibrary, NamesTheOneThatIsMissing) {
  const SharedLibrary library{"libnobody-has-this.so.7", "libnor-this.so"};
  EXPECT_FALSE(library.is_open());
  EXPECT_EQ(library.find("sqrt"), nullptr);
  EXPECT_THAT(library.problem(), StartsWith("libnobody-has-this.so.7: "));
}

TEST(SharedLibrary, IsTooOldWhereAFunctionIsMissingThatItMustHave) {
  SharedLibrary library{"libm.so.6"};
  EXPECT_FALSE(LibraryFunction<int()>{library.find("of_a_later_version")});
  EXPECT_EQ(library.problem(), "");
  EXPECT_FALSE(LibraryFunction<int()>{library.require("of_a_later_version")});
  EXPECT_THAT(library.problem(), HasSubstr("it lacks of_a_later_version"));
}

TEST(NcclVersion, IsReadFromItsCode) {
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
  EXPECT_EQ(nccl_version_text(21403), "2.14.3");
  EXPECT_EQ(nccl_version_text(23005), "2.30.5");
  EXPECT_EQ(nccl_version_text(2804), "2.8.4");
}

// The offsets are those of nccl.h on 64-bit machines: 4-byte fields behind an 8-byte size, and
// pointers on multiples of 8.
TEST(NcclConfig, LiesInMemoryAsTheHeadersOfAllVersionsHaveIt) {
  EXPECT_EQ(offsetof(NcclConfig, blocking), 16U);              // the last field of 2.14
  EXPECT_EQ(offsetof(NcclConfig, net_name), 32U);              // 2.17
  EXPECT_EQ(offsetof(NcclConfig, split_share), 40U);           // 2.18
  EXPECT_EQ(offsetof(NcclConfig, comm_name), 48U);             // 2.27
  EXPECT_EQ(offsetof(NcclConfig, cta_policy), 60U);            // 2.27
  EXPECT_EQ(offsetof(NcclConfig, nvlink_centric_sched), 76U);  // 2.28
  EXPECT_EQ(offsetof(NcclConfig, max_p2p_peers), 88U);         // 2.30
  EXPECT_EQ(sizeof(NcclConfig), 96U);
}

TEST(NcclConfig, IsThatOfTheHeaderAsFarAsTheHeaderGoes) {
  EXPECT_EQ(offsetof(NcclConfig, blocking), offsetof(ncclConfig_t, blocking));
  EXPECT_GE(sizeof(NcclConfig), sizeof(ncclConfig_t));
#if NCCL_VERSION_CODE >= 22800
  EXPECT_EQ(offsetof(NcclConfig, cta_policy), offsetof(ncclConfig_t, CTAPolicy));
  EXPECT_EQ(offsetof(NcclConfig, nvlink_centric_sched), offsetof(ncclConfig_t, nvlinkCentricSched));
#endif
}

TEST(NcclConfig, IsBlockingAndAsNcclTestsHasItWithThePolicyAndPeersThatAreAskedFor) {
  const NcclConfig config = nccl_config({});
  EXPECT_EQ(config.blocking, 1);  // a group of a non-blocking communicator starts a thread
  EXPECT_EQ(config.nvlink_centric_sched, 1);
  EXPECT_EQ(config.cta_policy, NcclConfig::kUndefined);
  EXPECT_EQ(config.max_p2p_peers, NcclConfig::kUndefined);
  const NcclConfig asked = nccl_config({.cta_policy = 2, .peers = 2});
  EXPECT_EQ(asked.cta_policy, 2);
  EXPECT_EQ(asked.max_p2p_peers, 2);
}

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
