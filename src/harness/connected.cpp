// SPDX-License-Identifier: BSD-3-Clause
#include "harness/connected.hpp"

#include "harness/measurement.hpp"
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

/// Bytes that --cache rotate goes through: twice the cache, or a least amount where the cache is
/// unknown or small.
Bytes rotation(const Job& job, Bytes device_cache) {
  if (job.options.cache != Cache::Rotate) return 0;
  if (job.on_devices) return std::max(2 * device_cache, 256 * kMiB);
  return std::max(2 * job.rank_map.largest_cache, 128 * kMiB);
}

/// What the kernel gave the buffers of the ranks of a group; empty where one does not know.
/// Collective.
std::string kind_of_pages(Bootstrap& group, const std::vector<double>& huge_shares) {
  if (!group.agree(!huge_shares.empty())) return {};
  const auto [low, high] = std::ranges::minmax(huge_shares);
  if (group.largest(high) == 0) return "small";
  return group.agree(low >= 1) ? "huge" : "mixed";
}

/// What each rank of an all-to-all is to connect to all others for; NCCL does it at the first
/// operation. Without --groups it is what was asked for.
std::string connections_obstacle(const Job& job, const RankGroup* mine) {
  constexpr std::size_t kMostConnecting = 256;
  const bool all_to_all = job.collective.movement == Movement::AllToAll;
  if (job.plan.kind == GroupPlan::Kind::World || !all_to_all || mine == nullptr) return {};
  const std::size_t ranks = mine->ranks.size();
  if (ranks <= kMostConnecting) return {};
  return fmt::format("{} of {} ranks needs {} connections; groups have {} ranks at most",
                     job.collective.title, ranks, ranks * (ranks - 1), kMostConnecting);
}

}  // namespace

std::string round_prefix(const GroupPlan& plan, std::size_t round, const RankGroup* mine) {
  constexpr std::size_t kLongest = 40;  // of the hosts: a step is a short text
  const int number = plan.rounds[round].number;
  if (plan.kind == GroupPlan::Kind::World) return {};
  if (mine == nullptr) return fmt::format("round {}, no group: ", number);
  const std::string hosts = mine->hosts.size() <= kLongest
                                ? mine->hosts
                                : mine->hosts.substr(0, mine->hosts.find(' ')) + " ...";
  return fmt::format("round {}, group {} ({}): ", number, mine->number, hosts);
}

void Connected::begin_step(std::size_t round, const std::string& what) {
  job_.watchdog.step(round_prefix(job_.plan, round, job_.group_of(round)) + what);
}

const ConnectedRound& Connected::connect(std::size_t round) {
  if (round_ && round_->number == round) return *round_;
  if (round_) disconnect();
  Bootstrap& world = job_.world;
  const RankGroup* mine = job_.group_of(round);
  begin_step(round, fmt::format("connecting the ranks over {}", job_.backend.backend->name()));
  const Clock::time_point begin = Clock::now();
  if (job_.plan.kind != GroupPlan::Kind::World) {
    part_ = world.split(color_of(job_.plan.rounds[round], mine, world.rank()));
    part_->set_progress(job_.progress);
  }
  Bootstrap& members = part_ ? *part_ : world;
  communicator_ = mine != nullptr ? job_.connect(members)
                                  : std::make_shared<IdleCommunicator>(job_.options.nccl_choice);
  const double connect_s = Seconds(Clock::now() - begin).count();
  round_.emplace(
      ConnectedRound{.ranks = {.world = world, .members = members, .idle = mine == nullptr},
                     .communicator = *communicator_,
                     .number = round,
                     .mine = mine,
                     .connect_s = world.largest(connect_s),
                     .group_connect_s = members.largest(connect_s)});
  complete();
  load_.emplace(job_.options, world, *communicator_);
  if (job_.on_devices) run_first_operation();
  round_->library_growth = largest_growth();
  Bytes most = 0;
  for (const DataType type : job_.options.types) {
    for (const ReduceOp op : job_.options.ops) {
      for (const SizePlan& plan : plan_sweep(type, op, round_->library_growth)) {
        most = std::max(most, RowBuffers::bytes_of(plan, offset_of(type)));
      }
    }
  }
  communicator_->reserve(most);
  return *round_;
}

void Connected::disconnect() {
  begin_step(round_->number, "giving its communicator back");
  note_memory_use();
  buffers_.reset();
  sweep_.reset();
  load_.reset();
  round_.reset();
  communicator_.reset();
  part_.reset();
}

void Connected::complete() {
  begin_step(round_->number, "measuring the host's limits");
  const RankGroup* mine = round_->mine;
  round_->bound = find_bound(job_, *communicator_, mine ? mine->ranks : std::vector<int>{});
  begin_step(round_->number, "planning memory");
  const auto rank = static_cast<std::size_t>(job_.world.rank());
  round_->memory = plan_memory(job_.world, job_.options, job_.rank_map, *communicator_,
                               job_.devices.empty() ? 1 : job_.devices[rank].ranks_on_device);
  agree_on(job_.world, [&] { check_load(job_.options, round_->memory); });
  round_->timer_cost_s = job_.world.largest(communicator_->stopwatch().cost().count());
  round_->device_cache = job_.world.largest(communicator_->device_cache());
}

/// The operation is of 1 MiB if possible. If the library refuses it, so does the first row.
void Connected::run_first_operation() {
  const PlannedRow& row = *std::ranges::find(rows_, round_->number, &PlannedRow::round);
  const SizePlan plan = plan_of(memory_request(row.type, row.op), kMiB);
  if (!job_.world.agree(plan.out_of_place || plan.in_place)) return;
  begin_step(round_->number, "running a first operation");
  const Bytes offset = offset_of(row.type);
  communicator_->reserve(RowBuffers::bytes_of(plan, offset));
  if (try_allocate(plan, offset)) {
    const std::vector<Call> calls = buffers_->calls(call_like(row), !plan.out_of_place);
    (void)prime(round_->ranks, *communicator_, calls.front());
  }
  buffers_.reset();
}

Bytes Connected::largest_growth() const {
  const auto use = communicator_->device_memory_use();
  return job_.world.largest(use ? use->collective : 0);
}

Bytes Connected::offset_of(DataType type) const { return job_.options.unalign * info(type).size; }

Call Connected::call_like(const PlannedRow& row) const {
  Call like{.collective = &job_.collective, .type = row.type, .op = row.op, .root = row.root};
  if (job_.collective.peers != nullptr) {
    like.peers = job_.collective.peers({.rank = round_->ranks.members.rank(),
                                        .ranks = round_->ranks.members.size(),
                                        .root = row.root,
                                        .pair = row.pair});
  }
  return like;
}

/// Without rotating buffers, and where the library has taken nothing yet.
MemoryRequest Connected::memory_request(DataType type, ReduceOp op) const {
  const Options& options = job_.options;
  return {.collective = &job_.collective,
          .type = type,
          .op = job_.collective.reduces ? op : ReduceOp::None,
          .ranks = round_->ranks.members.size(),
          .distribution = options.distribution_of(job_.collective),
          .place = round_->memory.place,
          .ranks_per_place = round_->memory.ranks,
          .available_per_rank = round_->memory.per_rank() - RankLoad::bytes(options),
          .out_of_place = options.placement != Placement::In,
          .in_place = options.placement != Placement::Out,
          .obstacle = connections_obstacle(job_, round_->mine)};
}

/// That of a rank that waits has nothing to send, and nothing that keeps the others from it.
SizePlan Connected::plan_of(const MemoryRequest& request, Bytes size) const {
  if (round_->mine != nullptr) return plan_size(request, *communicator_, size);
  return {.wanted = size,
          .footprint = {},
          .out_of_place = request.out_of_place,
          .in_place = request.in_place};
}

std::vector<SizePlan> Connected::plan_sweep(DataType type, ReduceOp op,
                                            Bytes library_growth) const {
  MemoryRequest request = memory_request(type, op);
  request.library_growth = library_growth;
  request.rotate_through = rotation(job_, round_->device_cache);
  return mapped(job_.options.sweep.sizes(), [&](Bytes size) { return plan_of(request, size); });
}

void Connected::begin_sweep(const PlannedRow& row) {
  buffers_.reset();
  sweep_.emplace(
      Sweep{.number = row.sweep,
            .pass = row.pass,
            .like = call_like(row),
            .plans = plan_sweep(row.type, row.op, largest_growth()),
            .verifier = Verifier(round_->ranks, *communicator_, row.type, row.op, row.pair)});
}

RowSetup Connected::prepare(const PlannedRow& row) {
  connect(row.round);
  if (!sweep_ || sweep_->number != row.sweep || sweep_->pass != row.pass) begin_sweep(row);
  if (sweep_->allocated != row.size) buffers_.reset();
  const SizePlan& plan = sweep_->plans[row.size];
  RowSetup setup{.job = job_,
                 .row = row,
                 .round = *round_,
                 .plan = plan,
                 .like = sweep_->like,
                 .verifier = sweep_->verifier,
                 .load = *load_};
  // Plans of ranks differ where their devices or their groups do; what one cannot run, none does.
  const bool planned = row.in_place ? plan.in_place : plan.out_of_place;
  const bool only_in_place = row.in_place && !plan.in_place_reason.empty();
  setup.obstacle = first_text(job_.world, planned         ? ""
                                          : only_in_place ? plan.in_place_reason
                                                          : plan.reason);
  if (!setup.obstacle.empty()) return setup;
  if (!buffers_ && !try_allocate(plan, offset_of(row.type))) {
    setup.obstacle = "a rank could not allocate its buffers; --memory-limit makes the plan smaller";
    return setup;
  }
  sweep_->allocated = row.size;
  setup.buffers = &*buffers_;
  setup.registered = registered_;
  setup.pages = pages_;
  return setup;
}

bool Connected::try_allocate(const SizePlan& plan, Bytes offset) {
  try {
    buffers_.emplace(*communicator_, plan, offset);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    buffers_.reset();
  }
  const bool everywhere = job_.world.agree(buffers_.has_value());
  if (!everywhere) {
    buffers_.reset();
    return false;
  }
  buffers_->register_buffers();
  registered_ = round_->ranks.members.agree(communicator_->is_registered());
  pages_ = kind_of_pages(round_->ranks.members, buffers_->huge_page_shares());
  return true;
}

void Connected::note_memory_use() {
  const DeviceMemoryUse use = communicator_->device_memory_use().value_or(DeviceMemoryUse{});
  memory_use_.initialization = std::max(memory_use_.initialization, use.initialization);
  memory_use_.user = std::max(memory_use_.user, use.user);
  memory_use_.collective = std::max(memory_use_.collective, use.collective);
}

std::string Connected::memory_use_text() {
  note_memory_use();
  const auto most = [this](Bytes mine) { return format_bytes(job_.world.largest(mine)); };
  std::string text = fmt::format("Initialization {}", most(memory_use_.initialization));
  text += fmt::format(" | User-Allocated {}", most(memory_use_.user));
  text += fmt::format(" | Collective {}", most(memory_use_.collective));
  return text + fmt::format(" | Total {}", most(memory_use_.total()));
}

}  // namespace busbar
