// SPDX-License-Identifier: BSD-3-Clause
// With ranks that are threads of this process.

#include "backends/gloo/ports.hpp"
#include "backends/gloo/routines.hpp"
#include "tests/unit/support/checked_call.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using test::call_of;

std::unique_ptr<Communicator> connect(Bootstrap& world) {
  return choose_backend("gloo").backend->connect(world, {});
}

TEST(GlooPorts, SaysWhereAHostHasTooFewForAllPairs) {
  EXPECT_EQ(ports_in("32768\t60999"), 28232);
  EXPECT_EQ(ports_in(""), 0);
  const std::vector<HostPorts> one_host(169, {.node = 0, .ports = 28232});
  EXPECT_EQ(port_shortage(std::span(one_host).first(168)), "");
  EXPECT_THAT(port_shortage(one_host),
              HasSubstr(": 169 of 169 ranks on one host need 28392, and the system gives 28232 ("));
  std::vector<HostPorts> hosts(1024);  // eight ranks each, and nothing is known of the first
  for (int rank = 8; rank < 1024; ++rank) hosts[static_cast<std::size_t>(rank)] = {rank / 8, 8184};
  EXPECT_EQ(port_shortage(hosts), "");
  hosts.back().ports = 8183;
  EXPECT_THAT(port_shortage(hosts), HasSubstr(": 8 of 1024 ranks on one host need 8184"));
}

TEST(GlooBackend, GivesCorrectResultsInBothPlacements) {
  for (const int ranks : {2, 3, 4}) {
    test::on_ranks(ranks, [&](test::ThreadBootstrap& world) {
      const auto gloo = connect(world);
      for (const Collective* each : measured_collectives()) {
        const std::string name(each->name);
        const GlooRoutine& routine = gloo_routine(name);
        for (const bool in_place : {false, true}) {
          const auto why = in_place ? routine.not_in_place : routine.not_out_of_place;
          if (!why.empty()) continue;
          const DataCheck verdict = test::run_checked(world, *gloo, call_of(name), in_place);
          EXPECT_EQ(verdict.wrong, 0U) << name << ' ' << verdict.first_wrong;
        }
      }
    });
  }
}

TEST(GlooBackend, ReducesEveryTypeThatItHas) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const auto gloo = connect(world);
    int reduced = 0;
    for (const TypeInfo& type : kTypes) {
      for (const ReduceOp op : {ReduceOp::Sum, ReduceOp::Prod, ReduceOp::Max, ReduceOp::Min}) {
        for (const char* name : {"allreduce", "reduce", "reducescatter"}) {
          Call call = call_of(name, type.type, op);
          call.in_place = true;
          if (gloo->unsupported(call)) continue;
          const DataCheck verdict = test::run_checked(world, *gloo, call, true);
          EXPECT_EQ(verdict.wrong, 0U) << type.name << ' ' << busbar::name(op);
          ++reduced;
        }
      }
    }
    EXPECT_EQ(reduced, 9 * 4 * 3);
  });
}

TEST(GlooBackend, CountsTheElementsOfAllRanksOfAReduceScatterInAnInt) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const auto gloo = connect(world);
    EXPECT_EQ(gloo->largest_count(call_of("reducescatter")), 715827882U);  // (2^31 - 1) / 3
    EXPECT_GT(gloo->largest_count(call_of("allreduce")), 1ULL << 33U);
  });
}

TEST(GlooBackend, ReportsWhyACallCannotRun) {
  test::on_ranks(2, [](test::ThreadBootstrap& world) {
    const auto gloo = connect(world);
    const auto why = [&](const Call& call) { return gloo->unsupported(call).value_or(""); };
    EXPECT_EQ(why(call_of("reducescatter")), "Gloo's reduce-scatter works in place only");
    EXPECT_EQ(why(call_of("allreduce", DataType::Bfloat16)), "Gloo cannot reduce bfloat16 by sum");
    EXPECT_EQ(why(call_of("allreduce", DataType::Float, ReduceOp::Avg)),
              "Gloo cannot reduce float by avg");
    EXPECT_EQ(why(call_of("broadcast", DataType::Bfloat16)), "");
    Call exchange = call_of("alltoall");
    exchange.in_place = true;
    EXPECT_EQ(why(exchange), kOverwrites);
  });
}

}  // namespace
}  // namespace busbar
