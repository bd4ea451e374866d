// SPDX-License-Identifier: BSD-3-Clause
#include "harness/transports.hpp"

#include <algorithm>
#include <string_view>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

LibraryTransports transports_of(std::string_view links) {
  LibraryTransports transports{
      .known = true, .switchable = true, .nvls = true, .channels = {"16 coll, 8 nvls"}};
  std::copy(links.begin(), links.end(), transports.links.begin());
  return transports;
}

TEST(GatherTransports, GivesNothingWhereNoneWereAskedFor) {
  test::FakeBootstrap ranks(0, 2);
  const test::FakeCommunicator communicator;
  EXPECT_FALSE(gather_transports(ranks, communicator));
}

TEST(GatherTransports, JoinsTheLinksOfAllRanks) {
  test::FakeBootstrap ranks(0, 2);
  test::FakeCommunicator communicator;
  communicator.connected = transports_of("NET/IB, P2P/CUMEM");
  const auto all = gather_transports(ranks, communicator);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->links, (std::set<std::string>{"NET/IB", "P2P/CUMEM"}));
  std::vector<std::pair<std::string, std::string>> facts;
  add_facts(*all, facts);
  EXPECT_EQ(facts, (std::vector<std::pair<std::string, std::string>>{
                       {"nccl-nvls", "yes"},
                       {"nccl-gpudirect-rdma", "no"},
                       {"nccl-links", "NET/IB, P2P/CUMEM"},
                       {"nccl-channels", "16 coll, 8 nvls"}}));
  EXPECT_EQ(note_of(*all), "NCCL's log: NVLS yes, GPUDirect RDMA no, links: NET/IB, P2P/CUMEM");
}

TEST(TransportNote, SaysWhatIsMissingAndWhy) {
  EXPECT_NE(note_of({.known = true}).find("2.24"), std::string::npos);
  EXPECT_EQ(note_of({.known = true, .switchable = true}),
            "NCCL's log: NVLS no, GPUDirect RDMA no, links: none");
  std::vector<std::pair<std::string, std::string>> facts;
  add_facts({}, facts);
  EXPECT_EQ(facts.front().second, "unknown");
}

}  // namespace
}  // namespace busbar
