// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/libraries.hpp"

#include "backends/nccl/nccl_comm.hpp"
#include "model/nccl_choice.hpp"

// What needs no library; tests/fake_gpu and tests/gpu have the rest.
namespace busbar {
namespace {

TEST(SharedLibrary, OpensTheFirstNameThatIsThere) {
  SharedLibrary library{"libnobody-has-this.so.7", "libm.so.6"};
  ASSERT_TRUE(library.is_open());
  EXPECT_NE(library.path().find("libm.so.6"), std::string::npos);
  const LibraryFunction<double(double)> root{library.require("sqrt")};
  EXPECT_EQ(root(9.0), 3.0);
  EXPECT_EQ(library.problem(), "");
}

TEST(SharedLibrary, NamesTheOneThatIsMissing) {
  const SharedLibrary library{"libnobody-has-this.so.7", "libnor-this.so"};
  EXPECT_FALSE(library.is_open());
  EXPECT_EQ(library.find("sqrt"), nullptr);
  EXPECT_TRUE(library.problem().starts_with("libnobody-has-this.so.7: ")) << library.problem();
}

TEST(SharedLibrary, IsTooOldWhereAFunctionIsMissingThatItMustHave) {
  SharedLibrary library{"libm.so.6"};
  EXPECT_FALSE(LibraryFunction<int()>{library.find("of_a_later_version")});
  EXPECT_EQ(library.problem(), "");
  EXPECT_FALSE(LibraryFunction<int()>{library.require("of_a_later_version")});
  EXPECT_NE(library.problem().find("it lacks of_a_later_version"), std::string::npos);
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

}  // namespace
}  // namespace busbar
