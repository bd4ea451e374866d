// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fabric_file.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar::judge {
namespace {

TEST(FabricCsv, ReadsSlurmsTree) {
  EXPECT_EQ(fabric_csv("SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
                       "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n3\n"
                       "SwitchName=p0 Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[0-1]\n",
                       "x"),
            "host,pod,leaf\nn1,p0,s0\nn2,p0,s0\nn3,p0,s1\n");
}

TEST(FabricCsv, ReadsTopologyConfWithLeavesAtTwoDepths) {
  EXPECT_EQ(fabric_csv("# written by hand\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"
                       "SwitchName=pod Switches=a\nSwitchName=core Switches=pod,b\n",
                       "x"),
            "host,group,pod,leaf\nn1,core,pod,a\nn2,core,core,b\n");
}

TEST(FabricCsv, ReadsSlurmsBlocks) {
  EXPECT_EQ(fabric_csv("BlockName=b1 BlockIndex=0 Nodes=n[01-02] BlockSize=2\n"
                       "BlockName=b2 BlockIndex=1 Nodes=n03 BlockSize=2\n",
                       "x"),
            "host,leaf\nn01,b1\nn02,b1\nn03,b2\n");
}

constexpr const char* kFabric = R"(# Topology file
vendid=0x2c9
switchguid=0xb0(b0)
Switch	40 "S-b0"		# "leaf-a" enhanced port 0 lid 3 lmc 0
[1]	"H-01"[1](01) 		# "n1 mlx5_0" lid 5 4xHDR
[2]	"H-02"[1](02) 		# "n2 mlx5_0" lid 6 4xHDR
[40]	"S-c0"[1]		# "spine" lid 9 4xHDR
[41]	"H-0f"[1](0f) 		# "Mellanox Technologies Aggregation Node" lid 7 4xHDR

switchguid=0xb1(b1)
Switch	40 "S-b1"		# "leaf-b" enhanced port 0 lid 4 lmc 0
[1]	"H-03"[1](03) 		# "n1 mlx5_1" lid 8 4xHDR
[2]	"H-04"[1](04) 		# "n3 mlx5_0" lid 9 4xHDR

vendid=0x2c9
Ca	1 "H-01"		# "n1 mlx5_0"
[1](01) 	"S-b0"[1]		# lid 5 lmc 0 "leaf-a" lid 3 4xHDR
)";

TEST(FabricCsv, ReadsIbnetdiscover) {
  EXPECT_EQ(fabric_csv(kFabric, "x"), "host,leaf\nn1,leaf-a+leaf-b\nn2,leaf-a\nn3,leaf-b\n");
}

TEST(FabricCsv, ReadsNvlinkCliquesOfFacts) {
  const std::string facts =
      "at,host,fact,instance,value,reason\n"
      "t1,n1,gpu.fabric_clique,gpu0,7,\nt1,n1,gpu.fabric_domain,gpu0,8e1f,\n"
      "t1,n2,gpu.fabric_clique,gpu0,7,\nt1,n2,gpu.fabric_domain,gpu0,8e1f,\n"
      "t1,n3,gpu.fabric_clique,gpu0,8,\nt1,n3,gpu.fabric_domain,gpu0,8e1f,\n";
  const std::string nowhere =
      "t1,n4,gpu.fabric_clique,gpu0,0,\nt1,n4,gpu.fabric_domain,gpu0,0000-00,\n"
      "t1,n5,gpu.fabric_domain,gpu0,,[N/A]\n";
  EXPECT_EQ(fabric_csv(facts + nowhere, "x"), "host,leaf\nn1,8e1f.7\nn2,8e1f.7\nn3,8e1f.8\n");
  EXPECT_THROW((void)fabric_csv("at,host,fact,instance,value,reason\n" + nowhere, "x"), Error);
}

TEST(FabricCsv, TakesACsvAsItIs) {
  EXPECT_EQ(fabric_csv("host,rack\nn1,r1\n", "x"), "host,rack\nn1,r1\n");
}

TEST(FabricCsv, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW((void)fabric_csv("hello\n", "x"), Error);
  EXPECT_THROW((void)fabric_csv("SwitchName=a Nodes=n[1-\n", "x"), Error);
  EXPECT_THROW((void)fabric_csv("SwitchName=a Switches=b\n", "x"), Error);
}

}  // namespace
}  // namespace busbar::judge
