// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/fabric_file.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// The CSV, and after it what it places nowhere.
std::string csv_and_notes(const std::string& text) {
  std::vector<std::string> notes;
  std::string csv = fabric_csv(text, "x", notes);
  return csv + join(notes, "\n");
}

TEST(FabricCsv, ReadsSlurmsTreesOfAnyDepthAndItsBlocks) {
  for (const auto& [text, csv] :
       {std::pair{"SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[1-2]\n"
                  "SwitchName=s1 Level=0 LinkSpeed=1 Nodes=n3\n"
                  "SwitchName=p0 Level=1 LinkSpeed=1 Nodes=n[1-3] Switches=s[0-1]\n",
                  "host,pod,leaf\nn1,p0,s0\nn2,p0,s0\nn3,p0,s1\n"},
        // topology.conf with leaves at two depths
        {"# written by hand\nSwitchName=a Nodes=n1\nSwitchName=b Nodes=n2\n"
         "SwitchName=pod Switches=a\nSwitchName=core Switches=pod,b\n",
         "host,group,pod,leaf\nn1,core,pod,a\nn2,core,core,b\n"},
        // several switches of a line, and lines that go on
        {"SwitchName=p Switches=s[0-2] \\\n  Nodes=n[1-5]\n"
         "SwitchName=s0 Nodes=n1 SwitchName=s1 Nodes=n2,n3 # the new one",
         "host,pod,leaf\nn1,p,s0\nn2,p,s1\nn3,p,s1\n"
         "x: unplaced: 2 of 5 nodes of p have no leaf in this file: n[4-5]"},
        {"BlockName=b1 BlockIndex=0 Nodes=n[01-02] BlockSize=2\n"
         "BlockName=b2 BlockIndex=1 Nodes=n03 BlockSize=2\n",
         "host,leaf\nn01,b1\nn02,b1\nn03,b2\n"}}) {
    EXPECT_EQ(csv_and_notes(text), csv);
  }
}

TEST(FabricCsv, ReadsIbnetdiscover) {
  EXPECT_EQ(csv_and_notes(test::text_of("tests/fixtures/captures/ibnetdiscover/three_hosts.txt")),
            "host,leaf\nn1,leaf-a+leaf-b\nn2,leaf-a\nn3,leaf-b\n"
            "x: unplaced: 1 adapter of P1-CUFM-02, 1 adapter of localhost, 2 adapters without a "
            "host's name");
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
  EXPECT_EQ(csv_and_notes(facts + nowhere), "host,leaf\nn1,8e1f.7\nn2,8e1f.7\nn3,8e1f.8\n");
  EXPECT_THROW((void)csv_and_notes("at,host,fact,instance,value,reason\n" + nowhere), Error);
}

TEST(FabricCsv, TakesACsvAsItIs) {
  EXPECT_EQ(csv_and_notes("host,rack\nn1,r1\n"), "host,rack\nn1,r1\n");
}

TEST(FabricCsv, RefusesWhatItDoesNotKnow) {
  for (const char* text :
       {"hello\n", "SwitchName=a Nodes=n[1-\n", "SwitchName=a Nodes=n[18446744073709551615]\n",
        "SwitchName=a Switches=b\n"}) {
    EXPECT_THROW((void)csv_and_notes(text), Error) << text;
  }
}

}  // namespace
}  // namespace busbar::judge
