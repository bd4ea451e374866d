// SPDX-License-Identifier: BSD-3-Clause
#include "harness/run_header.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

LibraryTransports transports_of(std::string_view links) {
  LibraryTransports transports{
      .known = true, .switchable = true, .nvls = true, .channels = {"16 coll, 8 nvls"}};
  std::copy(links.begin(), links.end(), transports.links.begin());
  return transports;
}

TEST(GatherTransports, JoinsTheLinksOfAllRanks) {
  test::FakeBootstrap ranks(0, 2);
  test::FakeCommunicator communicator;
  EXPECT_FALSE(gather_transports(ranks, communicator));  // none were asked for
  communicator.connected = transports_of("NET/IB, P2P/CUMEM");
  const auto all = gather_transports(ranks, communicator);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->links, (std::set<std::string>{"NET/IB", "P2P/CUMEM"}));
  HeaderFacts facts;
  add_facts(*all, facts);
  EXPECT_EQ(facts, (HeaderFacts{{"nccl_nvls", "yes"},
                                {"nccl_gpudirect_rdma", "no"},
                                {"nccl_links", "NET/IB, P2P/CUMEM"},
                                {"nccl_channels", "16 coll, 8 nvls"}}));
  EXPECT_EQ(note_of(*all), "NCCL's log: NVLS yes, GPUDirect RDMA no, links: NET/IB, P2P/CUMEM");
  communicator.connected->init_s = 0.546;
  communicator.connected->init = {"kernels 0.31, alloc 0.10"};
  facts.clear();
  add_facts(*gather_transports(ranks, communicator), facts);
  EXPECT_EQ(facts.back().first, "nccl_init");
  EXPECT_EQ(facts.back().second, "0.55 on rank 0 (kernels 0.31, alloc 0.10)");
  communicator.connected->known = false;
  EXPECT_FALSE(gather_transports(ranks, communicator)->known);
}

TEST(TransportNote, ReportsWhatIsMissingAndWhy) {
  EXPECT_NE(note_of({.known = true}).find("2.24"), std::string::npos);
  EXPECT_EQ(note_of({.known = true, .switchable = true}),
            "NCCL's log: NVLS no, GPUDirect RDMA no, links: none");
  HeaderFacts facts;
  add_facts({}, facts);
  EXPECT_EQ(facts.front().second, "unknown");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::vector<SizePlan> plans_of(Bytes first, std::size_t count) {
  std::vector<SizePlan> plans(count);
  for (std::size_t i = 0; i < count; ++i) plans[i].wanted = first << i;
  return plans;
}

/// A run of 16 ranks on a host of two processors, and its header.
struct HeaderRun {
  Options options{};
  RankMap rank_map{};
  std::vector<Device> devices{};
  GroupPlan plan = world_plan(16);
  MemoryPool memory{.ranks = 16, .free = 16 * kGiB, .share = 0.85};
  std::vector<SizePlan> plans = plans_of(kMiB, 3);
  Progress progress = Progress::Yield;
  int ranks = 16;
  std::vector<std::string> environment{"UCX_TLS=tcp"};
  std::string library_settings{};
  SetBound bound{.device_set = "cores 0-1",
                 .kind = "host-memory",
                 .limit = "copy and reduce",
                 .note = "Host: 16 ranks on cores 0-1"};

  HeaderRun() {
    options.sweep = {.first = kMiB, .last = 4 * kMiB, .step = kMiB};
    RankInfo place;
    std::copy_n("vm", 2, place.host.begin());
    std::copy_n("AMD EPYC", 8, place.processor_model.begin());
    place.pid = 249104;
    place.core = 1;
    place.numa = 0;
    rank_map.ranks.assign(16, place);
    rank_map.ranks[15].core = rank_map.ranks[15].numa = -1;
    rank_map.oversubscribed = true;
    rank_map.oversubscription = "16 ranks on 2 processors of host vm";
  }

  [[nodiscard]] RunContext context() const {
    const BackendChoice backend{.backend = &test::backend_named("mpi"),
                                .why = "best available of mpi"};
    test::FakeBootstrap world(0, ranks);
    world.node_count = 4;
    test::FakeCommunicator communicator;
    Watchdog watchdog{std::nullopt, {}};
    Run run{{.options = options,
             .collective = test::collective("allreduce"),
             .backend = backend,
             .library_settings = library_settings,
             .world = world,
             .plan = plan,
             .rank_map = rank_map,
             .devices = devices,
             .progress = progress,
             .watchdog = watchdog},
            world,
            communicator};
    run.connect_s = 0.424;
    run.memory = memory;
    run.timer_cost_s = 40e-9;
    run.bound = bound;
    return make_run_header(
        run, plans, configuration(run, environment),
        {.arguments = {"./allreduce_perf", "-e", "4M"}, .environment = environment});
  }
  /// Whether the notes contain a text.
  [[nodiscard]] bool notes(const std::string& part) const {
    return contains(join(context().notes, "\n"), part);
  }
  /// Expects all of these texts in the notes, or none.
  void expect_notes(const std::vector<std::string>& parts, bool there = true) const {
    for (const std::string& part : parts) EXPECT_EQ(notes(part), there) << part;
  }
};

Device device(int index, std::string_view bus, std::string_view name) {
  Device device{.index = index};
  std::copy(bus.begin(), bus.end(), device.bus.begin());
  std::copy(name.begin(), name.end(), device.name.begin());
  device.uuid.front() = 'u';
  return device;
}

std::string fact(const RunContext& context, const std::string& wanted) {
  for (const auto& [key, value] : context.facts) {
    if (key == wanted) return value;
  }
  return "no fact " + wanted;
}

TEST(RunHeader, HasTheFactsThatExplainAFile) {
  const RunContext context = HeaderRun().context();
  EXPECT_TRUE(fact(context, "configuration")
                  .starts_with("collective=allreduce backend=mpi ranks=16 nodes=4 sizes="));
  EXPECT_EQ(fact(context, "command"), "./allreduce_perf -e 4M");
  EXPECT_EQ(fact(context, "hosts"), "vm");
  EXPECT_EQ(fact(context, "processor"), "AMD EPYC");
  EXPECT_EQ(fact(context, "environment"), "UCX_TLS=tcp");
  EXPECT_EQ(fact(context, "timer_cost_ns"), "40.0");
  EXPECT_EQ(fact(context, "connect_s"), "0.42");
  EXPECT_EQ(fact(context, "rank_0"), "host vm node 0 numa 0 core 1 processors 1");
  EXPECT_EQ(fact(context, "rank_15"), "host vm node 0 numa - core - processors 1");
}

TEST(RunHeader, ReportsTheSetAndItsBound) {
  HeaderRun run;
  EXPECT_EQ(fact(run.context(), "device_set"), "cores 0-1");
  EXPECT_EQ(fact(run.context(), "bound_kind"), "host-memory");
  EXPECT_EQ(fact(run.context(), "bound_limit"), "copy and reduce");
  EXPECT_TRUE(run.notes("\nHost: 16 ranks on cores 0-1"));
  run.bound.note.clear();
  run.expect_notes({"Host:", "\n\n"}, false);
}

TEST(RunHeader, HasTheDeviceOfEachRank) {
  HeaderRun run;
  const auto line = [&](std::size_t rank) {
    const RankDevice one = run.context().devices.at(rank);
    return fmt::format("{} {} {} {} {} [{}] {}", one.rank, one.group, one.pid, one.host, one.device,
                       one.address, one.name);
  };
  EXPECT_EQ(run.context().devices.size(), 16U);
  EXPECT_EQ(line(3), "3 0 249104 vm 1 [numa 0 core 1] AMD EPYC");
  EXPECT_TRUE(contains(line(15), "[numa - core -]"));
  for (int rank = 0; rank < 16; ++rank) {
    run.devices.push_back(device(rank % 8, "0000:07:00.0", "NVIDIA H200"));
  }
  EXPECT_EQ(line(9), "9 0 249104 vm 1 [0000:07:00] NVIDIA H200");
  EXPECT_TRUE(
      fact(run.context(), "rank_9").ends_with(" device 1 bus 0000:07:00.0 uuid u name NVIDIA H200"))
      << fact(run.context(), "rank_9");
  run.expect_notes({"fake", "share a GPU"}, false);
}

TEST(RunHeader, HasTheHeadersOfNcclTests) {
  HeaderRun run;
  EXPECT_EQ(run.context().nccl_name, "all_reduce");
  EXPECT_EQ(run.context().operations, std::nullopt);
  EXPECT_EQ(run.context().warmup, std::nullopt);
  EXPECT_EQ(run.context().blocking, 0);
  run.options.sweep.factor = 1;
  run.options.operations = 20;
  run.options.warmup_operations = 1;
  run.options.blocking = Blocking::Wait;
  EXPECT_EQ(run.context().sweep.factor, 1U);
  EXPECT_EQ(run.context().operations, 20U);
  EXPECT_EQ(run.context().warmup, 1U);
  EXPECT_EQ(run.context().blocking, 2);
}

TEST(RunHeader, ReportsHowTimesAreMade) {
  HeaderRun run;
  run.expect_notes(
      {"of the max over ranks; cadence streaming; until its 95 % ", "within 2 % or 3 s "});
  run.options.aggregation = Aggregation::Mean;
  run.options.cadence = Cadence::Isolated;
  run.options.operations = 20;
  EXPECT_TRUE(run.notes("of the mean over ranks; cadence isolated; 20 operations"));
}

TEST(RunHeader, ReportsThatRanksAreTooMany) {
  HeaderRun run;
  run.expect_notes({"yielding", "oversubscribed, 16 ranks on 2 processors of host vm"});
  run.progress = Progress::Block;
  run.rank_map.oversubscribed = false;
  EXPECT_TRUE(run.notes("wait inside the library: ranks fit"));
  EXPECT_FALSE(run.notes("oversubscribed"));
}

TEST(RunHeader, ReportsTheMemoryPlanOfSizesTogether) {
  HeaderRun run;
  EXPECT_TRUE(run.notes("memory plan: 1 MiB to 4 MiB: both placements"));
  run.plans[1].out_of_place = false;
  run.plans[1].reason = "needs 3 GiB";
  run.plans[1].segment = 4194304;
  run.plans[2].out_of_place = run.plans[2].in_place = false;
  run.plans[2].reason = "needs 6 GiB";
  run.expect_notes({"memory plan: 1 MiB: both placements\n",
                    "2 MiB: in place only (out of place needs 3 GiB) in segments of 16 MiB",
                    "memory plan: 4 MiB: skipped (needs 6 GiB)"});
}

TEST(RunHeader, ReportsThatBuffersFitIntoTheCache) {
  HeaderRun run;
  run.rank_map.largest_cache = 32 * kMiB;
  run.plans.back().footprint = {.send = kMiB, .recv = kMiB};  // of 16 ranks
  EXPECT_TRUE(run.notes("cache of 32 MiB: --cache rotate"));
  run.plans.back().footprint.recv += 1;
  EXPECT_FALSE(run.notes("--cache rotate"));
}

TEST(RunHeader, ReportsWhatRunsOnFewerRanksThanMeant) {
  HeaderRun run;
  run.options.mix = "incast:14";
  run.options.distribution = Distribution{.skew = Skew::Matrix};
  run.options.distribution->matrix =
      std::make_shared<const TrafficMatrix>(TrafficMatrix{.ranks = 20});
  run.expect_notes({"--mix incast:14: no victim: that group needs 17 ranks",
                    "has 20 ranks: parts of the first 16"});
  run.options.mix = "incast:13";
  EXPECT_FALSE(run.notes("victim"));
}

TEST(RunHeader, ReportsTheMemoryOfTheFullestHostOrDevice) {
  HeaderRun run;
  EXPECT_TRUE(run.notes("memory: 16 GiB available, of which 85 % may be used, for 16 ranks"));
  run.memory.free = 2 * kGiB;
  run.memory.by_option = true;
  EXPECT_TRUE(run.notes("memory: 2 GiB (--memory-limit) for 16 ranks on the fullest host"));
  run.memory = {.place = "GPU", .ranks = 1, .free = 80 * kGiB, .share = 0.95};
  run.expect_notes(
      {"memory: 80 GiB available, of which 95 % may be used, for 1 rank", "fullest GPU"});
}

TEST(RunHeader, ReportsWhyNothingGoesInPlaceWhereThatWasAskedFor) {
  HeaderRun run;
  for (SizePlan& plan : run.plans) {
    plan.in_place = false;
    plan.in_place_reason = "would overwrite";
  }
  EXPECT_TRUE(run.notes("4 MiB: out of place only (in place: would overwrite)"));
  run.options.placement = Placement::Out;
  EXPECT_FALSE(run.notes("would overwrite"));
}

TEST(RunHeader, ReportsWhatIsUnusualOnly) {
  HeaderRun run;
  run.expect_notes({"not checked", "seed", "rotate", "one rank"}, false);
  run.options.checks = 0;
  run.options.seed = 7;
  run.options.cache = Cache::Rotate;
  run.ranks = 1;
  run.expect_notes({"not checked (-c 0)", "data seed 7", "rotate", "one rank"});
}

TEST(RunHeader, NamesTheBackendAndWhy) {
  HeaderRun run;
  EXPECT_TRUE(run.notes("mpi backend (auto: best available of "));
  EXPECT_FALSE(run.notes("library: "));
  run.options.backend = "mpi";
  run.library_settings = "UCX_RNDV_THRESH=8k";
  run.expect_notes({"mpi backend (asked for: ", "configured with UCX_RNDV_THRESH=8k "});
}

TEST(RunHeader, KeepsWhatReadersOfNcclTestsLookForOutOfItsNotes) {
  HeaderRun run;
  run.options.checks = 0;
  run.options.cache = Cache::Rotate;
  for (const char* word : {"bandwidth", "FAILED", "out-of-place", "Out of bounds"}) {
    EXPECT_FALSE(run.notes(word)) << word;
  }
}

TEST(RunHeader, ReportsThatDevicesAreFakeOrShared) {
  HeaderRun run;
  run.devices.assign(16, device(0, "0000:07:00.0", "Fake GPU"));
  EXPECT_TRUE(run.notes("fake: this is the fake GPU machine"));
  run.devices[3].ranks_on_device = 4;
  EXPECT_TRUE(run.notes("up to 4 ranks share a GPU (--share-gpus)"));
}

TEST(RunHeader, NamesTheRanksOfEachGroupWhereTheyAreSplit) {
  HeaderRun run;
  EXPECT_FALSE(run.notes("group"));
  run.options.groups = parse_split("MOD 2");
  run.plan = {.kind = GroupPlan::Kind::Groups,
              .rounds = plan_rounds(*run.options.groups, {.ranks = 16})};
  run.expect_notes({"group 0: ranks 0 2 4 6 8 10 12 14; all groups at the same",
                    "group 1: ranks 1 3 5 7 9 11 13 15;"});
  EXPECT_EQ(run.context().devices[5].group, 1);
  EXPECT_TRUE(fact(run.context(), "rank_5").ends_with(" group 1"));
  const RunContext context = run.context();
  EXPECT_EQ(context.groups.at({0, 1}).front(), 1);
  run.options.groups = parse_group_spec("--groups", "0,0,0-3;7,0,4-7;7,1,8-9");
  run.plan.rounds = parse_rounds("0,0,0-3\n7,0,4-7\n7,1,8-9", "--groups", 16);
  EXPECT_TRUE(run.notes("groups: 3 groups in 2 rounds (0,0,0-3;"));
}

TEST(RunHeader, GivesTheTableWhatItsOptionsChange) {
  HeaderRun run;
  EXPECT_EQ(run.context().graph, 0U);
  EXPECT_FALSE(run.context().skipped.has_value());
  run.options.graph_launches = 4;
  run.options.unalign = 3;
  run.options.enqueue_times = run.options.per_operation = true;
  run.options.skipped_samples = 2;
  run.plan.kind = GroupPlan::Kind::OneWay;
  EXPECT_EQ(run.context().graph, 4U);
  EXPECT_EQ(run.context().unalign, 3U);
  EXPECT_TRUE(run.context().enqueue_times);
  EXPECT_EQ(run.context().skipped, 2U);
  EXPECT_TRUE(run.notes("pairs: every ordered pair of ranks, one way"));
}

TEST(RunHeader, ReportsWhatToDoForARankWithAGpuAndOneProcessor) {
  HeaderRun run;
  run.rank_map.ranks[2].processors = 1;
  EXPECT_FALSE(run.notes("one-processor: "));  // host memory is content with one
  run.devices.resize(16);
  for (RankInfo& place : run.rank_map.ranks) place.processors = 2;
  EXPECT_FALSE(run.notes("one-processor: "));
  run.rank_map.ranks[2].processors = 1;
  run.expect_notes({"\none-processor: rank 2 on vm ", "--cpus-per-task"});
}

TEST(DriverVersion, IsReadFromBothKindsOfKernelModuleIfThereIsADriver) {
  EXPECT_EQ(driver_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug "
                           "19 01:15:15 UTC 2023"),
            "535.104.05");
  EXPECT_EQ(driver_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86.15  "
                           "Release Build  (root@host)"),
            "570.86.15");
  EXPECT_EQ(driver_version(""), "");
  EXPECT_EQ(driver_version("GCC version:  gcc version 12.2.0"), "");
}

TEST(InventoryFacts, CountTheGpusAndNicsOfAHostThatHasGpus) {
  test::FakeBootstrap world;
  HostTopology host;
  host.graph.nodes = {{}, {}, {.kind = topo::NodeKind::Nic}};
  const auto facts = inventory_facts(world, host);  // and the driver, where there is one
  ASSERT_GE(facts.size(), 2U);
  EXPECT_EQ(facts[0].first + '=' + facts[0].second, "gpus_per_node=2");
  EXPECT_EQ(facts[1].first + '=' + facts[1].second, "nics_per_node=1");
}

}  // namespace
}  // namespace busbar
