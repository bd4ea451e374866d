// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/system_tables.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

std::string file_with(const std::string& protocol) {
  return "name = \"pair\"\nnode = [ { name = \"GPU0\", kind = \"gpu\" } ]\n" + protocol;
}

Protocol protocol_of(const std::string& text) {
  return parse_machine(file_with(text), "my.toml").host.protocol;
}

std::string complaint(const std::string& text) {
  return test::failure_of([&] { static_cast<void>(protocol_of(text)); }).message;
}

TEST(ProtocolTable, IsReadAsWritten) {
  constexpr const char* kText =
      "\n[protocol]\nefficiency = 0.9\nissue_us = 4\ndirect_issue_us = 9\nchannel_GBps = 20\n"
      "network_latency_us = 35\nlibrary = \"nccl-2.18\"\nflows = 4\n"
      "algorithms = [\"ring\", \"tree\"]\nsource = \"made up\"\n"
      "\n[protocol.ring_ll128]\nshare = 0.5\nnetwork_share = 0.25\n"
      "\n[protocol.tree_low_latency]\nshare = 0.5\nnetwork_us = 7\n";
  const Protocol protocol = protocol_of(kText);
  EXPECT_EQ(protocol.efficiency, 0.9);
  EXPECT_EQ(protocol.flows, 4);
  EXPECT_EQ(protocol.issue_us, 4);
  EXPECT_EQ(protocol.direct_issue_us, 9);
  EXPECT_EQ(protocol.channel_GBps, 20);
  EXPECT_EQ(protocol.network_latency_us, 35);
  EXPECT_EQ(protocol.library, Library::Nccl218);
  EXPECT_EQ(protocol.algorithms, (std::vector{Algorithm::Ring, Algorithm::Tree}));
  const StepTimes& tree = protocol.steps.at(static_cast<std::size_t>(Sending::TreeLowLatency));
  EXPECT_EQ(tree.share, 0.5);
  EXPECT_EQ(tree.network_us, 7);
  EXPECT_EQ(protocol.steps.at(static_cast<std::size_t>(Sending::RingLl128)).network_share, 0.25);
  EXPECT_EQ(protocol_table(protocol), kText);
}

TEST(ProtocolTable, IsEmptyWhereNothingIsKnown) {
  EXPECT_EQ(protocol_of(""), Protocol{});
  EXPECT_EQ(protocol_table({}), "");
}

TEST(ProtocolTable, RefusesWhatItDoesNotUnderstand) {
  EXPECT_EQ(complaint("[protocol]\nefficiency = 1.5\nsource = \"x\"\n"),
            "my.toml:4:14: efficiency is a share: above 0, at most 1");
  EXPECT_EQ(complaint("[protocol]\nefficiency = 0.5\n"),
            "my.toml:3:1: [protocol] needs the key \"source\"");
  EXPECT_EQ(complaint("[protocol]\nalgorithms = [\"rings\"]\nsource = \"x\"\n"),
            "my.toml:4:14: unknown algorithm \"rings\"; did you mean \"ring\"?");
  EXPECT_NE(complaint("[protocol]\nsource = \"x\"\n[protocol.ring]\nspeed = 1\n").find("6:1"),
            std::string::npos);
}

TEST(CompletedProtocol, HasDefaultsForWhatIsMissing) {
  const Protocol protocol = completed({.efficiency = 0.5, .source = "made up"});
  EXPECT_EQ(protocol.efficiency, 0.5);
  EXPECT_EQ(protocol.source, "made up");
  EXPECT_EQ(protocol.steps, completed({}).steps);
  EXPECT_EQ(completed({}).efficiency, 0.8);
  EXPECT_NE(completed({}).source, "");
}

TEST(ParseMachine, KeepsOneOfVeryManyHosts) {
  const EqualHosts machine = parse_machine("hosts = 60000\n" + file_with(""), "my.toml");
  EXPECT_EQ(machine.hosts, 60000);
  EXPECT_EQ(device_count(machine.host), 1U);
}

}  // namespace
}  // namespace busbar::topo
