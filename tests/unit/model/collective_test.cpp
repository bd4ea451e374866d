// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table (src/*.cu, doc/PERFORMANCE.md): every property of every collective
// that a program of ours measures.
#include "model/collective.hpp"

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {

bool operator==(const Footprint& a, const Footprint& b) {
  return a.size == b.size && a.send == b.send && a.recv == b.recv && a.count == b.count;
}
bool operator==(const Piece& a, const Piece& b) {
  return a.first == b.first && a.count == b.count && a.source == b.source &&
         a.source_first == b.source_first;
}

namespace {

/// Footprints of a wanted size, an element's bytes and a number of ranks.
struct Sized {
  Bytes wanted;
  Bytes element;
  int ranks;
  Footprint expected;
};

/// Received by a rank of four or three, whose root is given.
struct Received {
  Position position;
  std::vector<Piece> expected;
};

struct Names {
  const char* name;
  const char* nccl_name;
  const char* title;
};
struct Kind {
  bool reduces;
  bool rooted;
  bool elementwise;
  bool counts_parts;
  bool checks_in_place;
  bool others_size_part;
};
struct BusFactor {
  double of_2;
  double of_8;
};

struct Properties {
  Names names;
  Movement movement;
  Kind kind;
  BusFactor bus_factor;
  InPlace in_place;             // of rank 3, 100 elements each
  MinTraffic traffic_apart;     // of 4 ranks, out of place
  MinTraffic traffic_together;  // of 4 ranks, in place
  std::vector<Sized> sizes;
  std::vector<Received> results;  // of 100 elements
};

constexpr bool kYes = true;
constexpr bool kNo = false;

/// Whole elements; what every rank sends and receives.
const std::vector<Sized> kSameEverywhere{
    {33554432, 4, 8, {33554432, 33554432, 33554432, 8388608}},
    {1000001, 8, 3, {1000000, 1000000, 1000000, 125000}},
    {3, 4, 3, {0, 0, 0, 0}},
};

/// A part of each rank, a multiple of 16 bytes, or as many parts as ranks. 333 bytes of each of
/// three ranks are 320.
std::vector<Sized> parted(bool sends_part, bool receives_part) {
  const auto sized = [&](Bytes part, Bytes whole, std::uint64_t count) {
    return Footprint{whole, sends_part ? part : whole, receives_part ? part : whole, count};
  };
  return {{1048576, 4, 4, sized(262144, 1048576, 65536)},
          {1048576, 4, 3, sized(349520, 1048560, 87380)},
          {1000, 4, 3, sized(320, 960, 80)},
          {192, 4, 12, sized(16, 192, 4)},
          {8589934592, 4, 12, sized(715827872, 8589934464, 178956968)},
          {47, 1, 3, sized(0, 0, 0)}};
}

const std::vector<Piece> kNothing{};
std::vector<Piece> blocks_of_three(std::uint64_t source_first) {
  return {{0, 100, 0, source_first}, {100, 100, 1, source_first}, {200, 100, 2, source_first}};
}

Position rooted(int rank, int ranks, int root) {
  return {.rank = rank, .ranks = ranks, .root = root};
}
/// A rank of four, where rank 3 sends to rank 1.
Position paired(int rank) {
  return {.rank = rank, .ranks = 4, .pair = Pair{.sender = 3, .receiver = 1}};
}

Properties of(const Names& names, Movement movement, const Kind& kind, const BusFactor& bus_factor,
              const InPlace& in_place, const MinTraffic& apart, const MinTraffic& together,
              const std::vector<Sized>& sizes, const std::vector<Received>& results) {
  return {names, movement, kind, bus_factor, in_place, apart, together, sizes, results};
}

const std::vector<Properties> kProperties{
    of({"allreduce", "all_reduce", "all-reduce"}, Movement::AllReduce,
       {kYes, kNo, kYes, kNo, kYes, kNo}, {1, 1.75}, {0, 0}, {3, 3, 8}, {3, 3, 4}, kSameEverywhere,
       {{{.rank = 0, .ranks = 4}, {{0, 100, kAllRanks, 0}}},
        {{.rank = 3, .ranks = 4}, {{0, 100, kAllRanks, 0}}}}),
    of({"allgather", "all_gather", "all-gather"}, Movement::Parts,
       {kNo, kNo, kNo, kYes, kYes, kYes}, {0.5, 0.875}, {300, 0}, {4, 0, 5}, {3, 0, 4},
       parted(kYes, kNo), {{{.rank = 1, .ranks = 3}, blocks_of_three(0)}}),
    of({"reducescatter", "reduce_scatter", "reduce-scatter"}, Movement::Parts,
       {kYes, kNo, kNo, kYes, kYes, kNo}, {0.5, 0.875}, {0, 300}, {0, 3, 5}, {0, 3, 4},
       parted(kNo, kYes), {{{.rank = 2, .ranks = 4}, {{0, 100, kAllRanks, 200}}}}),
    of({"broadcast", "broadcast", "broadcast"}, Movement::Chain, {kNo, kYes, kYes, kNo, kYes, kNo},
       {1, 1}, {0, 0}, {4, 0, 5}, {3, 0, 4}, kSameEverywhere,
       {{rooted(0, 4, 2), {{0, 100, 2, 0}}}, {rooted(2, 4, 2), {{0, 100, 2, 0}}}}),
    of({"reduce", "reduce", "reduce"}, Movement::Chain, {kYes, kYes, kYes, kNo, kYes, kNo}, {1, 1},
       {0, 0}, {0, 3, 5}, {0, 3, 4}, kSameEverywhere,
       {{rooted(2, 4, 2), {{0, 100, kAllRanks, 0}}}, {rooted(1, 4, 2), kNothing}}),
    of({"alltoall", "alltoall", "all-to-all"}, Movement::AllToAll, {kNo, kNo, kNo, kYes, kNo, kYes},
       {0.5, 0.875}, {0, 0}, {4, 0, 8}, {3, 0, 4}, parted(kNo, kNo),
       {{{.rank = 2, .ranks = 3}, blocks_of_three(200)}}),
    of({"gather", "gather", "gather"}, Movement::Gather, {kNo, kYes, kNo, kYes, kYes, kYes},
       {0.5, 0.875}, {300, 0}, {1, 0, 2}, {0.75, 0, 1.75}, parted(kYes, kNo),
       {{rooted(1, 3, 1), blocks_of_three(0)}, {rooted(0, 3, 1), kNothing}}),
    of({"scatter", "scatter", "scatter"}, Movement::Scatter, {kNo, kYes, kNo, kYes, kYes, kYes},
       {0.5, 0.875}, {0, 300}, {1, 0, 2}, {0.75, 0, 1.75}, parted(kNo, kYes),
       {{rooted(0, 3, 1), {{0, 100, 1, 0}}}, {rooted(2, 3, 1), {{0, 100, 1, 200}}}}),
    of({"sendrecv", "sendrecv", "send-receive"}, Movement::SendReceive,
       {kNo, kNo, kYes, kNo, kNo, kNo}, {1, 1}, {0, 0}, {4, 0, 8}, {4, 0, 4}, kSameEverywhere,
       {{{.rank = 0, .ranks = 4}, {{0, 100, 3, 0}}},
        {paired(1), {{0, 100, 3, 0}}},
        {paired(3), kNothing},
        {paired(2), kNothing}})};

struct CollectiveTable : testing::TestWithParam<Properties> {
  const Collective& collective_ = test::collective(GetParam().names.name);
};

TEST_P(CollectiveTable, HasItsNamesKindAndBusFactor) {
  EXPECT_EQ(collective_.name, GetParam().names.name);
  EXPECT_EQ(collective_.nccl_name, GetParam().names.nccl_name);
  EXPECT_EQ(collective_.title, GetParam().names.title);
  EXPECT_EQ(collective_.movement, GetParam().movement);
  EXPECT_EQ(collective_.reduces, GetParam().kind.reduces);
  EXPECT_EQ(collective_.rooted, GetParam().kind.rooted);
  EXPECT_EQ(collective_.elementwise, GetParam().kind.elementwise);
  EXPECT_TRUE(collective_.equal_parts);
  EXPECT_EQ(collective_.had_empty_redop, collective_.movement == Movement::AllToAll);
  EXPECT_EQ(collective_.counts_parts, GetParam().kind.counts_parts);
  EXPECT_EQ(collective_.checks_in_place, GetParam().kind.checks_in_place);
  EXPECT_EQ(collective_.others_size_part, GetParam().kind.others_size_part);
  EXPECT_EQ(collective_.peers != nullptr, collective_.name == "sendrecv");
  EXPECT_EQ(collective_.bus_factor(1), 0);
  EXPECT_DOUBLE_EQ(collective_.bus_factor(2), GetParam().bus_factor.of_2);
  EXPECT_DOUBLE_EQ(collective_.bus_factor(8), GetParam().bus_factor.of_8);
}

TEST_P(CollectiveTable, HasItsFootprint) {
  for (const auto& [wanted, element, ranks, expected] : GetParam().sizes) {
    const Footprint footprint =
        collective_.footprint({.wanted = wanted, .element = element, .ranks = ranks});
    EXPECT_EQ(footprint, expected) << wanted << ": " << footprint.size << " " << footprint.send
                                   << " " << footprint.recv << " " << footprint.count;
  }
}

TEST_P(CollectiveTable, HasItsPlaceInOneBuffer) {
  EXPECT_EQ(collective_.in_place(100, 0).send_offset, 0U);
  EXPECT_EQ(collective_.in_place(100, 0).recv_offset, 0U);
  EXPECT_EQ(collective_.in_place(100, 3).send_offset, GetParam().in_place.send_offset);
  EXPECT_EQ(collective_.in_place(100, 3).recv_offset, GetParam().in_place.recv_offset);
}

TEST_P(CollectiveTable, HasItsResult) {
  for (const auto& [position, expected] : GetParam().results) {
    EXPECT_EQ(collective_.expected(100, position), expected) << "rank " << position.rank;
  }
}

TEST_P(CollectiveTable, HasItsLeastMemoryTraffic) {
  for (const bool in_place : {false, true}) {
    const MinTraffic& expected = in_place ? GetParam().traffic_together : GetParam().traffic_apart;
    const MinTraffic traffic = collective_.min_traffic(4, in_place);
    EXPECT_DOUBLE_EQ(traffic.copied, expected.copied) << in_place;
    EXPECT_DOUBLE_EQ(traffic.reduced, expected.reduced) << in_place;
    EXPECT_DOUBLE_EQ(traffic.touched, expected.touched) << in_place;
  }
}

/// Elements of the receive buffer that a correct result has, without a gap from the first one on.
std::uint64_t covered(const Collective& collective, std::uint64_t count, const Position& position) {
  std::uint64_t next = 0;
  for (const Piece& piece : collective.expected(count, position)) {
    EXPECT_EQ(piece.first, next) << collective.name;
    next += piece.count;
  }
  return next;
}

TEST_P(CollectiveTable, AccountsForEveryElementOfItsReceiveBuffer) {
  for (const int ranks : {1, 2, 3, 16}) {
    const Footprint footprint = collective_.footprint(
        {.wanted = 192 * static_cast<Bytes>(ranks), .element = 4, .ranks = ranks});
    for (int rank = 0; rank < ranks; ++rank) {
      const Position position{.rank = rank, .ranks = ranks, .root = ranks - 1};
      const std::uint64_t elements = covered(collective_, footprint.count, position);
      const bool not_the_root = collective_.rooted && rank != position.root;
      if (elements == 0 && not_the_root) continue;  // the result is at the root only
      EXPECT_EQ(elements * 4, footprint.recv) << "rank " << rank << " of " << ranks;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, CollectiveTable, testing::ValuesIn(kProperties),
                         [](const auto& of) { return std::string(of.param.names.name); });

TEST(Collectives, AreThoseOfTheTestsAndImportedOnes) {
  std::set<std::string_view> tested{"alltoallv"};  // tests/unit/model/traffic_test.cpp
  for (const Properties& properties : kProperties) tested.insert(properties.names.name);
  std::set<std::string_view> measured;
  for (const Collective* collective : measured_collectives()) measured.insert(collective->name);
  EXPECT_EQ(measured, tested);
  EXPECT_EQ(all_collectives().size(), tested.size() + 2);
  EXPECT_EQ(collective_names(),
            (std::vector<std::string>{"allreduce", "allgather", "reducescatter", "broadcast",
                                      "reduce", "alltoall", "alltoallv", "gather", "scatter",
                                      "sendrecv", "hosttodevice", "devicetohost"}));
}

TEST(Collectives, HaveAProgramEachInTheMakefile) {
  std::string expected = "\nCOLLECTIVES :=";
  for (const Collective* collective : measured_collectives()) {
    expected += " " + std::string(collective->name);
  }
  EXPECT_NE(test::text_of("Makefile").find(expected + "\n"), std::string::npos)
      << "the table measures others than the Makefile, which should say" << expected;
}

TEST(Collectives, OfCopiesWithTheHostHaveABandwidthOfOneGpuToo) {
  for (const char* name : {"host-to-device", "device_to_host"}) {
    EXPECT_FALSE(test::collective(name).is_measured());
    EXPECT_DOUBLE_EQ(test::collective(name).bus_factor(1), 1);
  }
}

TEST(FindCollective, ReadsEverySpelling) {
  for (const Collective& collective : all_collectives()) {
    for (const std::string_view word : {collective.name, collective.nccl_name}) {
      EXPECT_EQ(find_collective(word), &collective) << word;
    }
  }
  for (const char* word : {"all_reduce", "allreduce", "all_reduce_perf", "./build/all_reduce_perf",
                           "osu_allreduce", "Allreduce", "All-Reduce", "all_reduce_perf_mpi"}) {
    EXPECT_EQ(find_collective(word), &test::collective("allreduce")) << word;
  }
  EXPECT_EQ(find_collective("Bcast")->name, "broadcast");
  EXPECT_EQ(find_collective("All-to-All Personalized Exchange")->name, "alltoall");
  EXPECT_EQ(find_collective("barrier"), nullptr);
  EXPECT_EQ(find_collective(""), nullptr);
}

}  // namespace
}  // namespace busbar
