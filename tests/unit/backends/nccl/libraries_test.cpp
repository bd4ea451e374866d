// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/libraries.hpp"

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

TEST(SharedLibrary, IsTooOldWhereAFunctionIsMissingThatItMustHave) {
  SharedLibrary library{"libm.so.6"};
  EXPECT_FALSE(LibraryFunction<int()>{library.find("of_a_later_version")});
  EXPECT_EQ(library.problem(), "");
  EXPECT_FALSE(LibraryFunction<int()>{library.require("of_a_later_version")});
  EXPECT_THAT(library.problem(), HasSubstr("it lacks of_a_later_version"));
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

}  // namespace
}  // namespace busbar
