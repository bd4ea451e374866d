// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/peer_monitor.hpp"

#include <sys/socket.h>

namespace busbar {
namespace {

/// The two ends of a connection.
std::array<Socket, 2> connection() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {Socket(ends[0]), Socket(ends[1])};
}

JoinedRank peer(int rank, Socket socket) {
  return {.socket = std::move(socket), .rank = rank, .host = "h" + std::to_string(rank)};
}

std::vector<JoinedRank> one_peer(int rank, Socket socket) {
  std::vector<JoinedRank> peers;
  peers.push_back(peer(rank, std::move(socket)));
  return peers;
}

/// Of a rank in a step of this number. Losing a rank is the launcher's business.
TcpEvents events_in(std::uint64_t step) {
  return {.position = [step] {
    StepPosition position{.step = step};
    copy_text("step " + std::to_string(step), position.text);
    return position;
  }};
}

/// Rank 0 with three others: rank 1 is alive, rank 2 never answers, rank 3 is not connected.
struct RootMonitor : testing::Test {
  std::array<Socket, 2> to_first = connection();
  std::array<Socket, 2> to_second = connection();
  std::unique_ptr<PeerMonitor> first;

  std::unique_ptr<PeerMonitor> root(std::uint64_t step_of_first) {
    first = std::make_unique<PeerMonitor>(1, 4, one_peer(0, std::move(to_first[1])), nullptr,
                                          events_in(step_of_first));
    auto peers = one_peer(1, std::move(to_first[0]));
    peers.push_back(peer(2, std::move(to_second[0])));
    return std::make_unique<PeerMonitor>(0, 4, std::move(peers), nullptr, events_in(7));
  }
};

TEST_F(RootMonitor, NamesWhoIsSilentWhoIsBehindAndWhoWasNotAsked) {
  EXPECT_THAT(root(5)->describe_stall(),
              AllOf(StartsWith("rank 2 on h2 does not answer; rank 1 on h1 is behind, step 5 for "),
                    HasSubstr("; rank 0 on "), HasSubstr(" waits in: step 7"),
                    EndsWith("; ranks that could not be asked: 3")));
}

TEST_F(RootMonitor, CountsARankThatEndedByItselfAsSilentAndOneThatLeftAsThere) {
  const auto monitor = root(7);
  first.reset();         // it leaves
  to_second[1].close();  // it ends
  EXPECT_THAT(monitor->describe_stall(),
              AllOf(StartsWith("rank 2 on h2 does not answer; 2 others wait in: step 7"),
                    EndsWith("could not be asked: 3")));
}

TEST(PeerMonitor, LetsRankZeroReportWhereAnotherHasWaitedForTooLong) {
  auto [mine, other] = connection();
  std::atomic<bool> asked = false;
  TcpEvents events = events_in(7);
  events.stalled = [&] { asked = true; };
  const PeerMonitor monitor(0, 2, one_peer(1, std::move(mine)), nullptr, events);
  std::array<std::int32_t, 40> ping{2};
  ASSERT_TRUE(other.send(std::as_bytes(std::span(ping))));
  ASSERT_TRUE(other.receive(std::as_writable_bytes(std::span(ping)),
                            Clock::now() + std::chrono::seconds(30)));
  EXPECT_EQ(ping[0], 3);  // its answer, with the step
  EXPECT_EQ(ping[2], 7);
  while (!asked) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(PeerMonitor, HasNothingToReportOfOneRankOrWithoutAConnection) {
  PeerMonitor alone(0, 1, {}, nullptr, events_in(7));
  EXPECT_EQ(alone.describe_stall(), "");
}

}  // namespace
}  // namespace busbar
