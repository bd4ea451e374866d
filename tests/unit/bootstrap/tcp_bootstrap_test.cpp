// SPDX-License-Identifier: BSD-3-Clause
// With ranks that are threads of this process; tests/programs/rendezvous.bats has processes that
// fail.
#include "bootstrap/tcp_bootstrap.hpp"

#include <atomic>

#include "bootstrap/node_map.hpp"

namespace busbar {
namespace {

TEST(NodeMap, NodesAreNumberedByTheirLowestRank) {
  const NodeMap map = NodeMap::numbered(std::vector<std::string>{"z", "a", "z", "b", "a"});
  EXPECT_THAT(map.of_rank, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_EQ(map.count, 3);
}

/// An address at which nothing listens.
Address free_address() {
  return {.host = "127.0.0.1", .port = listen_at({.host = "127.0.0.1", .port = 0}).own_port()};
}

Rendezvous place_of(const Address& address, int rank, int ranks, std::string token = "secret") {
  return {.address = address,
          .rank = rank,
          .ranks = ranks,
          .token = std::move(token),
          .source = "test"};
}

TcpEvents no_events() {
  return {.notice = [](const std::string&) {},
          .lost = [](const std::string& what) { ADD_FAILURE() << what; }};
}

/// Both connections of rank 1 to the rank at this address, which it does not answer on.
struct SilentRank {
  explicit SilentRank(const Address& address, int ranks = 2) : place(place_of(address, 1, ranks)) {}
  Rendezvous place;
  Socket monitor = join_root(place, Channel::Monitor, Seconds{20}).socket;
  Socket calls = join_root(place, Channel::Collectives, Seconds{20}).socket;
};

template <class Work>
void on_tcp_ranks(int ranks, const Work& work) {
  const Address address = free_address();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto bootstrap = join_by_tcp(place_of(address, rank, ranks), Seconds{20}, no_events());
      work(*bootstrap);
      bootstrap->barrier();
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(TcpBootstrap, KnowsWhoIsThere) {
  for (const int ranks : {1, 2, 5}) {
    on_tcp_ranks(ranks, [&](Bootstrap& world) {
      EXPECT_EQ(world.size(), ranks);
      EXPECT_EQ(world.nodes(), 1);
      EXPECT_EQ(world.node(), 0);
      EXPECT_EQ(world.connected_by(), "TCP (test)");
      EXPECT_EQ(world.address(), ranks > 1 ? "127.0.0.1" : "");
      const std::vector<int> all = world.gather(world.rank());
      for (int rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(all.at(static_cast<std::size_t>(rank)), rank);
      }
    });
  }
}

TEST(TcpBootstrap, SendsAndCombines) {
  on_tcp_ranks(4, [](Bootstrap& world) {
    EXPECT_THAT(world.gather(world.rank() * 10), ElementsAre(0, 10, 20, 30));
    for (int root = 0; root < 4; ++root) {
      std::array<int, 3> values{world.rank(), -world.rank(), 7};
      world.broadcast(values, root);
      EXPECT_THAT(values, ElementsAre(root, -root, 7));
    }
    const std::array<double, 2> values{1.0 + world.rank(), -world.rank() * 0.5};
    const auto combined = [&](Combine how, std::array<double, 2> result) {
      world.combine(result, how);
      return result;
    };
    EXPECT_THAT(combined(Combine::Sum, values), ElementsAre(10, -3));
    EXPECT_THAT(combined(Combine::Min, values), ElementsAre(1, -1.5));
    EXPECT_THAT(combined(Combine::Max, values), ElementsAre(4, 0));
    EXPECT_FALSE(world.agree(world.rank() != 2));
    std::vector<std::byte> large(1U << 20U, static_cast<std::byte>(world.rank()));
    world.broadcast_bytes(large, 3);
    EXPECT_EQ(large.back(), std::byte{3});
  });
}

TEST(TcpBootstrap, GathersAndScattersTextsOfAnyLength) {
  on_tcp_ranks(3, [](Bootstrap& world) {
    const std::string mine(static_cast<std::size_t>(world.rank()) * 100'000, 'x');
    std::vector<std::string> all = world.gather_texts(mine);
    EXPECT_EQ(all.size(), world.rank() == 0 ? 3U : 0U);
    EXPECT_EQ(world.scatter_texts(all), mine);
    EXPECT_EQ(world.gather_at_root(world.rank() * 0.5).size(), all.size());
  });
}

TEST(TcpBootstrap, SplitsIntoPartsThatDoNotWaitForEachOther) {
  on_tcp_ranks(5, [](Bootstrap& world) {
    const int color = world.rank() % 2;
    const auto part = world.split(color);
    EXPECT_EQ(part->size(), color == 0 ? 3 : 2);
    EXPECT_EQ(part->rank(), world.rank() / 2);
    for (int i = 0; i < (color == 0 ? 10 : 3); ++i) {
      const std::vector<int> ranks = part->gather(world.rank());
      EXPECT_EQ(ranks.front(), color);
      EXPECT_EQ(ranks.back(), color == 0 ? 4 : 3);
    }
  });
}

TEST(TcpBootstrap, NamesWhoDoesNotComeInTime) {
  const Address address = free_address();
  test::expect_failure(Status::Runtime, {"3 of 4 ranks did not join", "ranks 1-3"}, [&] {
    (void)join_by_tcp(place_of(address, 0, 4), Seconds{0.3}, no_events());
  });
}

TEST(TcpBootstrap, RefusesARankBeyondTheLastAndAnUnknownChannel) {
  const Address address = free_address();
  const auto join = [&](int rank) {
    return test::failure_of(
        [&] { join_by_tcp(place_of(address, rank, 2), Seconds{20}, no_events())->barrier(); });
  };
  test::Failure first;
  std::thread root([&] { first = join(0); });
  test::expect_failure(Status::Usage, "there is no such rank", [&] {
    (void)join_root(place_of(address, 2, 2), Channel::Monitor, Seconds{20});
  });
  for (const int channel : {98, -1}) {
    test::expect_failure(Status::Usage, "a channel that there is not", [&] {
      (void)join_root(place_of(address, 1, 2), static_cast<Channel>(channel), Seconds{20});
    });
  }
  EXPECT_EQ(join(1).message, "");
  root.join();
  EXPECT_EQ(first.message, "");
}

TEST(TcpBootstrap, WaitsForAHostsNameOnlyWhereItMayAppear) {
  Rendezvous place = place_of({.host = "no-such-host.invalid", .port = 9}, 1, 2);
  const test::Failure late =
      test::failure_of([&] { (void)join_by_tcp(place, Seconds{0.3}, no_events()); });
  EXPECT_TRUE(late.says("rank 1 could not join at no-such-host.invalid:9")) << late.message;
  place.is_known_host = true;
  const test::Failure unknown =
      test::failure_of([&] { (void)join_by_tcp(place, Seconds{300}, no_events()); });
  EXPECT_EQ(unknown.status, Status::Runtime);
  EXPECT_EQ(unknown.message.find("rank 1: no-such-host.invalid: cannot be resolved on "), 0U)
      << unknown.message;
}

TEST(TcpBootstrap, RefusesATextThatNoRankSends) {
  const Address address = free_address();
  std::thread stranger([&] {
    const SilentRank rank(address);
    const std::array<std::uint64_t, 2> head{1, std::uint64_t{1} << 60U};  // of the first call
    (void)rank.calls.send(std::as_bytes(std::span(head)));
    std::byte nothing{};
    (void)rank.monitor.receive(std::span(&nothing, 1));
  });
  test::expect_failure(Status::Runtime, "a text of 1152921504606846976 bytes", [&] {
    (void)join_by_tcp(place_of(address, 0, 2), Seconds{20}, no_events());
  });
  stranger.join();
}

TEST(TcpBootstrap, LivesToReportWhoIsMissingWhenTheOthersEndFirst) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  // The second of two ranks says nothing, of three the third does not come.
  for (const auto& [ranks, words] :
       {std::pair{2, "no answer from rank 1"}, {3, "1 of 3 ranks did not join"}}) {
    EXPECT_EXIT(
        {
          const Address address = free_address();
          std::thread other([&, ranks = ranks] {
            const SilentRank rank(address, ranks);
            std::byte abort{};
            (void)rank.monitor.receive(std::span(&abort, 1));
            const std::array<std::int32_t, 40> back{0, 4};  // as PeerMonitor sends it
            (void)rank.monitor.send(std::as_bytes(std::span(back)));
            std::this_thread::sleep_for(std::chrono::seconds(60));
          });
          const test::Failure failure = test::failure_of(
              [&] { (void)join_by_tcp(place_of(address, 0, ranks), Seconds{0.3}, no_events()); });
          std::this_thread::sleep_for(std::chrono::milliseconds(100));
          fmt::print(stderr, "{}\n", failure.message);
          std::_Exit(9);
        },
        testing::ExitedWithCode(9), words);
  }
}

TEST(TcpBootstrap, EndsWithTheCodeOfAFailureWhateverARankSends) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto& [sent, code] : {std::pair{0, 4}, {2, 2}, {77, 77}, {5, 4}, {-1, 4}}) {
    EXPECT_EXIT(
        {
          const Address address = free_address();
          std::thread other([&] {
            const SilentRank rank(address);
            const std::array<std::int32_t, 40> abort{0, sent};  // as PeerMonitor sends it
            (void)rank.monitor.send(std::as_bytes(std::span(abort)));
            std::this_thread::sleep_for(std::chrono::seconds(60));
          });
          (void)join_by_tcp(place_of(address, 0, 2), Seconds{60}, no_events());
        },
        testing::ExitedWithCode(code), "");
  }
}

TEST(TcpBootstrap, SaysThatAPortIsInUse) {
  const Socket taken = listen_at({.host = "127.0.0.1", .port = 0});
  test::expect_failure(Status::Runtime, "is in use", [&] {
    (void)join_by_tcp(place_of({.host = "127.0.0.1", .port = taken.own_port()}, 0, 2), Seconds{1},
                      no_events());
  });
}

/// What a rank that tries to join fails with, and what the listener reports.
struct JoinAttempt {
  test::Failure failure{};
  std::vector<std::string> notices{};
};

JoinAttempt attempt_to_join(const Rendezvous& door, const Rendezvous& rank) {
  JoinAttempt result;
  JoinListener listener(listen_at({.host = "127.0.0.1", .port = 0}), door,
                        [&](const std::string& line) { result.notices.push_back(line); });
  Rendezvous there = rank;
  there.address = {.host = "127.0.0.1", .port = listener.port()};
  std::atomic<bool> is_over = false;
  std::thread knocking([&] {
    result.failure =
        test::failure_of([&] { (void)join_root(there, Channel::Collectives, Seconds{5}); });
    is_over = true;
  });
  while (!is_over) {
    (void)listener.serve(
        [](const JoinedRank& each) { return each.rank == 3 ? "no rank 3 here" : ""; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  knocking.join();
  for (int i = 0; i < 50; ++i) {
    (void)listener.serve([](const JoinedRank&) { return ""; });
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return result;
}

TEST(JoinListener, SendsAwayWhoDoesNotAndTellsNeitherOfThemTheToken) {
  const JoinAttempt result = attempt_to_join(place_of({}, 0, 2), place_of({}, 1, 2, "guess"));
  EXPECT_EQ(result.failure.status, Status::Usage);
  EXPECT_TRUE(result.failure.says("its token differs from rank 0's (BUSBAR_TOKEN)"));
  ASSERT_EQ(result.notices.size(), 1U);
  EXPECT_THAT(result.notices[0], HasSubstr("refused rank 1 on "));
  for (const std::string& text : {result.failure.message, result.notices[0]}) {
    EXPECT_EQ(text.find("secret"), std::string::npos) << text;
    EXPECT_EQ(text.find("guess"), std::string::npos) << text;
  }
}

TEST(JoinListener, LetsInWhoKnowsTheTokenUnlessItsJobIsKnownToBeAnother) {
  const std::string longest(300, 'J');
  struct Case {
    std::string door;
    std::string rank;
    std::string refusal;
  };
  for (const Case& jobs : {Case{"7.0", "7.0", ""},
                           {"7.0", "", ""},
                           {"", "7.0", ""},
                           {longest + "1", longest + "1", ""},
                           {"a\tb\nc", "a\tb\nc", ""},
                           {longest + "1", longest + "2", "belongs to job"},
                           {"a\tb", "a b", "belongs to job"},
                           {"7.0", "8.0", "it belongs to job 8.0, but rank 0 to job 7.0"}}) {
    Rendezvous door = place_of({}, 0, 2);
    door.job = jobs.door;
    Rendezvous rank = place_of({}, 1, 2);
    rank.job = jobs.rank;
    const auto& [failure, notices] = attempt_to_join(door, rank);
    EXPECT_EQ(failure.status, jobs.refusal.empty() ? Status::Ok : Status::Usage) << jobs.rank;
    EXPECT_TRUE(failure.says(jobs.refusal)) << failure.message;
    EXPECT_EQ(notices.empty(), jobs.refusal.empty());
  }
}

TEST(JoinListener, KeepsOnlySoManyConnectionsThatSayNothing) {
  std::vector<std::string> notices;
  std::vector<Socket> idle;
  {
    JoinListener listener(listen_at({.host = "127.0.0.1", .port = 0}), place_of({}, 0, 2),
                          [&](const std::string& line) { notices.push_back(line); });
    for (int i = 0; i < 90; ++i) {
      std::string why_not;
      auto made = connect_to({.host = "127.0.0.1", .port = listener.port()},
                             Clock::now() + std::chrono::seconds(10), why_not);
      ASSERT_TRUE(made) << why_not;
      idle.push_back(std::move(*made));
      (void)listener.serve([](const JoinedRank&) { return ""; });
    }
    std::byte nothing{};
    EXPECT_FALSE(idle[0].receive(std::span(&nothing, 1)));  // closed: 2 * 2 + 64 stay
    EXPECT_FALSE(idle[21].receive(std::span(&nothing, 1)));
    EXPECT_EQ(idle[22].read_some(std::span(&nothing, 1)), std::nullopt);
  }
  ASSERT_EQ(notices.size(), 6U);  // five, and how many more
  EXPECT_THAT(notices[0], HasSubstr("closed a connection from 127.0.0.1"));
  EXPECT_THAT(notices[5], HasSubstr("closed 17 more connections"));
}

TEST(JoinListener, GivesTheReasonOfWhoeverIsNotAdmitted) {
  const JoinAttempt result = attempt_to_join(place_of({}, 0, 4, ""), place_of({}, 3, 4, ""));
  EXPECT_EQ(result.failure.status, Status::Usage);
  EXPECT_TRUE(result.failure.says("no rank 3 here")) << result.failure.message;
  EXPECT_THAT(result.notices, ElementsAre(HasSubstr("no rank 3 here")));
}

TEST(JoinListener, IsNotHeldUpByStrangers) {
  std::vector<std::string> notices;
  JoinListener listener(listen_at({.host = "127.0.0.1", .port = 0}), place_of({}, 0, 2, ""),
                        [&](const std::string& line) { notices.push_back(line); });
  std::string why_not;
  const Address address{.host = "127.0.0.1", .port = listener.port()};
  const auto silent = connect_to(address, Clock::now() + std::chrono::seconds(1), why_not);
  const auto browser = connect_to(address, Clock::now() + std::chrono::seconds(1), why_not);
  ASSERT_TRUE(silent && browser) << why_not;
  const std::string request = "GET / HTTP/1.1\r\n\r\n";
  ASSERT_TRUE(browser->send(std::as_bytes(std::span(request))));
  std::size_t joined = 0;
  std::thread knocking([&] {
    (void)join_root({.address = address, .rank = 1, .ranks = 2}, Channel::Monitor, Seconds{5});
  });
  for (int i = 0; i < 2000 && joined == 0; ++i) {
    joined += listener.serve([](const JoinedRank&) { return ""; }).size();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  knocking.join();
  EXPECT_EQ(joined, 1U);
  EXPECT_THAT(notices, ElementsAre(HasSubstr("which is not a rank of this version")));
}

TEST(Socket, WaitsUntilItsDeadlineForWhoDoesNotRead) {
  const Socket listener = listen_at({.host = "127.0.0.1", .port = 0});
  std::string why_not;
  const auto sender = connect_to({.host = "127.0.0.1", .port = listener.own_port()},
                                 Clock::now() + std::chrono::seconds(10), why_not);
  ASSERT_TRUE(sender) << why_not;
  const std::vector<std::byte> much(std::size_t{64} << 20U);
  EXPECT_FALSE(sender->send(much, Clock::now() + std::chrono::milliseconds(50)));
}

TEST(ListenAt, TakesALoopbackAddressOnlyThere) {
  EXPECT_EQ(listen_at({.host = "127.0.0.1", .port = 0}).own_host(), "127.0.0.1");
  EXPECT_TRUE(is_loopback("::1"));
  EXPECT_FALSE(is_loopback("10.127.0.1"));
}

}  // namespace
}  // namespace busbar
