// SPDX-License-Identifier: BSD-3-Clause
#include "harness/run_header.hpp"

#include "base/embedded_text.hpp"
#include "bootstrap/mpi_library.hpp"
#include "format/markup_text.hpp"
#include "harness/mix_spec.hpp"
#include "model/fact.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar {
namespace {

const char* yes_or_no(const TransportSummary& transports, bool value) {
  if (!transports.known) return "unknown";
  return value ? "yes" : "no";
}

/// g++'s own version is a bare number; clang's has its name in it.
std::string compiler() {
  const std::string text = __VERSION__;
  return text.find_first_not_of("0123456789.") == std::string::npos ? "g++ " + text : text;
}

std::string or_dash(int number) { return number < 0 ? "-" : fmt::format("{}", number); }

/// The group of a rank in the only round: 0 where there are several, -1 of a rank in none.
int group_number(const GroupPlan& plan, std::size_t rank) {
  if (plan.rounds.size() > 1) return 0;
  const RankGroup* group = plan.rounds.front().group_of(static_cast<int>(rank));
  return group == nullptr ? -1 : group->number;
}

RankDevice rank_device(const Job& job, std::size_t rank) {
  const RankInfo& info = job.rank_map.ranks[rank];
  RankDevice found{.rank = static_cast<int>(rank),
                   .group = group_number(job.plan, rank),
                   .pid = info.pid,
                   .host = info.host.data()};
  if (job.devices.empty()) {
    found.device = std::max(info.core, 0);
    found.address = fmt::format("numa {} core {}", or_dash(info.numa), or_dash(info.core));
    found.name = info.processor_model.data();
    return found;
  }
  const Device& device = job.devices[rank];
  const std::string_view bus = device.bus.data();  // nccl-tests prints it without the function
  found.device = device.index;
  found.address = bus.substr(0, bus.rfind('.'));
  found.name = device.name.data();
  return found;
}

/// What rank `rank` runs on, for the file's head.
std::string rank_text(const Job& job, std::size_t rank) {
  const RankInfo& info = job.rank_map.ranks[rank];
  RankFact fact{.host = info.host.data(),
                .node = info.node,
                .numa = info.numa,
                .core = info.core,
                .processors = info.processors};
  const bool grouped = job.plan.kind == GroupPlan::Kind::Groups && job.plan.rounds.size() == 1;
  if (grouped) fact.group = group_number(job.plan, rank);
  if (!job.devices.empty()) {
    const Device& device = job.devices[rank];
    fact.gpu = RankGpu{.index = device.index,
                       .bus = device.bus.data(),
                       .uuid = device.uuid.data(),
                       .name = device.name.data()};
  }
  return rank_fact_text(fact);
}

std::string statistic_note(const Options& o) {
  const std::string how_long =
      o.operations ? fmt::format("{} operations", *o.operations)
      : o.duration ? fmt::format("for {:g} s", o.duration->count())
                   : fmt::format("until its 95 % interval is within {:g} % or {:g} s have passed",
                                 o.ci_width * 100, o.time_budget.count());
  return fmt::format("time: median over samples of the {} over ranks; cadence {}; {}",
                     name(o.aggregation), name(o.cadence), how_long);
}

/// The share is bench/recorded_series': see docs/measurement.md.
std::string interval_note(const Options& o) {
  if (o.duration) {
    return fmt::format("interval: of the run, from the medians of intervals of {:g} s",
                       o.interval.count());
  }
  if (o.visits == 1) {
    return "interval: of the moment when a row was measured; on recorded runs of three "
           "supercomputers only 82 % of such intervals contain the median of the whole run (with "
           "--visits 6: 99 %)";
  }
  return fmt::format(
      "interval: of the run: up to {} visits of each row, in an order that --seed {} shuffles; "
      "rows "
      "are printed when they are final",
      o.visits, o.seed);
}

/// What a plan allows; sizes with the same text share a line.
std::string plan_text(const SizePlan& plan, const Options& options, Bytes element) {
  if (!plan.out_of_place && !plan.in_place) return fmt::format("skipped ({})", plan.reason);
  std::string text = plan.out_of_place && plan.in_place ? "both placements"
                     : plan.in_place                    ? "in place only"
                                                        : "out of place only";
  if (!plan.out_of_place && options.placement != Placement::In) {
    text += fmt::format(" (out of place {})", plan.reason);
  }
  if (!plan.in_place_reason.empty() && options.placement != Placement::Out) {
    text += fmt::format(" (in place: {})", plan.in_place_reason);
  }
  if (plan.segment > 0) {
    text += fmt::format(" in segments of {}", format_bytes(plan.segment * element));
  }
  return text;
}

/// The lines for people above the table.
class Notes {
 public:
  Notes(const Job& job, const ConnectedRound& round, const std::vector<SizePlan>& plans,
        const std::optional<TransportSummary>& transports)
      : job_(job), round_(round), plans_(plans), transports_(transports) {}

  [[nodiscard]] std::vector<std::string> all() {
    add_backend();
    add(statistic_note(job_.options));
    add(interval_note(job_.options));
    const char* how = job_.progress == Progress::Yield ? "ranks wait by yielding to each other"
                                                       : "ranks wait inside the library";
    add(fmt::format("{}: {}", how,
                    job_.rank_map.oversubscribed
                        ? "oversubscribed, " + job_.rank_map.oversubscription
                        : "ranks fit on the processors"));
    if (!job_.library_settings.empty()) {
      add(fmt::format("library: {}, configured with {} (environment variables take precedence)",
                      job_.backend.backend->library_files(), job_.library_settings));
    }
    add_devices();
    add_groups();
    add_memory();
    add_means();
    add(round_.bound.note);
    if (transports_) add(note_of(*transports_));
    for (const std::string& warning : round_.bound.warnings) add("topology: " + warning);
    add_unusual();
    return std::move(notes_);
  }

 private:
  void add(std::string note) {
    if (!note.empty()) notes_.push_back(std::move(note));
  }

  void add_backend() {
    const Backend& backend = *job_.backend.backend;
    add(fmt::format("busbar {}: {} over {}, {} backend ({}: {}), {} on {}", version(),
                    job_.collective.title, backend.library(), backend.name(),
                    job_.options.backend == "auto" ? "auto" : "asked for", job_.backend.why,
                    counted(job_.world.size(), "rank"), counted(job_.world.nodes(), "node")));
  }

  void add_devices() {
    const std::vector<Device>& devices = job_.devices;
    if (devices.empty()) return;
    if (std::ranges::any_of(devices, is_fake)) {
      add("fake: this is the fake GPU machine of busbar's tests; no time or rate here is real");
    }
    const std::string squeezed = short_of_processors(job_.rank_map);
    if (!squeezed.empty()) {
      add(
          fmt::format("one-processor: {} may run on one processor only, which it shares with the "
                      "threads of its GPU's library: networks stall; give every rank two or more "
                      "(srun --cpus-per-task, mpirun --bind-to numa or none)",
                      squeezed));
    }
    const int most = std::ranges::max(mapped(devices, &Device::ranks_on_device));
    if (most > 1) {
      add(fmt::format(
          "up to {} ranks share a GPU (--share-gpus): rates are not those of a GPU for each",
          most));
    }
  }

  /// How ranks are grouped, where they are not one group.
  void add_groups() {
    if (job_.plan.kind == GroupPlan::Kind::OneWay) {
      add("pairs: every ordered pair of ranks, one way; disjoint pairs at the same time, a row "
          "each");
    }
    if (job_.plan.kind != GroupPlan::Kind::Groups) return;
    const std::vector<GroupRound>& rounds = job_.plan.rounds;
    if (rounds.size() > 1) {
      std::size_t groups = 0;
      for (const GroupRound& round : rounds) groups += round.groups.size();
      add(fmt::format("groups: {} in {} ({}); those of a round at the same time, a row each",
                      counted(groups, "group"), counted(rounds.size(), "round"),
                      to_text(*job_.options.groups)));
      return;
    }
    for (const RankGroup& group : rounds.front().groups) {
      add(fmt::format("group {}: ranks {}; all groups at the same time, a row each", group.number,
                      fmt::join(group.ranks, " ")));
    }
  }

  void add_memory() {
    const MemoryPool& memory = round_.memory;
    add(fmt::format("memory: {} {} for {} on the fullest {}", format_bytes(memory.free),
                    memory.by_option ? "(--memory-limit)"
                                     : fmt::format("available, of which {:.0f} % may be used,",
                                                   memory.share * 100),
                    counted(memory.ranks, "rank"), memory.place));
    const Bytes element = info(job_.options.types.front()).size;
    for (auto first = plans_.begin(); first != plans_.end();) {
      const std::string text = plan_text(*first, job_.options, element);
      const auto end = std::find_if(first, plans_.end(), [&](const SizePlan& plan) {
        return plan_text(plan, job_.options, element) != text;
      });
      std::string sizes = format_bytes(first->wanted);
      if (end - first > 1) sizes += " to " + format_bytes(std::prev(end)->wanted);
      add(fmt::format("memory plan: {}: {}", sizes, text));
      first = end;
    }
  }

  /// What connects the ranks where that is not what is measured; of an MPI library that is, its
  /// own need of memory where that is a guess.
  void add_means() {
    const std::string means = job_.world.connected_by();
    if (means.empty()) return;
    add(job_.backend.backend->library() != means ? fmt::format("ranks are connected by {}", means)
                                                 : memory_note(find_mpi()->library()));
  }

  void add_unusual() {
    const Options& o = job_.options;
    if (job_.world.size() == 1) add("one rank: nothing crosses a bus, so busbw is not meaningful");
    if (o.checks == 0) add("results are not checked (-c 0)");
    if (o.seed != Options{}.seed) add(fmt::format("data seed {}", o.seed));
    if (o.pages == Pages::Small) add("buffers lie on the kernel's small pages (--pages small)");
    if (o.cache == Cache::Rotate) add("buffers rotate beyond the last-level cache");
    add_cache();
    add(mix_note(o.mix, job_.world.size()));
    if (!o.distribution || !o.distribution->matrix) return;
    const int of = o.distribution->matrix->ranks;
    if (of <= round_.ranks.members.size()) return;
    add(fmt::format("--skew: the matrix has {} ranks: parts of the first {} are sent", of,
                    round_.ranks.members.size()));
  }

  /// nccl-tests rotates its buffers; ours are cached after the first operation, if they fit.
  void add_cache() {
    const Bytes cache = job_.on_devices ? round_.device_cache : job_.rank_map.largest_cache;
    if (job_.options.cache != Cache::Warm || plans_.empty()) return;
    const Footprint& largest = plans_.back().footprint;
    const Bytes all = (largest.send + largest.recv) * static_cast<Bytes>(round_.memory.ranks);
    if (all == 0 || all > cache) return;
    add(
        fmt::format("all operations use the same buffers, which fit into the cache of {}: "
                    "--cache rotate measures outside it",
                    format_bytes(cache)));
  }

  const Job& job_;
  const ConnectedRound& round_;
  const std::vector<SizePlan>& plans_;
  const std::optional<TransportSummary>& transports_;
  std::vector<std::string> notes_;
};

/// As the firmware of this host names its product; a cloud's instance type, where that is it.
std::string machine_name() {
  topo::MachineIdentity identity;
  topo::add_dmi(identity);
  return identity.product;
}

/// The facts that only measured runs have.
HeaderFacts facts_of(const Job& job, const ConnectedRound& round,
                     const std::optional<TransportSummary>& transports,
                     const std::vector<std::string>& environment) {
  const Backend& backend = *job.backend.backend;
  const std::vector<RankInfo>& ranks = job.rank_map.ranks;
  const auto hosts =
      set_of(ranks, [](const RankInfo& rank) { return std::string(rank.host.data()); });
  const bool connected_by_mpi =
      find_mpi() != nullptr && job.world.connected_by() == find_mpi()->library().name;
  HeaderFacts facts{
      {key(fact::kHosts), join_all(hosts, " ")},
      {key(fact::kMachine), machine_name()},
      {key(fact::kProcessor), ranks.front().processor_model.data()},
      {key(fact::kKernel), kernel_release()},
      {key(fact::kLibrary), backend.library()},
      {key(fact::kLibraryFiles), backend.library_files()},
      {key(connected_by_mpi ? fact::kMpi : fact::kBootstrap), job.world.connected_by()},
      {key(fact::kCompiler), compiler()},
      {key(fact::kLibraryEnvironment), join(environment, " ")},
      {key(fact::kTimerCost), fmt::format("{:.1f}", round.timer_cost_s * 1e9)},
      {key(fact::kConnectTime), fmt::format("{:.2f}", round.connect_s)},
      {key(fact::kDeviceSet), round.bound.device_set},
      {key(fact::kBoundKind), round.bound.kind},
      {key(fact::kBoundLimit), round.bound.limit},
  };
  append(facts, inventory_facts(job.world, job.topology));
  if (transports) add_facts(*transports, facts);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    facts.emplace_back(fmt::format("rank_{}", rank), rank_text(job, rank));
  }
  return facts;
}

void add_text(std::string_view text, std::set<std::string>& texts) {
  if (!trim(text).empty()) texts.emplace(trim(text));
}

}  // namespace

std::optional<TransportSummary> gather_transports(Bootstrap& world,
                                                  const Communicator& communicator) {
  const auto mine = communicator.transports();
  if (!world.agree(mine.has_value())) return std::nullopt;
  TransportSummary all{.known = true, .switchable = true, .nvls = true};
  int rank = -1;
  for (const LibraryTransports& one : world.gather_at_root(*mine)) {
    ++rank;
    all.known = all.known && one.known;
    all.switchable = all.switchable && one.switchable;
    all.nvls = all.nvls && one.nvls;
    all.gpudirect = all.gpudirect || one.gpudirect;
    for (const std::string& link : split(one.links.data(), ',')) add_text(link, all.links);
    add_text(one.channels.data(), all.channels);
    add_text(one.network.data(), all.networks);
    if (one.init_s <= all.init_s) continue;
    all.init_s = one.init_s;
    all.init = fmt::format("{:.2f} on rank {} ({})", one.init_s, rank, one.init.data());
  }
  return all;
}

void add_facts(const TransportSummary& transports, HeaderFacts& facts) {
  facts.emplace_back(key(fact::kNvls), yes_or_no(transports, transports.nvls));
  facts.emplace_back(key(fact::kGpudirectRdma), yes_or_no(transports, transports.gpudirect));
  facts.emplace_back(key(fact::kLinks), join_all(transports.links, ", "));
  facts.emplace_back(key(fact::kChannels), join_all(transports.channels, "; "));
  if (!transports.networks.empty()) {
    facts.emplace_back(key(fact::kNetwork), join_all(transports.networks, "; "));
  }
  if (!transports.init.empty()) facts.emplace_back(key(fact::kNcclInit), transports.init);
}

std::string note_of(const TransportSummary& transports) {
  std::string note = "NCCL's log does not report its connections";
  if (transports.known) {
    note = fmt::format("NCCL's log: NVLS {}, GPUDirect RDMA {}, links: {}",
                       yes_or_no(transports, transports.nvls),
                       yes_or_no(transports, transports.gpudirect),
                       transports.links.empty() ? "none" : join_all(transports.links, ", "));
  }
  if (transports.switchable) return note;
  return note +
         "; no algorithm, protocol and channels of rows: this NCCL cannot switch its log while it "
         "runs (2.24 and later can)";
}

std::string configuration(const Job& job, const std::vector<std::string>& environment) {
  std::string text = fmt::format("collective={} backend={} ranks={} nodes={} {}",
                                 job.collective.name, job.backend.backend->name(), job.world.size(),
                                 job.world.nodes(), join(configuration_of(job.options), " "));
  if (!job.library_settings.empty()) text += " library-settings=" + job.library_settings;
  const auto matters = [](const std::string& one) { return !one.starts_with("NCCL_DEBUG"); };
  std::string variables = join(filtered(environment, matters), ",");
  std::ranges::replace(variables, ' ', '_');  // blanks divide the parts
  if (!variables.empty()) text += " environment=" + variables;
  return text;
}

RunContext begin_header(const Options& options, const Collective& collective,
                        std::string configuration, std::vector<std::string> arguments) {
  RunContext context;
  context.facts = {{key(fact::kBusbar), std::string(version())},
                   {key(fact::kConfiguration), std::move(configuration)},
                   {key(fact::kStarted), local_time()},
                   {key(fact::kCommand), clean_text(join(arguments, " "))}};
  context.arguments = std::move(arguments);
  context.nccl_name = collective.nccl_name;
  context.sweep = options.sweep;
  context.timestamps = options.timestamps;
  return context;
}

RunContext make_run_header(const Job& job, const ConnectedRound& round,
                           const std::vector<SizePlan>& plans, const std::string& configuration,
                           const Invocation& invocation) {
  const Options& o = job.options;
  const auto transports = gather_transports(job.world, round.communicator);
  RunContext context = begin_header(o, job.collective, configuration, invocation.arguments);
  append(context.facts, facts_of(job, round, transports, invocation.environment));
  context.notes = Notes(job, round, plans, transports).all();
  context.environment = invocation.environment;
  context.nccl_version = job.backend.backend->nccl_version_code();
  context.warmup = o.warmup_operations;
  context.operations = o.operations;
  context.aggregated = o.aggregated;
  context.checks = o.checks;
  context.blocking = static_cast<int>(o.blocking);
  for (std::size_t rank = 0; rank < job.rank_map.ranks.size(); ++rank) {
    context.devices.push_back(rank_device(job, rank));
    context.hosts.push_back(context.devices.back().host);
  }
  context.groups = job.plan.ranks_by_group();
  context.graph = o.graph_launches;
  context.unalign = o.unalign;
  context.enqueue_times = o.enqueue_times;
  if (o.per_operation) context.skipped = o.skipped_samples;
  context.observes_choice = transports && transports->switchable;
  return context;
}

}  // namespace busbar
