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
    const Job job{.options = options,
                  .collective = test::collective("allreduce"),
                  .backend = backend,
                  .library_settings = library_settings,
                  .world = world,
                  .plan = plan,
                  .rank_map = rank_map,
                  .devices = devices,
                  .progress = progress,
                  .watchdog = watchdog};
    const ConnectedRound round{.ranks = {.world = world, .members = world},
                               .communicator = communicator,
                               .connect_s = 0.424,
                               .memory = memory,
                               .timer_cost_s = 40e-9,
                               .bound = bound};
    return make_run_header(
        job, round, plans, configuration(job, environment),
        {.arguments = {"./allreduce_perf", "-e", "4M"}, .environment = environment});
  }
  [[nodiscard]] std::string notes() const { return join(context().notes, "\n") + '\n'; }

  /// Every rank has this GPU and so many processors, and as many ranks share the last GPU.
  void use_gpus(const std::string& name, int processors = 2, int sharing = 1);
  /// What 16 ranks send and receive is larger by `more` bytes than the cache.
  void fill_cache(Bytes more) {
    rank_map.largest_cache = 32 * kMiB;
    plans.back().footprint = {.send = kMiB, .recv = kMiB + more};
  }
  void use_rounds(const std::string& csv) {
    options.groups = parse_group_spec("--groups", csv);
    plan = {.kind = GroupPlan::Kind::Groups,
            .rounds = parse_rounds(join(split(csv, ';'), "\n"), "--groups", 16)};
  }
  void use_matrix_of(int of) {
    options.distribution = Distribution{.skew = Skew::Matrix};
    options.distribution->matrix =
        std::make_shared<const TrafficMatrix>(TrafficMatrix{.ranks = of});
  }
  void forbid_in_place(Placement wanted) {
    options.placement = wanted;
    plans.resize(1);
    plans[0].in_place = false;
    plans[0].in_place_reason = "would overwrite";
  }
};

Device device(int index, std::string_view bus, std::string_view name) {
  Device device{.index = index};
  std::copy(bus.begin(), bus.end(), device.bus.begin());
  std::copy(name.begin(), name.end(), device.name.begin());
  device.uuid.front() = 'u';
  return device;
}

void HeaderRun::use_gpus(const std::string& name, int processors, int sharing) {
  for (int rank = 0; rank < 16; ++rank) devices.push_back(device(rank % 8, "0000:07:00.0", name));
  devices.back().ranks_on_device = sharing;
  for (RankInfo& place : rank_map.ranks) place.processors = processors;
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
  EXPECT_EQ(fact(context, "device_set"), "cores 0-1");
  EXPECT_EQ(fact(context, "bound_kind"), "host-memory");
  EXPECT_EQ(fact(context, "bound_limit"), "copy and reduce");
  EXPECT_EQ(fact(context, "rank_0"), "host vm node 0 numa 0 core 1 processors 1");
  EXPECT_EQ(fact(context, "rank_15"), "host vm node 0 numa - core - processors 1");
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
  EXPECT_THAT(line(15), HasSubstr("[numa - core -]"));
  run.use_gpus("NVIDIA H200");
  EXPECT_EQ(line(9), "9 0 249104 vm 1 [0000:07:00] NVIDIA H200");
  EXPECT_THAT(fact(run.context(), "rank_9"),
              EndsWith(" device 1 bus 0000:07:00.0 uuid u name NVIDIA H200"));
}

TEST(RunHeader, HasTheHeadersOfNcclTestsAndWhatTheTableNeeds) {
  HeaderRun run;
  const RunContext usual = run.context();
  EXPECT_EQ(usual.nccl_name, "all_reduce");
  EXPECT_FALSE(usual.operations || usual.warmup || usual.skipped);
  run.options.sweep.factor = 1;
  run.options.operations = 20;
  run.options.warmup_operations = 1;
  run.options.blocking = Blocking::Wait;
  run.options.graph_launches = 4;
  run.options.unalign = 3;
  run.options.enqueue_times = run.options.per_operation = true;
  run.options.skipped_samples = 2;
  const RunContext context = run.context();
  EXPECT_EQ(context.sweep.factor, 1U);
  EXPECT_EQ(context.operations, 20U);
  EXPECT_EQ(context.warmup, 1U);
  EXPECT_EQ(context.blocking, 2);
  EXPECT_EQ(context.graph, 4U);
  EXPECT_EQ(context.unalign, 3U);
  EXPECT_TRUE(context.enqueue_times);
  EXPECT_EQ(context.skipped, 2U);
}

TEST(RunHeader, NotesHowAnOrdinaryRunMeasures) {
  EXPECT_THAT(
      HeaderRun().context().notes,
      ElementsAre(
          AllOf(HasSubstr(": all-reduce over "),
                EndsWith(", mpi backend (auto: best available of mpi), 16 ranks on 4 nodes")),
          "time: median over samples of the max over ranks; cadence streaming; until its 95 % "
          "interval is within 2 % or 3 s have passed",
          StartsWith("interval: of the moment when a row was measured; "),
          "ranks wait by yielding to each other: oversubscribed, 16 ranks on 2 processors of host "
          "vm",
          "memory: 16 GiB available, of which 85 % may be used, for 16 ranks on the fullest host",
          "memory plan: 1 MiB to 4 MiB: both placements", "Host: 16 ranks on cores 0-1"));
}

using R = HeaderRun&;
/// What a run changes, and the note that it then has, or has not.
struct Noted {
  std::string note;
  void (*change)(R);
  bool there = true;
};

const std::vector<Noted> kNoted{
    {"of the mean over ranks; ", [](R r) { r.options.aggregation = Aggregation::Mean; }},
    {"; cadence isolated; ", [](R r) { r.options.cadence = Cadence::Isolated; }},
    {"; 20 operations\n", [](R r) { r.options.operations = 20; }},
    {"wait inside the library: ", [](R r) { r.progress = Progress::Block; }},
    {": ranks fit ", [](R r) { r.rank_map.oversubscribed = false; }},
    {"mpi backend (asked for: ", [](R r) { r.options.backend = "mpi"; }},
    {"configured with A=8k ", [](R r) { r.library_settings = "A=8k"; }},
    {"memory: 2 GiB (--memory-limit) for 16 ranks on the fullest host\n",
     [](R r) { r.memory = {.ranks = 16, .free = 2 * kGiB, .by_option = true}; }},
    {"memory: 80 GiB available, of which 95 % may be used, for 1 rank on the fullest GPU\n",
     [](R r) { r.memory = {.place = "GPU", .ranks = 1, .free = 80 * kGiB, .share = 0.95}; }},
    {"plan: 1 MiB: both placements\nmemory plan: 2 MiB: in place only (out of place needs 3 GiB) "
     "in segments of 16 MiB\nmemory plan: 4 MiB: skipped (needs 6 GiB)\n",
     [](R r) {
       r.plans[1].out_of_place = r.plans[2].out_of_place = r.plans[2].in_place = false;
       r.plans[1].reason = "needs 3 GiB";
       r.plans[1].segment = 4194304;
       r.plans[2].reason = "needs 6 GiB";
     }},
    {"1 MiB: out of place only (in place: would overwrite)",
     [](R r) { r.forbid_in_place(Placement::Both); }},
    {"would overwrite", [](R r) { r.forbid_in_place(Placement::Out); }, false},
    {"Host:", [](R r) { r.bound.note.clear(); }, false},
    {"cache of 32 MiB: --cache rotate", [](R r) { r.fill_cache(0); }},
    {"--cache rotate", [](R r) { r.fill_cache(1); }, false},
    {"--mix incast:14: no victim: that group needs 17 ranks",
     [](R r) { r.options.mix = "incast:14"; }},
    {"victim", [](R r) { r.options.mix = "incast:13"; }, false},
    {"has 20 ranks: parts of the first 16", [](R r) { r.use_matrix_of(20); }},
    {"parts of the first", [](R r) { r.use_matrix_of(16); }, false},
    {"\none rank: ", [](R r) { r.ranks = 1; }},
    {"not checked (-c 0)", [](R r) { r.options.checks = 0; }},
    {"data seed 7", [](R r) { r.options.seed = 7; }},
    {"buffers rotate", [](R r) { r.options.cache = Cache::Rotate; }},
    {"\nfake: this is the fake GPU machine", [](R r) { r.use_gpus("Fake GPU"); }},
    {"fake", [](R r) { r.use_gpus("NVIDIA H200"); }, false},
    {"share a GPU", [](R r) { r.use_gpus("NVIDIA H200"); }, false},
    {"up to 4 ranks share a GPU (--share-gpus)", [](R r) { r.use_gpus("NVIDIA H200", 2, 4); }},
    {"\none-processor: rank 0 on vm ", [](R r) { r.use_gpus("NVIDIA H200", 1); }},
    {"one-processor", [](R r) { r.use_gpus("NVIDIA H200", 2); }, false},
    {"one-processor", [](R r) { r.rank_map.ranks[2].processors = 1; }, false},  // without a GPU
    {"pairs: every ordered pair of ranks, one way",
     [](R r) { r.plan.kind = GroupPlan::Kind::OneWay; }},
    {"group 0: ranks 0 2 4; all groups at the same time, a row each\ngroup 1: ranks 1 3;",
     [](R r) { r.use_rounds("0,0,0 2 4;0,1,1 3"); }},
    {"groups: 3 groups in 2 rounds (0,0,0-3;",
     [](R r) { r.use_rounds("0,0,0-3;7,0,4-7;7,1,8-9"); }},
};

TEST(RunHeader, NotesWhatIsUnusualOnlyInWordsThatReadersOfNcclTestsDoNotLookFor) {
  const std::string usual = HeaderRun().notes();
  for (const Noted& each : kNoted) {
    HeaderRun run;
    each.change(run);
    const std::string notes = run.notes();
    EXPECT_EQ(notes.find(each.note) != std::string::npos, each.there) << each.note << notes;
    EXPECT_FALSE(each.there && usual.find(each.note) != std::string::npos) << each.note;
    for (const char* word : {"bandwidth", "FAILED", "out-of-place", "Out of bounds", "\n\n"}) {
      EXPECT_THAT(notes, Not(HasSubstr(word)));
    }
  }
}

TEST(RunHeader, HasTheGroupOfEachRankWhereTheyAreSplit) {
  HeaderRun run;
  run.use_rounds("0,0,0-4;0,1,5-15");
  const RunContext context = run.context();
  EXPECT_EQ(context.devices[5].group, 1);
  EXPECT_THAT(fact(context, "rank_5"), EndsWith(" group 1"));
  EXPECT_EQ(context.groups.at({0, 1}).front(), 5);
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
