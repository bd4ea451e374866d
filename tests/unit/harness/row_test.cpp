// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row.hpp"

#include <random>

#include "harness/visits.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using test::cells;

constexpr int kRowRanks = 4;
const std::byte kPoison{0xa5};

SizePlan plan_for(const char* name, std::uint64_t slots = 1) {
  return {.wanted = 4096,
          .footprint =
              test::collective(name).footprint({.wanted = 4096, .element = 4, .ranks = kRowRanks}),
          .slots = slots};
}

/// The buffers of rows of 4 KiB.
struct RowBuffersOfARow : testing::Test {
  RowBuffers buffers(const SizePlan& plan, Bytes offset = 0) {
    return {communicator, plan, offset};
  }
  static std::vector<Call> calls(const RowBuffers& of, bool in_place,
                                 const char* name = "allreduce") {
    return of.calls({.collective = &test::collective(name), .root = 2}, in_place);
  }

  test::FakeCommunicator communicator;
};

TEST_F(RowBuffersOfARow, GiveACallItsBuffersCountAndSegmentAndOneBufferInPlace) {
  SizePlan plan = plan_for("allreduce");
  plan.segment = 256;
  const RowBuffers row = buffers(plan);
  const auto apart = calls(row, false);
  EXPECT_EQ(apart.at(0).count, 1024U);
  EXPECT_EQ(apart[0].segment, 256U);
  EXPECT_EQ(apart[0].root, 2);
  EXPECT_FALSE(apart[0].in_place);
  EXPECT_NE(apart[0].send, apart[0].recv);
  const Call together = calls(row, true).at(0);
  EXPECT_TRUE(together.in_place);
  EXPECT_EQ(together.send, together.recv);
}

TEST_F(RowBuffersOfARow, SendFromTheLargeBufferWhatIsSentMost) {
  const RowBuffers scatter = buffers(plan_for("reducescatter"));
  EXPECT_EQ(calls(scatter, false, "reducescatter")[0].send,
            calls(scatter, true, "reducescatter")[0].send);
  const RowBuffers gather = buffers(plan_for("allgather"));
  EXPECT_EQ(calls(gather, false, "allgather")[0].recv, calls(gather, true, "allgather")[0].recv);
}

TEST_F(RowBuffersOfARow, HaveNoSecondBufferWhereThePlanGoesInPlaceOnly) {
  SizePlan plan = plan_for("allreduce");
  plan.out_of_place = false;
  RowBuffers one = buffers(plan);
  EXPECT_EQ(calls(one, false)[0].recv, nullptr);
  EXPECT_NE(calls(one, true)[0].recv, nullptr);
  one.register_buffers();
  EXPECT_EQ(communicator.registered.size(), 1U);
}

TEST_F(RowBuffersOfARow, PoisonResultsButNotWhatIsSent) {
  RowBuffers row = buffers(plan_for("allreduce"));
  const Call call = calls(row, false).at(0);
  call.send[0] = call.recv[0] = std::byte{1};
  row.poison_results(false);
  EXPECT_EQ(call.recv[0], kPoison);
  EXPECT_EQ(call.send[0], std::byte{1});
  row.poison_results(true);  // which is all sent
  EXPECT_EQ(calls(row, true).at(0).send[0], std::byte{1});
  RowBuffers gather = buffers(plan_for("allgather"));
  const Call gathered = calls(gather, true, "allgather").at(0);
  gathered.recv[4095] = std::byte{1};
  gather.poison_results(true);
  EXPECT_EQ(gathered.recv[4095], kPoison);
}

/// A slot's part is of whole pages: 4096 bytes of data and an offset take two.
TEST_F(RowBuffersOfARow, BeginTheirDataAsFarFromAPageAsAskedAndAreRegisteredOnceEach) {
  const SizePlan plan = plan_for("allreduce", 3);
  const auto on_pages = calls(buffers(plan), false);
  RowBuffers late = buffers(plan, 12);
  const auto off_pages = calls(late, false);
  for (std::size_t slot = 1; slot < 3; ++slot) {
    EXPECT_EQ(on_pages[slot].send - on_pages[0].send, static_cast<std::ptrdiff_t>(slot * 4096));
    EXPECT_EQ(off_pages[slot].send - off_pages[0].send, static_cast<std::ptrdiff_t>(slot * 8192));
  }
  EXPECT_TRUE(communicator.registered.empty());  // not before every rank has its own
  late.register_buffers();
  ASSERT_EQ(communicator.registered.size(), 2U);
  EXPECT_EQ(off_pages[0].send - communicator.registered[0], 12);
  EXPECT_EQ(off_pages[0].recv - communicator.registered[1], 12);
  EXPECT_EQ(calls(late, true)[0].send - communicator.registered[0], 12);
  EXPECT_EQ(RowBuffers::bytes_of(plan, 0), 2 * 3 * 4096U);
  EXPECT_EQ(RowBuffers::bytes_of(plan, 12), 2 * 3 * 8192U);
}

TEST_F(RowBuffersOfARow, PoisonTheResultOfEverySlotWhichDoesNotReachIntoTheNext) {
  RowBuffers row = buffers(plan_for("allreduce", 3), 4);
  const auto slots = calls(row, false);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    communicator.poison(slots[slot].recv, 4096);
    slots[slot].recv[0] = slots[slot].recv[4095] = static_cast<std::byte>(slot);
  }
  for (std::size_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(slots[slot].recv[0], static_cast<std::byte>(slot));
    EXPECT_EQ(slots[slot].recv[4095], static_cast<std::byte>(slot));
  }
  row.poison_results(false);
  for (const Call& call : slots) {
    EXPECT_EQ(call.recv[0], kPoison);
    EXPECT_EQ(call.recv[4095], kPoison);
  }
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
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].record.group, 2 * i);
      EXPECT_EQ(rows[i].samples_us, row_of(static_cast<int>(2 * i), 2 * i + 1).samples_us);
    }
  });
}

TEST(GatherRows, LeavesOutRanksThatAreIdle) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const bool idle = world.rank() == 0;  // where rank 0 has no pair it writes all the same
    const auto part = world.split(idle ? 0 : 1);
    const RoundGroup round_group{.world = world, .members = *part, .idle = idle};
    const auto rows = gather_rows(round_group, row_of(world.rank(), 2));
    ASSERT_EQ(rows.size(), idle ? 1U : 0U);
    for (const Row& row : rows) EXPECT_EQ(row.record.group, 1);
  });
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
  EXPECT_EQ(cells(received, "sender receiver group"), "4|0|");
}

TEST(GatherRows, KeepsEveryDigitOfSamplesAndARowWithoutSamples) {
  Row row = row_of(0, 0);
  row.samples_us = {1.0 / 3, 1e-300, 123456789.987654321};
  EXPECT_EQ(exchanged(row).samples_us, row.samples_us);
  row = {.record = test::skipped(true, "MPI has no type half"), .samples_us = {}};
  EXPECT_EQ(cells(exchanged(row).record, "status reason"), "skipped|MPI has no type half");
  EXPECT_TRUE(exchanged(row).samples_us.empty());
}

TEST(GatherRows, KeepsWhoWasLastAndTheTimesOfAllRanks) {
  Row row = row_of(0, 2);
  row.arrivals = {{.last = 3, .late_us = 0.1}, {.last = 0, .late_us = 1.0 / 3}};
  Row received = exchanged(row);
  EXPECT_EQ(received.arrivals.at(0).last, 3);
  EXPECT_EQ(received.arrivals.at(1).late_us, 1.0 / 3);
  EXPECT_TRUE(received.rank_times_us.empty());
  row.rank_times_us = {{1, 2.5}, {1.0 / 3, 4}};
  row.arrivals.clear();
  received = exchanged(row);
  EXPECT_EQ(received.rank_times_us, row.rank_times_us);
  EXPECT_TRUE(received.arrivals.empty());
  EXPECT_EQ(received.samples_us, row.samples_us);
}

/// The record of an all-reduce of 10^6 bytes with these samples.
Record record_of(const Samples& samples, int ranks = 4) {
  Record record{.ranks = ranks, .size = 1000000};
  add_statistics(record, samples, test::collective("allreduce").bus_factor(record.ranks));
  return record;
}

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

/// So many samples of 500 us.
Samples equal_samples(std::size_t count) { return samples_of(std::vector<double>(count, 500)); }

TEST(AddStatistics, FillsARowFromItsSamplesWithATailFromAThousandOn) {
  std::vector<double> times(1000);
  std::iota(times.begin(), times.end(), 1);
  EXPECT_EQ(record_of(samples_of(times)).time_p999_us, 999);
  times.pop_back();
  EXPECT_FALSE(record_of(samples_of(times)).time_p999_us);
  times.resize(100);
  std::swap(times[0], times[99]);
  const Record record = record_of(samples_of(times));
  EXPECT_EQ(cells(record, "samples operations batch warmup_operations stop_reason"),
            "100|100|2|11|ci-width");
  EXPECT_EQ(cells(record, "time_median_us time_mean_us time_min_us time_p90_us time_p99_us"),
            "50.5|50.5|1|90|99");
  EXPECT_EQ(cells(record, "time_max_us minor_faults_per_op involuntary_switches_per_op"),
            "100|1.5|0.25");
}

TEST(AddStatistics, DividesTheSizeByTheMedianAndMultipliesByTheBusFactorOfSeveralRanks) {
  // 10^6 bytes in 500 us
  EXPECT_EQ(cells(record_of(equal_samples(10)), "algbw_GBps busbw_GBps"), "2|3");
  EXPECT_EQ(cells(record_of(equal_samples(10), 1), "algbw_GBps busbw_GBps"), "2|");
}

TEST(AddStatistics, GivesTheIntervalUnlessSamplesAreTooFewAndFlagsThat) {
  const Record record = record_of(equal_samples(50));
  EXPECT_EQ(cells(record, "time_ci_low_us time_ci_high_us flags"), "500|500|");
  EXPECT_TRUE(record.autocorrelation_time.has_value());
  EXPECT_EQ(record_of(equal_samples(49)).flags, "few-samples");
  EXPECT_EQ(cells(record_of(samples_of({500, 501, 502})), "time_ci_low_us time_ci_high_us flags"),
            "||few-samples no-interval");
}

TEST(AddStatistics, GivesTheMedianOfTheLoadWhereThereIsOne) {
  Samples samples = equal_samples(20);
  samples.loads_us = {0, 0};
  EXPECT_FALSE(record_of(samples).load_us);
  samples.loads_us = {7, 9, 30};
  EXPECT_EQ(record_of(samples).load_us, 9);
}

TEST(AddStatistics, KeepsTheTimesOfIssuingAndOfTheHostApart) {
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) times.push_back(500 + i * 21 % 50);
  Samples samples = samples_of(times);
  samples.enqueue_us = {9, 3, 5};
  samples.host_times_us = {60, 10, 20};
  const Record record = record_of(samples);
  EXPECT_EQ(cells(record, "enqueue_time_us host_time_us"), "5|20");
  EXPECT_LT(record.time_ci_low_us, record.time_median_us);
  EXPECT_GT(record.time_ci_high_us, record.time_median_us);
}

TEST(AddStatistics, FlagsTimesThatWereNotSteadyOrThatDrift) {
  Samples samples = equal_samples(50);
  samples.steady = false;
  EXPECT_EQ(record_of(samples).flags, "not-steady");
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) times.push_back(1000.0 + i + (i % 7) * 3);
  EXPECT_TRUE(has_flag(record_of(samples_of(times)), Flag::Drifting));
}

/// A bound that holds for rows from 1 MB on.
SetBound large_rows_bound() {
  return {.device_set = "cores 0-1", .kind = "host-memory", .bus_GBps = [](const BoundRow& row) {
            return row.size >= 1000000 ? std::optional(4.0) : std::nullopt;
          }};
}

TEST(AddBound, GivesTheShareOfItThatARowWithBusBandwidthReached) {
  const auto bounded = [](Record record, const SetBound& bound, Bytes size) {
    add_bound(record, bound, {.size = size});
    return cells(record, "bound_GBps bound_kind efficiency");
  };
  EXPECT_EQ(bounded({.busbw_GBps = 1}, large_rows_bound(), 1000000), "4|host-memory|0.25");
  EXPECT_EQ(bounded({}, large_rows_bound(), 1000000), "4|host-memory|");
  // None where it does not hold, is not known, or where nothing was measured.
  EXPECT_EQ(bounded({.busbw_GBps = 1}, large_rows_bound(), 1000), "||");
  EXPECT_EQ(bounded({.busbw_GBps = 1}, {.device_set = "cores 0-1"}, 1000000), "||");
  EXPECT_EQ(bounded({.status = RowStatus::Skipped}, large_rows_bound(), 1000000), "||");
}

TEST(LaunchBound, IsARowWhoseIssuingTakesNineTenthsOfItsTime) {
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 9.0}));
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 10.5}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 8.9}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10}));
  EXPECT_FALSE(is_launch_bound({.enqueue_time_us = 9}));
}

constexpr const char* kColumns = "last_rank last_host last_share late_by_us";

/// A row of 100 us per operation whose last ranks are these, in turn, in 60 samples.
Row row_whose_last(const std::vector<int>& last, double late_us) {
  Row row{.record = {.time_median_us = 100}};
  for (std::size_t i = 0; i < 60; ++i) {
    row.arrivals.push_back({.last = last[i % last.size()], .late_us = late_us});
  }
  return row;
}

/// Of four ranks.
std::string named(Row row, const std::vector<std::string>& hosts = {"h1", "h1", "h2", "h2"}) {
  RunContext context = test::context();
  context.hosts = hosts;
  context.groups = {{{0, 0}, {0, 2}}, {{0, 1}, {1, 3}}};
  name_last(row, context);
  return test::cells(row.record, kColumns);
}

TEST(NameLast, NamesARankOrTheHostOfSeveralWithShareAndTime) {
  EXPECT_EQ(named(row_whose_last({2}, 30)), "2|h2|1|30");
  EXPECT_EQ(named(row_whose_last({3, 3, 3, 3, 0, 3, 3, 1, 3, 2}, 30)), "3|h2|0.7|30");
  EXPECT_EQ(named(row_whose_last({2, 3, 3, 2, 2, 3}, 30)), "|h2|1|30");
}

TEST(NameLast, NamesNobodyWhoIsLastByChanceOrByLessThanAHundredth) {
  EXPECT_EQ(named(row_whose_last({0, 1, 2, 3}, 30)), "|||");
  EXPECT_EQ(named(row_whose_last({2}, 0.99)), "|||");
  EXPECT_EQ(named(row_whose_last({2}, 1)), "2|h2|1|1");
  Row loaded = row_whose_last({2}, 1);
  loaded.record.load_us = 10;  // the rank is late at its work, too
  EXPECT_EQ(named(loaded), "|||");
  EXPECT_EQ(named({.record = {.time_median_us = 100}}), "|||");  // without a common end
}

TEST(NameLast, NamesTheRankOfTheJobWhereRanksAreSplit) {
  Row row = row_whose_last({1}, 30);
  row.record.group = 0;  // of ranks 0 and 2
  EXPECT_EQ(named(row), "2|h2|1|30");
  EXPECT_EQ(named(row, std::vector<std::string>(4, "h1")), "2|h1|1|30");
}

std::vector<double> equal_chances(std::size_t count) {
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

/// So many samples of that many ranks, of which rank 2 is last in `share` of them beside its own
/// chance; each who was last stays it for `length` samples.
std::vector<int> series(std::size_t samples, int ranks, double share, std::size_t length,
                        unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> any(0, ranks - 1);
  std::bernoulli_distribution is_two(share);
  std::vector<int> last;
  while (last.size() < samples) {
    const int who = is_two(random) ? 2 : any(random);
    last.insert(last.end(), length, who);
  }
  last.resize(samples);
  return last;
}

int named(std::size_t samples, int ranks, double share, std::size_t length, int whom) {
  int count = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto found = find_last(series(samples, ranks, share, length, seed),
                                 equal_chances(static_cast<std::size_t>(ranks)));
    count += whom < 0 ? (found ? 1 : 0) : (found == whom ? 1 : 0);
  }
  return count;
}

TEST(FindLast, NamesTheOneThatIsLastMoreOftenThanItsChance) {
  EXPECT_EQ(find_last(std::vector<int>(20, 1), equal_chances(2)), 1);
  EXPECT_EQ(find_last(std::vector<int>(20, 3), equal_chances(8)), 3);
  EXPECT_EQ(named(200, 8, 0.5, 1, 2), 200);
}

TEST(FindLast, CannotTellFromFewSamplesOrOneCandidateOrNone) {
  EXPECT_FALSE(find_last(std::vector<int>(8, 1), equal_chances(2)));
  EXPECT_FALSE(find_last(std::vector<int>(100, 0), equal_chances(1)));
  EXPECT_FALSE(find_last({}, equal_chances(2)));
}

TEST(FindLast, NamesNobodyWhereAllAreLastByChance) {
  for (const int ranks : {2, 4, 8, 64}) EXPECT_EQ(named(200, ranks, 0, 1, -1), 0) << ranks;
}

TEST(FindLast, CountsARunOfTheSameAsFewSamples) {
  EXPECT_LE(named(500, 4, 0, 20, -1), 2);
  EXPECT_LE(named(100, 2, 0, 10, -1), 2);
}

TEST(FindLast, NamesNobodyWhereTwoAreLastAlike) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 3 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), std::nullopt);
  for (int i = 0; i < 100; ++i) last.push_back(i % 10 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), 6);
}

// Seven ranks of one host and one of another: the one is last in half of the samples.
TEST(FindLast, ComparesWithEachOnesOwnChance) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 2);
  EXPECT_EQ(find_last(last, std::vector<double>{7.0 / 8, 1.0 / 8}), 1);
  EXPECT_EQ(find_last(last, equal_chances(2)), std::nullopt);
}

}  // namespace
}  // namespace busbar
