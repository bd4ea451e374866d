// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix.hpp"

#include "model/agreement.hpp"

namespace busbar {
namespace {

/// The most groups that one rank is in.
std::size_t most_groups_of_a_rank(const std::vector<MixGroup>& groups, int ranks) {
  std::size_t most = 1;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto has = [rank](const MixGroup& group) { return group.set_of(rank) != nullptr; };
    most = std::max(most, count_of(groups, has));
  }
  return most;
}

}  // namespace

Mix::Mix(const Job& job, const ConnectedRound& round) : job_(job) {
  std::vector<Party> parties;
  for (const MixGroup& group : job.plan.mixed) {
    members_.push_back({.group = group});
    parties.push_back(connect(members_.back(), round.memory));
  }
  together_.emplace(job, job.world, std::move(parties));
  job.watchdog.step("mix");
  together_->warm_up();
}

Party Mix::connect(Member& member, const MemoryPool& memory) {
  Bootstrap& world = job_.world;
  const MixGroup& group = member.group;
  job_.watchdog.step(fmt::format("mix group {}: connecting its ranks", group.name));
  const std::vector<int>* mine = group.set_of(world.rank());
  const auto sets = static_cast<int>(group.sets.size());
  const auto set =
      mine == nullptr ? sets + world.rank() : static_cast<int>(mine - group.sets.data());
  const Clock::time_point begin = Clock::now();
  member.members = world.split(set);
  member.members->set_progress(job_.progress);
  if (mine != nullptr) member.communicator = job_.connect(*member.members);
  member.connect_s = world.largest(mine == nullptr ? 0 : Seconds(Clock::now() - begin).count());
  member.nodes = world.largest(mine == nullptr ? 0 : member.members->nodes());
  agree_on(world, [&] {
    const std::string problem = mine == nullptr ? "" : prepare(member, memory);
    if (!problem.empty()) throw usage_error("--mix: group {}: {}", group.name, problem);
  });
  job_.watchdog.step(fmt::format("mix group {}: running a first operation", group.name));
  // What one rank's library refuses, no other waits for.
  agree_on(world, [&] {
    try {
      if (mine != nullptr) member.communicator->enqueue(member.call);
    } catch (const Error& error) {
      throw Error{error.status(), fmt::format("--mix: group {}: {}", group.name, error.what())};
    }
  });
  if (mine != nullptr) member.communicator->wait();
  return {.name = "group " + group.name,
          .start_us = group.start_us,
          .gap_us = group.gap_us,
          .communicator = member.communicator.get(),
          .call = member.call,
          .sets = group.sets.size(),
          .set = mine == nullptr ? 0 : static_cast<std::size_t>(set)};
}

std::string Mix::prepare(Member& member, const MemoryPool& memory) {
  const Options& options = job_.options;
  const Collective& collective = *member.group.collective;
  const auto shares = most_groups_of_a_rank(job_.plan.mixed, job_.world.size());
  const MemoryRequest request{.collective = &collective,
                              .type = options.types.front(),
                              .op = collective.reduces ? options.ops.front() : ReduceOp::None,
                              .ranks = member.members->size(),
                              .place = memory.place,
                              .ranks_per_place = memory.ranks,
                              .available_per_rank = memory.per_rank() / shares,
                              .in_place = false};
  const SizePlan plan = plan_size(request, *member.communicator, member.group.size);
  if (!plan.out_of_place) return plan.reason;
  if (plan.segment > 0) return "more than the library takes in one call; give a smaller size";
  member.communicator->reserve(RowBuffers::bytes_of(plan, 0));
  try {
    member.buffers.emplace(*member.communicator, plan, 0);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    return error.what();
  }
  Call like{
      .collective = &collective, .type = request.type, .op = request.op, .root = member.group.root};
  if (collective.peers != nullptr) {
    like.peers = collective.peers({.rank = member.members->rank(), .ranks = request.ranks});
  }
  member.call = member.buffers->calls(like, false).front();
  member.verifier.emplace(RoundGroup{.world = job_.world, .members = *member.members},
                          *member.communicator, request.type, request.op);
  member.verifier->fill({&member.call, 1}, plan.footprint.send / info(request.type).size,
                        options.seed);
  return {};
}

std::vector<Evidence> Mix::measure(std::uint64_t visit) {
  const Options& options = job_.options;
  job_.watchdog.step(fmt::format("mix, visit {} of {}", visit + 1, options.visits));
  std::vector<Evidence> evidence;
  for (Member& member : members_) {
    evidence.push_back({.nodes = member.nodes, .connect_s = member.connect_s});
    if (visit == 0 && member.buffers) member.buffers->poison_results(false);
  }
  const double window_us = microseconds(options.time_budget) / static_cast<double>(options.visits);
  together_->take_turn(window_us, visit % 2 == 1, evidence);
  if (visit == 0 && options.checks > 0) check_results(evidence);
  for (Evidence& one : evidence) one.finished_at = local_time();
  return evidence;
}

void Mix::check_results(std::vector<Evidence>& evidence) {
  const Options& options = job_.options;
  for (std::size_t i = 0; Member & member : members_) {
    job_.watchdog.step(fmt::format("mix group {}: checking results", member.group.name));
    DataCheck mine;
    bool planted = false;
    if (member.verifier) {
      if (options.inject_fault) {
        planted = member.verifier->plant(*options.inject_fault, member.call);
      }
      mine = member.verifier->check({&member.call, 1}, options.seed);
    }
    const bool leads = member.verifier && member.members->rank() == 0;
    double wrong = leads ? static_cast<double>(mine.wrong) : 0;
    job_.world.combine({&wrong, 1}, Combine::Sum);
    evidence[i].check = DataCheck{.wrong = static_cast<std::uint64_t>(wrong),
                                  .first_wrong = first_text(job_.world, mine.first_wrong)};
    evidence[i++].fault_injected = job_.world.largest(planted ? 1 : 0) > 0;
  }
}

void run_mix(const Job& job, std::span<const PlannedRow> rows, Mix& mix, Journal& journal) {
  for (std::uint64_t visit = 0; visit < job.options.visits; ++visit) {
    PlannedRow last = rows.back();
    last.pass = visit;
    if (journal.has(last)) continue;
    std::vector<Evidence> evidence = mix.measure(visit);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      journal.add(rows[i], {std::move(evidence[i])});
    }
  }
}

}  // namespace busbar
