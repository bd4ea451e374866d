// SPDX-License-Identifier: BSD-3-Clause
#include "harness/run_header.hpp"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "bootstrap/mpi_bootstrap.hpp"
#include "harness/host.hpp"
#include "model/rank_fact.hpp"

namespace busbar {
namespace {

std::string joined(const std::set<std::string>& words, std::string_view separator) {
  return join(std::vector<std::string>(words.begin(), words.end()), separator);
}

std::string yes_or_no(const TransportSummary& transports, bool value) {
  if (!transports.known) return "unknown";
  return value ? "yes" : "no";
}

}  // namespace

std::optional<TransportSummary> gather_transports(Bootstrap& world,
                                                  const Communicator& communicator) {
  const auto mine = communicator.transports();
  if (!world.agree(mine.has_value())) return std::nullopt;
  TransportSummary all{.known = true, .switchable = true, .nvls = true};
  for (const LibraryTransports& one : world.gather(*mine)) {
    all.known = all.known && one.known;
    all.switchable = all.switchable && one.switchable;
    all.nvls = all.nvls && one.nvls;
    all.gpudirect = all.gpudirect || one.gpudirect;
    for (const std::string& link : split(one.links.data(), ',')) {
      if (!trim(link).empty()) all.links.emplace(trim(link));
    }
    if (one.channels.front() != '\0') all.channels.emplace(one.channels.data());
  }
  return all;
}

void add_facts(const TransportSummary& transports,
               std::vector<std::pair<std::string, std::string>>& facts) {
  facts.emplace_back("nccl-nvls", yes_or_no(transports, transports.nvls));
  facts.emplace_back("nccl-gpudirect-rdma", yes_or_no(transports, transports.gpudirect));
  facts.emplace_back("nccl-links", joined(transports.links, ", "));
  facts.emplace_back("nccl-channels", joined(transports.channels, "; "));
}

std::string note_of(const TransportSummary& transports) {
  std::string note = "NCCL's log does not report its connections";
  if (transports.known) {
    note = fmt::format("NCCL's log: NVLS {}, GPUDirect RDMA {}, links: {}",
                       yes_or_no(transports, transports.nvls),
                       yes_or_no(transports, transports.gpudirect),
                       transports.links.empty() ? "none" : joined(transports.links, ", "));
  }
  if (transports.switchable) return note;
  return note +
         "; no algorithm, protocol and channels of rows: this NCCL cannot switch its log while it "
         "runs (2.24 and later can)";
}

namespace {

/// g++'s own version is a bare number; clang's has its name in it.
std::string compiler() {
  const std::string text = __VERSION__;
  return text.find_first_not_of("0123456789.") == std::string::npos ? "g++ " + text : text;
}

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? fmt::format("{}", *count) : "auto";
}

std::string blocking_text(Blocking blocking) {
  constexpr std::array<std::string_view, 4> kTexts{
      "", "wait and barrier after each operation, both timed", "wait after each operation",
      "barrier before each operation, not timed"};
  return std::string(kTexts[static_cast<std::size_t>(blocking)]);
}

std::string or_dash(int number) { return number < 0 ? "-" : fmt::format("{}", number); }

/// "0000:07:00" of "0000:07:00.0", as nccl-tests prints it.
std::string_view without_function(std::string_view bus) { return bus.substr(0, bus.rfind('.')); }

/// "device  0 [0000:07:00] NVIDIA H200": the device, or the processor that stands for it.
std::string device_words(const HeaderInput& input, std::size_t rank) {
  if (!input.run.devices.empty()) {
    const Device& device = input.run.devices[rank];
    return fmt::format("device {:>2} [{}] {}", device.index, without_function(device.bus.data()),
                       device.name.data());
  }
  const RankInfo& place = input.run.rank_map.ranks[rank];
  return fmt::format("device {:>2} [numa {} core {}] {}", std::max(place.core, 0),
                     or_dash(place.numa), or_dash(place.core), place.processor_model.data());
}

std::vector<std::string> device_lines(const HeaderInput& input) {
  std::vector<std::string> lines;
  for (std::size_t rank = 0; rank < input.run.rank_map.ranks.size(); ++rank) {
    const RankInfo& place = input.run.rank_map.ranks[rank];
    lines.push_back(fmt::format(" Rank {:>2} Group {:>2} Pid {:>6} on {:>10} {}", rank,
                                input.run.groups[rank], place.pid, place.host.data(),
                                device_words(input, rank)));
  }
  return lines;
}

/// What rank `rank` runs on, for the file's head.
std::string rank_fact(const HeaderInput& input, std::size_t rank) {
  const RankInfo& place = input.run.rank_map.ranks[rank];
  RankFact fact{.host = place.host.data(),
                .node = place.node,
                .numa = place.numa,
                .core = place.core,
                .processors = place.processors};
  if (input.run.options.split) fact.group = input.run.groups[rank];
  if (!input.run.devices.empty()) {
    const Device& device = input.run.devices[rank];
    fact.gpu = RankGpu{.index = device.index,
                       .bus = device.bus.data(),
                       .uuid = device.uuid.data(),
                       .name = device.name.data()};
  }
  return rank_fact_text(fact);
}

void add_device_notes(const HeaderInput& input, std::vector<std::string>& notes) {
  const auto& devices = input.run.devices;
  if (std::any_of(devices.begin(), devices.end(), is_fake)) {
    notes.emplace_back(
        "fake: this is the fake GPU machine of busbar's tests; no time or rate here is real");
  }
  const std::string squeezed = devices.empty() ? "" : short_of_processors(input.run.rank_map);
  if (!squeezed.empty()) {
    notes.push_back(
        fmt::format("one-processor: {} may run on one processor only, which it shares with the "
                    "threads of its GPU's library: networks stall; give every rank two or more "
                    "(srun --cpus-per-task, mpirun --bind-to numa or none)",
                    squeezed));
  }
  const auto most = std::max_element(
      devices.begin(), devices.end(),
      [](const Device& a, const Device& b) { return a.ranks_on_device < b.ranks_on_device; });
  if (most != devices.end() && most->ranks_on_device > 1) {
    notes.push_back(
        fmt::format("up to {} ranks share a GPU (--share-gpus): rates are not those of "
                    "a GPU for each",
                    most->ranks_on_device));
  }
}

/// How ranks are grouped, where they are not one group.
void add_group_notes(const HeaderInput& input, std::vector<std::string>& notes) {
  if (input.run.options.pairs == Pairs::All) {
    notes.emplace_back(
        "pairs: every ordered pair of ranks, one way; disjoint pairs at the same time, a row each");
  }
  if (!input.run.options.split) return;
  const int groups = *std::max_element(input.run.groups.begin(), input.run.groups.end()) + 1;
  for (int group = 0; group < groups; ++group) {
    std::vector<std::string> ranks;
    for (std::size_t rank = 0; rank < input.run.groups.size(); ++rank) {
      if (input.run.groups[rank] == group) ranks.push_back(fmt::format("{}", rank));
    }
    notes.push_back(fmt::format("group {}: ranks {}; all groups at the same time, a row each",
                                group, join(ranks, " ")));
  }
}

std::string statistic_note(const Options& o) {
  const std::string how_long =
      o.operations ? fmt::format("{} operations", *o.operations)
                   : fmt::format("until its 95 % interval is within {:g} % or {:g} s have passed",
                                 o.ci_width * 100, o.time_budget.count());
  return fmt::format("time: median over samples of the {} over ranks; cadence {}; {}",
                     name(o.aggregation), name(o.cadence), how_long);
}

std::string progress_note(const HeaderInput& input) {
  const RankMap& places = input.run.rank_map;
  const char* how = input.run.progress == Progress::Yield ? "ranks wait by yielding to each other"
                                                          : "ranks wait inside the library";
  if (!places.oversubscribed) return fmt::format("{}: ranks fit on the processors", how);
  return fmt::format("{}: oversubscribed, {}", how, places.oversubscription);
}

/// The text of what a plan allows; sizes with the same text share a line.
std::string plan_words(const SizePlan& plan, const Options& options, Bytes element) {
  if (!plan.out_of_place && !plan.in_place) return fmt::format("skipped ({})", plan.reason);
  std::string words = plan.out_of_place && plan.in_place ? "both placements"
                      : plan.in_place                    ? "in place only"
                                                         : "out of place only";
  const bool shrunk = !plan.out_of_place && options.placement != Placement::In;
  if (shrunk) words += fmt::format(" (out of place {})", plan.reason);
  const bool never_in_place = !plan.in_place_reason.empty() && options.placement != Placement::Out;
  if (never_in_place) words += fmt::format(" (in place {})", plan.in_place_reason);
  if (plan.segment > 0) {
    words += fmt::format(" in segments of {}", format_bytes(plan.segment * element));
  }
  return words;
}

void add_memory_notes(const HeaderInput& input, std::vector<std::string>& notes) {
  const Bytes element = info(input.run.options.types.front()).size;
  const MemoryPool& memory = input.run.memory;
  notes.push_back(fmt::format(
      "memory: {} {} for {} on the fullest {}", format_bytes(memory.free),
      memory.by_option
          ? "(--memory-limit)"
          : fmt::format("available, of which {:.0f} % may be used,", memory.share * 100),
      counted(static_cast<std::size_t>(memory.ranks), "rank"), memory.place));
  const auto& plans = input.plans;
  for (std::size_t first = 0; first < plans.size();) {
    const std::string words = plan_words(plans[first], input.run.options, element);
    std::size_t last = first;
    while (last + 1 < plans.size() &&
           plan_words(plans[last + 1], input.run.options, element) == words) {
      ++last;
    }
    const std::string sizes = first == last
                                  ? format_bytes(plans[first].wanted)
                                  : fmt::format("{} to {}", format_bytes(plans[first].wanted),
                                                format_bytes(plans[last].wanted));
    notes.push_back(fmt::format("memory plan: {}: {}", sizes, words));
    first = last + 1;
  }
}

/// The MPI library where it only connects the ranks; its own need of memory where that is a guess.
void add_mpi_notes(const HeaderInput& input, std::vector<std::string>& notes) {
  const MpiLibrary& mpi = mpi_library();
  if (input.backend.backend->library() != mpi.name) {
    notes.push_back(fmt::format("ranks are connected by {}", mpi.name));
  } else if (const std::string note = memory_note(mpi); !note.empty()) {
    notes.push_back(note);
  }
}

std::string host_list(const RankMap& rank_map) {
  std::set<std::string> names;
  for (const RankInfo& place : rank_map.ranks) names.insert(place.host.data());
  const std::vector<std::string> list(names.begin(), names.end());
  return join(list, " ");
}

}  // namespace

std::string configuration(const HeaderInput& input) {
  std::vector<std::string> words = configuration_words(input.run.options);
  words.insert(words.begin(), {fmt::format("collective={}", input.run.collective.name),
                               fmt::format("backend={}", input.backend.backend->name()),
                               fmt::format("ranks={}", input.run.world.size()),
                               fmt::format("nodes={}", input.run.world.nodes())});
  if (!input.library_settings.empty())
    words.push_back("library-settings=" + input.library_settings);
  return join(words, " ");
}

namespace {

/// The facts in the heads of files.
std::vector<std::pair<std::string, std::string>> facts_of(const HeaderInput& input) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"busbar", std::string(version())},
      {"configuration", configuration(input)},
      {"started", local_time()},
      {"command", input.command},
      {"hosts", host_list(input.run.rank_map)},
      {"processor", input.run.rank_map.ranks.front().processor_model.data()},
      {"kernel", kernel_release()},
      {"library", input.backend.backend->library()},
      {"library-files", input.backend.backend->library_files()},
      {"mpi", mpi_library().name},
      {"compiler", compiler()},
      {"environment", join(input.environment, " ")},
      {"timer-cost-ns", fmt::format("{:.1f}", input.run.timer_cost_s * 1e9)},
      {"device-set", input.bound.device_set},
      {"bound-kind", input.bound.kind},
      {"bound-limit", input.bound.limit},
  };
  facts.insert(facts.end(), input.inventory.begin(), input.inventory.end());
  if (input.transports) add_facts(*input.transports, facts);
  for (std::size_t rank = 0; rank < input.run.rank_map.ranks.size(); ++rank) {
    facts.emplace_back(fmt::format("rank-{}", rank), rank_fact(input, rank));
  }
  return facts;
}

}  // namespace

RunContext blank_header(const Options& options, const Collective& collective, int ranks) {
  RunContext context;
  context.nccl_name = collective.nccl_name;
  context.first_size = options.sweep.first;
  context.last_size = options.sweep.last;
  context.step = options.sweep.factor > 1 ? fmt::format("{}(factor)", options.sweep.factor)
                                          : fmt::format("{}(bytes)", options.sweep.step);
  context.timestamps = options.timestamps;
  context.one_rank = ranks == 1;
  return context;
}

RunContext make_run_header(const HeaderInput& input) {
  const Options& o = input.run.options;
  RunContext context = blank_header(o, input.run.collective, input.run.world.size());
  context.facts = facts_of(input);
  context.notes = {fmt::format("busbar {}: {} over {}, {} backend ({}: {}), {} on {}", version(),
                               input.run.collective.title, input.backend.backend->library(),
                               input.backend.backend->name(),
                               o.backend == "auto" ? "auto" : "asked for", input.backend.why,
                               counted(static_cast<std::size_t>(input.run.world.size()), "rank"),
                               counted(static_cast<std::size_t>(input.run.world.nodes()), "node")),
                   statistic_note(o), progress_note(input)};
  if (!input.library_settings.empty()) {
    context.notes.push_back(fmt::format("library: {}; {} unless the environment has it otherwise",
                                        input.backend.backend->library_files(),
                                        input.library_settings));
  }
  add_device_notes(input, context.notes);
  add_group_notes(input, context.notes);
  add_memory_notes(input, context.notes);
  add_mpi_notes(input, context.notes);
  if (!input.bound.note.empty()) context.notes.push_back(input.bound.note);
  if (input.transports) context.notes.push_back(note_of(*input.transports));
  for (const std::string& warning : input.bound.warnings) {
    context.notes.push_back("topology: " + warning);
  }
  if (input.run.world.size() == 1) {
    context.notes.emplace_back("one rank: nothing crosses a bus, so busbw is no value here");
  }
  if (o.checks == 0) context.notes.emplace_back("results are not checked (-c 0)");
  if (o.seed != Options{}.seed) context.notes.push_back(fmt::format("data seed {}", o.seed));
  if (o.pages == Pages::Small) {
    context.notes.emplace_back("buffers lie on the kernel's small pages (--pages small)");
  }
  if (o.cache == Cache::Rotate) {
    context.notes.emplace_back("buffers rotate beyond the last-level cache");
  }
  context.warmup = count_text(o.warmup_operations);
  context.operations = count_text(o.operations);
  context.aggregated = fmt::format("{}", o.aggregated);
  context.checks = fmt::format("{}", o.checks);
  context.blocking = blocking_text(o.blocking);
  context.devices = device_lines(input);
  context.graph = fmt::format("{}", o.graph_launches);
  context.unalign = fmt::format("{}", o.unalign);
  context.enqueue_times = o.enqueue_times;
  if (o.per_operation) context.skipped = o.skipped_samples;
  context.pairs = o.pairs == Pairs::All;
  context.observes_choice = input.transports && input.transports->switchable;
  return context;
}

}  // namespace busbar
