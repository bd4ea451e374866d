// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row.hpp"

#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "model/record.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

constexpr int kRanks = 4;
const std::byte kPoison{0xa5};

SizePlan plan_for(const char* name, Bytes size) {
  return {.wanted = size, .footprint = test::collective(name).footprint(size, 4, kRanks)};
}

Call like(const char* name) { return {.collective = &test::collective(name), .root = 2}; }

TEST(RowBuffers, GiveACallItsBuffersCountAndSegment) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.segment = 256;
  RowBuffers buffers(communicator, plan, 0);
  const auto calls = buffers.calls(like("allreduce"), false);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].count, 1024U);
  EXPECT_EQ(calls[0].segment, 256U);
  EXPECT_EQ(calls[0].root, 2);
  EXPECT_FALSE(calls[0].in_place);
  EXPECT_NE(calls[0].send, calls[0].recv);
}

TEST(RowBuffers, GiveAnInPlaceCallOneBuffer) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  EXPECT_TRUE(call.in_place);
  EXPECT_EQ(call.send, call.recv);
}

TEST(RowBuffers, SendFromTheLargeBufferWhatIsSentMost) {
  test::FakeCommunicator communicator;
  RowBuffers scatter(communicator, plan_for("reducescatter", 4096), 0);
  EXPECT_EQ(scatter.calls(like("reducescatter"), false)[0].send,
            scatter.calls(like("reducescatter"), true)[0].send);
  RowBuffers gather(communicator, plan_for("allgather", 4096), 0);
  EXPECT_EQ(gather.calls(like("allgather"), false)[0].recv,
            gather.calls(like("allgather"), true)[0].recv);
}

TEST(RowBuffers, HaveASlotForEveryRotation) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.slots = 5;
  RowBuffers buffers(communicator, plan, 0);
  std::set<std::byte*> places;
  for (const Call& call : buffers.calls(like("allreduce"), false)) {
    places.insert(call.send);
    places.insert(call.recv);
  }
  EXPECT_EQ(places.size(), 10U);
}

TEST(RowBuffers, HaveNoSecondBufferWhereThePlanGoesInPlaceOnly) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.out_of_place = false;
  RowBuffers buffers(communicator, plan, 0);
  EXPECT_EQ(buffers.calls(like("allreduce"), false)[0].recv, nullptr);
  EXPECT_NE(buffers.calls(like("allreduce"), true)[0].recv, nullptr);
}

TEST(RowBuffers, PoisonResultsButNotWhatIsSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), false).at(0);
  call.send[0] = call.recv[0] = std::byte{1};
  buffers.poison_results(false);
  EXPECT_EQ(call.recv[0], kPoison);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonNothingInPlaceThatIsAllSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  call.send[0] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonTheWholeResultOfAnInPlaceGather) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allgather", 4096), 0);
  const Call call = buffers.calls(like("allgather"), true).at(0);
  call.recv[4095] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.recv[4095], kPoison);
}

SizePlan of_three_slots(const char* name) {
  SizePlan plan = plan_for(name, 4096);
  plan.slots = 3;
  return plan;
}

/// A slot's part is of whole pages: 4096 bytes of data and an offset take two.
TEST(RowBuffers, BeginTheirDataAsFarFromAPageAsAsked) {
  test::FakeCommunicator communicator;
  RowBuffers aligned(communicator, of_three_slots("allreduce"), 0);
  RowBuffers late(communicator, of_three_slots("allreduce"), 12);
  const auto on_pages = aligned.calls(like("allreduce"), false);
  const auto off_pages = late.calls(like("allreduce"), false);
  for (std::size_t slot = 1; slot < 3; ++slot) {
    EXPECT_EQ(on_pages[slot].send - on_pages[0].send, static_cast<std::ptrdiff_t>(slot * 4096));
    EXPECT_EQ(off_pages[slot].send - off_pages[0].send, static_cast<std::ptrdiff_t>(slot * 8192));
  }
  late.register_buffers();
  ASSERT_EQ(communicator.registered.size(), 2U);
  EXPECT_EQ(off_pages[0].send - communicator.registered[0], 12);
  EXPECT_EQ(off_pages[0].recv - communicator.registered[1], 12);
  EXPECT_EQ(late.calls(like("allreduce"), true)[0].send - communicator.registered[0], 12);
}

TEST(RowBuffers, AreAsManyBytesAsTheirSlotsWithTheOffset) {
  EXPECT_EQ(RowBuffers::bytes_of(of_three_slots("allreduce"), 0), 2 * 3 * 4096U);
  EXPECT_EQ(RowBuffers::bytes_of(of_three_slots("allreduce"), 12), 2 * 3 * 8192U);
}

TEST(RowBuffers, LetNoSlotReachIntoTheNext) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, of_three_slots("allreduce"), 4);
  const auto calls = buffers.calls(like("allreduce"), false);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    communicator.poison(calls[slot].recv, 4096);
    calls[slot].recv[0] = calls[slot].recv[4095] = static_cast<std::byte>(slot);
  }
  for (std::size_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(calls[slot].recv[0], static_cast<std::byte>(slot));
    EXPECT_EQ(calls[slot].recv[4095], static_cast<std::byte>(slot));
  }
}

TEST(RowBuffers, PoisonTheResultOfEverySlot) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, of_three_slots("allreduce"), 4);
  const auto calls = buffers.calls(like("allreduce"), false);
  for (const Call& call : calls) call.recv[0] = call.recv[4095] = std::byte{1};
  buffers.poison_results(false);
  for (const Call& call : calls) {
    EXPECT_EQ(call.recv[0], kPoison);
    EXPECT_EQ(call.recv[4095], kPoison);
  }
}

TEST(RowBuffers, AreMadeKnownToTheLibraryOnceEach) {
  test::FakeCommunicator communicator;
  RowBuffers both(communicator, plan_for("allreduce", 4096), 0);
  EXPECT_TRUE(communicator.registered.empty());  // not before every rank has its own
  both.register_buffers();
  const Call call = both.calls(like("allreduce"), false).at(0);
  EXPECT_EQ(communicator.registered, (std::vector<const std::byte*>{call.send, call.recv}));
  communicator.registered.clear();
  SizePlan in_place_only = plan_for("allreduce", 4096);
  in_place_only.out_of_place = false;
  RowBuffers one(communicator, in_place_only, 0);
  one.register_buffers();
  EXPECT_EQ(communicator.registered.size(), 1U);
}

/// A row of its own for every rank, so that it shows whose arrives.
Row row_of(int rank, std::size_t samples) {
  Row row{.record = test::measured(false), .samples_us = std::vector<double>(samples)};
  row.record.group = rank;
  for (std::size_t i = 0; i < samples; ++i) {
    row.samples_us[i] = rank + 0.1 * static_cast<double>(i);
  }
  return row;
}

TEST(GatherRows, BringsEveryLeadersRowToRankZeroInTheirOrder) {
  test::on_ranks(5, [](test::ThreadBootstrap& world) {
    const auto part = world.split(world.rank() / 2);  // 0 1, 2 3, 4
    const auto samples = static_cast<std::size_t>(world.rank() + 1);
    const Row mine = row_of(world.rank(), samples);
    const auto rows = gather_rows({.world = world, .members = *part}, mine);
    ASSERT_EQ(rows.size(), world.rank() == 0 ? 3U : 0U);
    if (rows.empty()) return;
    EXPECT_EQ(rows[0].record.group, 0);
    EXPECT_EQ(rows[1].record.group, 2);
    EXPECT_EQ(rows[2].record.group, 4);
    EXPECT_EQ(rows[0].samples_us, (std::vector<double>{0}));
    EXPECT_EQ(rows[1].samples_us, row_of(2, 3).samples_us);
    EXPECT_EQ(rows[2].samples_us, row_of(4, 5).samples_us);
  });
}

TEST(GatherRows, LeavesOutRanksThatAreIdle) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const bool idle = world.rank() == 0;  // where rank 0 has no pair it writes all the same
    const auto part = world.split(idle ? 0 : 1);
    const PairGroup pair_group{.world = world, .members = *part, .idle = idle};
    const auto rows = gather_rows(pair_group, row_of(world.rank(), 2));
    ASSERT_EQ(rows.size(), idle ? 1U : 0U);
    if (idle) {
      EXPECT_EQ(rows[0].record.group, 1);
    }
  });
}

TEST(GatherRows, IsEmptyWhereEveryRankIsIdle) {
  test::FakeBootstrap alone(0, 1);
  EXPECT_TRUE(gather_rows({.world = alone, .members = alone, .idle = true}, row_of(0, 3)).empty());
}

Row exchanged(const Row& row) {
  test::FakeBootstrap alone(0, 1);
  return gather_rows({.world = alone, .members = alone}, row).at(0);
}

TEST(GatherRows, KeepsEveryColumn) {
  Row row = row_of(0, 1);
  row.record.root = 3;
  row.record.status = RowStatus::Wrong;
  row.record.reason = "rank 1, element 12345: expected \"37\", got 36;\u00b5s";
  row.record.flags = "segmented oversubscribed";
  row.record.sender = 4;
  row.record.receiver = 0;
  row.record.host_time_us = 0.25;
  row.record.enqueue_time_us = 1234567.5;
  row.record.group.reset();
  const Record received = exchanged(row).record;
  for (const RecordField& field : record_fields()) {
    EXPECT_EQ(field.get(received), field.get(row.record)) << field.name;
  }
  EXPECT_EQ(received.sender, 4);
  EXPECT_EQ(received.receiver, 0);
  EXPECT_FALSE(received.group.has_value());
}

TEST(GatherRows, KeepsEveryDigitOfSamples) {
  Row row = row_of(0, 0);
  row.samples_us = {1.0 / 3, 1e-300, 123456789.987654321};
  EXPECT_EQ(exchanged(row).samples_us, row.samples_us);
}

TEST(GatherRows, KeepsARowWithoutSamples) {
  const Row row{.record = test::skipped(true, "MPI has no type half"), .samples_us = {}};
  const Row received = exchanged(row);
  EXPECT_EQ(received.record.status, RowStatus::Skipped);
  EXPECT_EQ(received.record.reason, "MPI has no type half");
  EXPECT_TRUE(received.samples_us.empty());
}

Record record_of(int ranks) { return {.ranks = ranks, .size = 1000000}; }

Samples samples_of(std::vector<double> times_us) {
  Samples samples;
  samples.times_us = std::move(times_us);
  samples.operations = 100;
  samples.warmup_operations = 11;
  samples.batch = 2;
  samples.stop = stats::StopReason::CiWidth;
  samples.disturbances = {.minor_faults = 1.5, .involuntary_switches = 0.25};
  return samples;
}

TEST(AddStatistics, FillsARowFromItsSamples) {
  Record record = record_of(4);
  std::vector<double> times(100);
  std::iota(times.begin(), times.end(), 1);
  std::swap(times[0], times[99]);
  add_statistics(record, samples_of(times), test::collective("allreduce"));
  EXPECT_EQ(record.samples, 100U);
  EXPECT_EQ(record.operations, 100U);
  EXPECT_EQ(record.batch, 2U);
  EXPECT_EQ(record.warmup_operations, 11U);
  EXPECT_EQ(record.stop_reason, "ci-width");
  EXPECT_DOUBLE_EQ(record.time_median_us.value_or(0), 50.5);
  EXPECT_DOUBLE_EQ(record.time_mean_us.value_or(0), 50.5);
  EXPECT_DOUBLE_EQ(record.time_min_us.value_or(0), 1);
  EXPECT_DOUBLE_EQ(record.time_p90_us.value_or(0), 90);
  EXPECT_DOUBLE_EQ(record.time_p99_us.value_or(0), 99);
  EXPECT_DOUBLE_EQ(record.time_max_us.value_or(0), 100);
  EXPECT_DOUBLE_EQ(record.minor_faults_per_op.value_or(0), 1.5);
  EXPECT_DOUBLE_EQ(record.involuntary_switches_per_op.value_or(0), 0.25);
}

TEST(AddStatistics, DividesTheSizeByTheMedianAndMultipliesByTheBusFactor) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(10, 500)), test::collective("allreduce"));
  EXPECT_DOUBLE_EQ(record.algbw_GBps.value_or(0), 2);  // 10^6 bytes in 500 us
  EXPECT_DOUBLE_EQ(record.busbw_GBps.value_or(0), 3);
}

TEST(AddStatistics, GivesOneRankNoBusBandwidth) {
  Record record = record_of(1);
  add_statistics(record, samples_of(std::vector<double>(10, 500)), test::collective("allreduce"));
  EXPECT_TRUE(record.algbw_GBps.has_value());
  EXPECT_FALSE(record.busbw_GBps.has_value());
}

TEST(AddStatistics, GivesTheIntervalWhereThereIsOne) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(50, 500)), test::collective("allreduce"));
  EXPECT_DOUBLE_EQ(record.time_ci_low_us.value_or(0), 500);
  EXPECT_DOUBLE_EQ(record.time_ci_high_us.value_or(0), 500);
  EXPECT_TRUE(record.autocorrelation_time.has_value());
  EXPECT_EQ(record.flags, "");
}

TEST(AddStatistics, KeepsTheTimesOfIssuingAndOfTheHostApart) {
  Record record = record_of(4);
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) times.push_back(500 + i * 21 % 50);
  Samples samples = samples_of(times);
  samples.enqueue_us = {9, 3, 5};
  samples.host_times_us = {60, 10, 20};
  add_statistics(record, samples, test::collective("allreduce"));
  EXPECT_EQ(record.enqueue_time_us, 5);
  EXPECT_EQ(record.host_time_us, 20);
  EXPECT_LT(record.time_ci_low_us, record.time_median_us);
  EXPECT_GT(record.time_ci_high_us, record.time_median_us);
}

TEST(AddStatistics, LeavesTheIntervalEmptyAndSaysSoWhereSamplesAreTooFew) {
  Record record = record_of(4);
  add_statistics(record, samples_of({500, 501, 502}), test::collective("allreduce"));
  EXPECT_FALSE(record.time_ci_low_us.has_value());
  EXPECT_FALSE(record.time_ci_high_us.has_value());
  EXPECT_EQ(record.flags, "few-samples no-interval");
}

TEST(AddStatistics, CallsFewerThanFiftySamplesFew) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(49, 500)), test::collective("allreduce"));
  EXPECT_EQ(record.flags, "few-samples");
}

TEST(AddStatistics, FlagsWhatWasNotSteady) {
  Record record = record_of(4);
  Samples samples = samples_of(std::vector<double>(50, 500));
  samples.steady = false;
  add_statistics(record, samples, test::collective("allreduce"));
  EXPECT_EQ(record.flags, "not-steady");
}

TEST(AddStatistics, FlagsTimesThatDrift) {
  Record record = record_of(4);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) times.push_back(1000.0 + i + (i % 7) * 3);
  add_statistics(record, samples_of(times), test::collective("allreduce"));
  EXPECT_NE(record.flags.find("drifting"), std::string::npos) << record.flags;
}

TEST(AddFlag, SeparatesWordsByOneBlank) {
  Record record;
  add_flag(record, "segmented");
  EXPECT_EQ(record.flags, "segmented");
  add_flag(record, "oversubscribed");
  EXPECT_EQ(record.flags, "segmented oversubscribed");
}

TEST(HasFlag, LooksForWholeWords) {
  Record record;
  EXPECT_FALSE(has_flag(record, "segmented"));
  record.flags = "segmented oversubscribed";
  EXPECT_TRUE(has_flag(record, "oversubscribed"));
  EXPECT_FALSE(has_flag(record, "segment"));
}

/// A bound that holds for rows from 1 MB on.
SetBound large_rows_bound() {
  return {.device_set = "cores 0-1", .kind = "host-memory", .bus_GBps = [](const BoundRow& row) {
            return row.size >= 1000000 ? std::optional(4.0) : std::nullopt;
          }};
}

TEST(AddBound, TellsHowMuchOfItTheRowCameTo) {
  Record record{.busbw_GBps = 1};
  add_bound(record, large_rows_bound(), {.size = 1000000});
  EXPECT_EQ(record.bound_GBps, 4);
  EXPECT_EQ(record.bound_kind, "host-memory");
  EXPECT_EQ(record.efficiency, 0.25);
}

TEST(AddBound, LeavesARowAloneThatItDoesNotHoldFor) {
  Record record{.busbw_GBps = 1};
  add_bound(record, large_rows_bound(), {.size = 1000});
  add_bound(record, {.device_set = "cores 0-1"}, {.size = 1000000});
  EXPECT_FALSE(record.bound_GBps);
  EXPECT_EQ(record.bound_kind, "");
  EXPECT_FALSE(record.efficiency);
}

TEST(AddBound, GivesNoEfficiencyToARowWithoutBusBandwidth) {
  Record record;
  add_bound(record, large_rows_bound(), {.size = 1000000});
  EXPECT_EQ(record.bound_GBps, 4);
  EXPECT_FALSE(record.efficiency);
}

TEST(LaunchBound, IsARowWhoseIssuingTakesNineTenthsOfItsTime) {
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 9.0}));
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 10.5}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 8.9}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10}));
  EXPECT_FALSE(is_launch_bound({.enqueue_time_us = 9}));
}

TEST(AddBound, LeavesASkippedRowWithoutOne) {
  Record record{.status = RowStatus::Skipped};
  add_bound(record, {.kind = "links", .bus_GBps = [](const BoundRow&) { return 100.0; }}, {});
  EXPECT_FALSE(record.bound_GBps.has_value());
}

}  // namespace
}  // namespace busbar
