// SPDX-License-Identifier: BSD-3-Clause
// With ranks that are threads of this process.
#include <string>

#include <gtest/gtest.h>

#include "backends/gloo/routines.hpp"
#include "harness/row.hpp"
#include "harness/verifier.hpp"
#include "model/backend.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using test::collective;

Call call_of(const char* name, DataType type = DataType::Float, ReduceOp op = ReduceOp::Sum) {
  const Collective& asked = collective(name);
  return {
      .collective = &asked, .count = 1024, .type = type, .op = asked.reduces ? op : ReduceOp::None};
}

std::unique_ptr<Communicator> connect(Bootstrap& world) {
  return choose_backend("gloo").backend->connect(world, {});
}

/// Runs a placement of a collective on this rank and checks its result.
DataCheck run(Bootstrap& world, Communicator& gloo, Call like, bool in_place) {
  const Collective& asked = *like.collective;
  const Bytes element = info(like.type).size;
  const SizePlan plan{.wanted = 4096, .footprint = asked.footprint(4096, element, world.size())};
  RowBuffers buffers(gloo, plan, 0);
  if (asked.rooted) like.root = world.size() - 1;
  if (asked.peers != nullptr) {
    like.peers = asked.peers({.rank = world.rank(), .ranks = world.size()});
  }
  const auto calls = buffers.calls(like, in_place);
  Verifier verifier({.world = world, .members = world}, world, gloo, like.type, like.op);
  buffers.poison_results(in_place);
  verifier.fill(calls, plan.footprint.send / element, 1);
  gloo.enqueue(calls.front());
  gloo.wait();
  return verifier.check(calls, 1);
}

TEST(GlooBackend, GivesCorrectResultsInBothPlacements) {
  for (const int ranks : {2, 3, 4}) {
    test::on_ranks(ranks, [&](test::ThreadBootstrap& world) {
      const auto gloo = connect(world);
      for (const Collective* each : measured_collectives()) {
        const std::string name(each->name);
        const GlooRoutine* routine = find_gloo_routine(name);
        ASSERT_NE(routine, nullptr) << name;
        for (const bool in_place : {false, true}) {
          const auto why = in_place ? routine->not_in_place : routine->not_out_of_place;
          if (!why.empty()) continue;
          const DataCheck verdict = run(world, *gloo, call_of(name.c_str()), in_place);
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
          const DataCheck verdict = run(world, *gloo, call, true);
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
