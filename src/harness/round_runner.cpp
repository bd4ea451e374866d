// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "harness/runner.hpp"
#include "model/agreement.hpp"
#include "model/host_memory.hpp"

namespace busbar {
namespace {

/// Of a rank that is in no group of a round: it keeps step with the others, and its operations do
/// nothing.
class IdleCommunicator final : public HostCommunicator {
 public:
  /// `observed`: those of the others have transports.
  explicit IdleCommunicator(bool observed) : HostCommunicator(Pages::Small), observed_(observed) {}

  [[nodiscard]] std::optional<std::string> unsupported(const Call& /*call*/) const override {
    return std::nullopt;
  }
  [[nodiscard]] Bytes temporary_bytes(const Call& /*call*/) const override { return 0; }
  [[nodiscard]] InPlace in_place(const Collective& /*collective*/,
                                 std::uint64_t /*count*/) const override {
    return {};
  }
  /// What changes nothing of the others'.
  [[nodiscard]] std::optional<LibraryTransports> transports() const override {
    if (!observed_) return std::nullopt;
    return LibraryTransports{.known = true, .switchable = true, .nvls = true};
  }
  [[nodiscard]] std::function<void()> capture(const std::function<void()>& /*issue*/) override {
    return [] {};
  }
  void enqueue(const Call& /*call*/) override {}
  [[nodiscard]] std::unique_ptr<SideWork> side_work(const Load& /*load*/) override {
    return nullptr;
  }

 private:
  bool observed_;
};

/// What every row ran on and how.
std::vector<Flag> row_flags(const Run& run) {
  const std::vector<Device>& devices = run.devices;
  std::vector<Flag> flags;
  const auto add_if = [&](bool holds, Flag flag) {
    if (holds) flags.push_back(flag);
  };
  add_if(std::ranges::any_of(devices, is_fake), Flag::Fake);
  add_if(any_shared(devices), Flag::SharedGpu);
  add_if(!devices.empty() && !short_of_processors(run.rank_map).empty(), Flag::OneProcessor);
  add_if(run.options.unalign > 0, Flag::Unaligned);
  add_if(run.options.load && !run.options.loads_beside(), Flag::Loaded);
  return flags;
}

/// The memory of --load copy is taken beside the buffers.
void check_load(const Options& options, const MemoryPool& memory) {
  if (RankLoad::bytes(options) <= memory.per_rank()) return;
  throw usage_error("--load copy: needs {} of each rank, {} may be used; give a smaller size",
                    format_bytes(RankLoad::bytes(options)), format_bytes(memory.per_rank()));
}

/// The ranks of a group have its place in the round as their colour, and a rank that waits one of
/// its own.
int color_of(const GroupRound& round, const RankGroup* mine, int rank) {
  const auto groups = static_cast<int>(round.groups.size());
  return mine == nullptr ? groups + rank : static_cast<int>(mine - round.groups.data());
}

}  // namespace

void RoundRunner::begin_step(std::size_t round, const std::string& what) {
  const GroupPlan& plan = job_.plan;
  const RankGroup* mine = plan.rounds[round].group_of(job_.world.rank());
  job_.watchdog.step(round_prefix(plan, round, mine) + what);
}

std::vector<std::size_t> RoundRunner::order(std::uint64_t pass) const {
  // Not a part of the table, since this order is of rounds.
  constexpr std::size_t kRounds = std::numeric_limits<std::size_t>::max();
  return visiting_order(job_.options, job_.plan.rounds.size(), pass, kRounds);
}

bool RoundRunner::is_done(std::size_t round, std::uint64_t pass) const {
  const bool grouped = job_.plan.kind != GroupPlan::Kind::World;
  return grouped && table_.is_done(outputs_, round, pass);
}

void RoundRunner::connect_first() {
  const std::vector<std::size_t> rounds = order(0);
  const auto first =
      std::ranges::find_if(rounds, [this](std::size_t round) { return !is_done(round, 0); });
  connect(first == rounds.end() ? rounds.front() : *first);
}

void RoundRunner::run() {
  const Options& options = job_.options;
  const std::uint64_t passes = options.visits > 1 ? options.visits : options.cycles;
  for (std::uint64_t pass = 0; passes == 0 || pass < passes; ++pass) {
    for (const std::size_t round : order(pass)) {
      if (is_done(round, pass)) {
        table_.resume_round(outputs_, round, pass);
        continue;
      }
      connect(round);
      runner_->run_pass(pass);
    }
  }
}

void RoundRunner::connect(std::size_t round) {
  if (round_ == round) return;
  if (round_) disconnect();
  const GroupPlan& plan = job_.plan;
  Bootstrap& world = job_.world;
  const RankGroup* mine = plan.rounds[round].group_of(world.rank());
  begin_step(round, fmt::format("connecting the ranks over {}", job_.backend.backend->name()));
  const Clock::time_point begin = Clock::now();
  if (plan.kind != GroupPlan::Kind::World) {
    part_ = world.split(color_of(plan.rounds[round], mine, world.rank()));
    part_->set_progress(job_.progress);
  }
  Bootstrap& members = part_ ? *part_ : world;
  if (mine == nullptr) {
    communicator_ = std::make_unique<IdleCommunicator>(job_.options.nccl_choice);
  } else {
    communicator_ = job_.connect(members);
  }
  const double connect_s = Seconds(Clock::now() - begin).count();
  run_.emplace(Run{job_, members, *communicator_, round, mine, world.largest(connect_s),
                   members.largest(connect_s)});
  round_ = round;
  complete(*run_);
  runner_.emplace(*run_, table_, outputs_);
  library_growth_ = runner_->prepare();
}

void RoundRunner::disconnect() {
  begin_step(*round_, "giving its communicator back");
  note_memory_use();
  runner_.reset();
  run_.reset();
  communicator_.reset();
  part_.reset();
  round_.reset();
}

void RoundRunner::complete(Run& run) {
  begin_step(run.round, "measuring the host's limits");
  run.bound = find_bound(run, run.mine == nullptr ? std::vector<int>{} : run.mine->ranks);
  begin_step(run.round, "planning memory");
  const auto rank = static_cast<std::size_t>(run.world.rank());
  run.memory = plan_memory(run.world, run.options, run.rank_map, run.communicator,
                           run.devices.empty() ? 1 : run.devices[rank].ranks_on_device);
  agree_on(run.world, [&] { check_load(run.options, run.memory); });
  run.timer_cost_s = run.world.largest(run.communicator.stopwatch().cost().count());
  run.flags = row_flags(run);
  run.device_cache = run.world.largest(run.communicator.device_cache());
}

void RoundRunner::note_memory_use() {
  const DeviceMemoryUse use = communicator_->device_memory_use().value_or(DeviceMemoryUse{});
  memory_use_.initialization = std::max(memory_use_.initialization, use.initialization);
  memory_use_.user = std::max(memory_use_.user, use.user);
  memory_use_.collective = std::max(memory_use_.collective, use.collective);
}

std::string RoundRunner::memory_use_text() {
  note_memory_use();
  const auto most = [this](Bytes mine) { return format_bytes(job_.world.largest(mine)); };
  std::string text = fmt::format("Initialization {}", most(memory_use_.initialization));
  text += fmt::format(" | User-Allocated {}", most(memory_use_.user));
  text += fmt::format(" | Collective {}", most(memory_use_.collective));
  return text + fmt::format(" | Total {}", most(memory_use_.total()));
}

}  // namespace busbar
