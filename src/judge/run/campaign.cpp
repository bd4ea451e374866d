// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/campaign.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/run/plan.hpp"

namespace busbar::judge {
namespace {

std::string words_of(const Job& job) {
  std::string text = fmt::format("{} {} {}, launch {}", job.device_set, job_name(job),
                                 job.collective, job.launch + 1);
  if (job.purpose != Purpose::Measure) text += fmt::format(" ({})", name(job.purpose));
  return text;
}

/// The first collective of all: what nodes are touched with.
std::string any_collective(const Specification& specification) {
  return specification.expectations.front().collectives.front();
}

/// "h3 does not answer (nothing within 30 s: ...)".
std::string silence_words(const std::string& node, const LaunchResult& result, Seconds timeout) {
  const std::string line = telling_line(result.log);
  return fmt::format("{} does not answer ({}{}{})", node,
                     result.timed_out ? fmt::format("nothing within {:g} s", timeout.count())
                                      : fmt::format("exit {}", result.exit_code),
                     line.empty() ? "" : ": ", line);
}

}  // namespace

Campaign::Campaign(CampaignRequest request, RunFolder& folder)
    : request_(std::move(request)), specification_(request_.specification), folder_(folder) {}

bool Campaign::is_stopped() const {
  return start_failure_ || !refusal_.empty() || (request_.stop != nullptr && *request_.stop);
}

const std::vector<Observation>& Campaign::observations() {
  observe_more(folder_.journal(), folder_.path(), observations_);
  return observations_;
}

bool Campaign::run() {
  touch(request_.nodes);
  std::mt19937_64 random(request_.seed);
  run_units(plan_units(specification_, request_.nodes, request_.parallel, random));
  rerun();
  for (const DeviceSetRule& set : specification_.device_sets) {
    const bool wanted =
        is_bisected(set, request_.nodes.size()) && !collectives_of(specification_, set.id).empty();
    if (wanted && !is_stopped()) search(set);
  }
  if (!is_stopped()) run_units(confirm_units(specification_, request_.nodes, acceptance()));
  return !refusal_.empty() || !is_stopped();
}

void Campaign::launch(std::span<const Launch> launches, double timeout_s,
                      const LaunchEvents& events) {
  start_failure_ = run_launches(
      launches, {.timeout = Seconds{timeout_s}, .at_once = request_.at_once, .stop = request_.stop},
      events);
}

void Campaign::touch(const std::vector<std::string>& nodes) {
  if (specification_.run.backend == "sim") return;  // nothing runs on them
  const double timeout_s = specification_.run.reach_timeout_s;
  std::vector<Launch> launches;
  for (const std::string& node : nodes) {
    launches.push_back({touch_command(request_.setup, any_collective(specification_), node)});
  }
  launch(launches, timeout_s, {.ended = [&](std::size_t number, const LaunchResult& result) {
           if (result.stopped || (result.exit_code == 0 && !result.timed_out)) return;
           silent_[nodes[number]] = silence_words(nodes[number], result, Seconds{timeout_s});
         }});
}

void Campaign::run_units(const std::vector<Unit>& units) {
  for (const Unit& unit : units) planned_ += unit.size();
  for (const Unit& unit : units) {
    if (is_stopped()) return;
    run_unit(unit);
    if (!asked_ && !is_stopped()) ask();
  }
}

/// Another machine than the specification's must not be measured to the end.
void Campaign::ask() {
  const std::vector<Observation>& seen = observations();
  asked_ = std::any_of(seen.begin(), seen.end(),
                       [](const Observation& launch) { return !launch.records.empty(); });
  if (asked_ && request_.refuse) refusal_ = request_.refuse(seen);
}

void Campaign::run_unit(const Unit& unit) {
  const Unit jobs = leave_out_silent(unit);
  std::vector<Launch> launches;
  for (const Job& job : jobs) {
    launches.push_back(commands_of(specification_, request_.setup, job));
  }
  const std::size_t first = begun_ + 1;
  std::vector<std::string> doubtful;
  launch(launches, specification_.run.timeout_s,
         {.begun =
              [&](std::size_t i) {
                ++begun_;
                report(first + i, jobs[i], nullptr);
              },
          .ended =
              [&](std::size_t i, const LaunchResult& result) {
                keep(first + i, jobs[i], result);
                report(first + i, jobs[i], &result);
                if (!result.timed_out) return;
                doubtful.insert(doubtful.end(), jobs[i].nodes.begin(), jobs[i].nodes.end());
              }});
  // A node that has gone while others were measured must not cost a timeout in each of its
  // launches.
  if (!is_stopped()) touch(doubtful);
}

Unit Campaign::leave_out_silent(const Unit& unit) {
  Unit jobs;
  for (const Job& job : unit) {
    const auto silent = std::find_if(job.nodes.begin(), job.nodes.end(),
                                     [this](const auto& node) { return silent_.contains(node); });
    if (silent == job.nodes.end()) {
      jobs.push_back(job);
      continue;
    }
    const LaunchResult result{
        .failure = silent_.at(*silent), .exit_code = -1, .unreachable = *silent};
    keep(++begun_, job, result);
    report(begun_, job, &result);
  }
  return jobs;
}

void Campaign::keep(std::size_t number, const Job& job, const LaunchResult& result) {
  folder_.add(number, job,
              {.failure = result.failure,
               .exit_code = result.exit_code,
               .seconds = result.seconds,
               .command = result.command,
               .unreachable = result.unreachable},
              result.csv, result.log);
}

void Campaign::report(std::size_t number, const Job& job, const LaunchResult* result) {
  if (!request_.note) return;
  LaunchNote note{.number = number, .planned = planned_, .what = words_of(job)};
  if (result != nullptr) {
    note.ended = true;
    note.failure = result->failure;
    note.seconds = result->seconds;
  }
  request_.note(note);
}

void Campaign::rerun() {
  while (!is_stopped()) {
    const std::vector<Unit> units = rerun_units(specification_, folder_.journal(), acceptance());
    if (units.empty()) return;
    run_units(units);
  }
}

void Campaign::search(const DeviceSetRule& set) {
  std::vector<Unit> lost;
  for (const auto& [node, why] : silent_) {
    const Instance alone{.name = node, .nodes = {node}};
    for (Unit& unit : launch_units(specification_, set.id, std::vector{alone}, true)) {
      lost.push_back(std::move(unit));
    }
  }
  run_units(lost);  // lines of the journal only
  std::vector<Instance> before;
  while (!is_stopped()) {
    const std::vector<Observation>& seen = observations();
    if (searched_nodes(set, request_.nodes, seen).size() < 2) return;
    const BisectionResume replay =
        resume_bisection(set, request_.nodes, seen, request_.judge(seen));
    const std::vector<Instance> groups = instances_of_round(replay.next, replay.nodes);
    // A round that gave no verdict would be asked for again and again.
    const bool same = !before.empty() && groups.size() == before.size() &&
                      std::equal(groups.begin(), groups.end(), before.begin(),
                                 [](const auto& a, const auto& b) { return a.name == b.name; });
    if (groups.empty() || same) return;
    run_units(launch_units(specification_, set.id, groups, request_.parallel));
    rerun();
    before = groups;
  }
}

}  // namespace busbar::judge
