// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/hostlist.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "judge/fingerprint.hpp"
#include "judge/rule_check.hpp"
#include "model/matching.hpp"

namespace busbar::judge {
namespace {

/// Whether ssh or a launcher could not resolve the name of its host.
bool is_unresolved(std::string_view log) {
  constexpr std::array<std::string_view, 3> kTexts{
      "ould not resolve hostname", "ame or service not known", "ailure in name resolution"};
  return std::ranges::any_of(
      kTexts, [&](std::string_view text) { return log.find(text) != std::string_view::npos; });
}

/// Rounds follow each other within a launch.
double timeout_of(const Unit& jobs, double each_s) {
  std::size_t rounds = 1;
  double soak_s = 0;
  for (const LaunchJob& job : jobs) {
    rounds = std::max(rounds, job.rounds.size());
    soak_s = std::max(soak_s, job.soak_s);
  }
  return each_s * static_cast<double>(rounds) + soak_s;
}

/// Whether an earlier run has made this launch, with whatever nodes were left then.
bool is_made(const LaunchJob& job, std::span<const Observation> seen) {
  return std::ranges::any_of(seen, [&](const Observation& line) {
    return line.failure.empty() && line.device_set == job.device_set &&
           line.collective == job.collective && line.launch == job.launch &&
           line.attempt == job.attempt && line.purpose == job.purpose;
  });
}

/// Rounds of all nodes as those of some, by the places of these.
std::vector<NumberedRound> among(const std::vector<NumberedRound>& rounds,
                                 const std::vector<std::string>& all,
                                 const std::vector<std::string>& nodes) {
  std::map<std::size_t, std::size_t> places;
  for (std::size_t place = 0, number = 0; place < nodes.size(); ++number) {
    if (all[number] == nodes[place]) places[number] = place++;
  }
  std::vector<NumberedRound> left;
  for (const NumberedRound& round : rounds) {
    NumberedRound& some = left.emplace_back(NumberedRound{.number = round.number});
    for (const auto& [first, second] : round.pairs) {
      if (places.contains(first) && places.contains(second)) {
        some.pairs.emplace_back(places.at(first), places.at(second));
      }
    }
    if (some.pairs.empty()) left.pop_back();
  }
  return left;
}

/// How long the turns that were made took, those at the same time once: they are of one matching,
/// so that none of them shares a node with another.
double soaked_s(std::span<const Observation> seen, std::size_t at_once) {
  double sum = 0;
  double longest = 0;
  double all = 0;
  std::tuple<std::string, std::string, int> turn;
  std::set<std::string> nodes;
  const auto add = [&] {
    sum += std::max(longest, all / static_cast<double>(at_once));
    longest = all = 0;
    nodes.clear();
  };
  for (const Observation& line : seen) {
    if (line.group > 0) continue;  // made with rail 0
    const std::tuple of_line{line.device_set, line.collective, line.launch};
    const bool meets = std::ranges::any_of(
        line.nodes, [&](const std::string& node) { return nodes.contains(node); });
    if (meets || turn != of_line) add();
    turn = of_line;
    nodes.insert(line.nodes.begin(), line.nodes.end());
    longest = std::max(longest, line.seconds);
    all += line.seconds;
  }
  add();
  return sum;
}

}  // namespace

Campaign::Campaign(CampaignRequest request, RunFolder& folder)
    : request_(std::move(request)), specification_(request_.specification), folder_(folder) {}

bool Campaign::is_stopped() const {
  return start_failure_ || !refusal_.empty() || (request_.stop && request_.stop());
}

bool Campaign::run() {
  for (const Observation& line : seen()) {
    if (line.hung_or_crashed() && !line.unreachable.empty()) breaking_.insert(line.unreachable);
  }
  reach();
  if (request_.soak_s) {
    soak();
    return refusal_.empty() && !start_failure_;
  }
  std::mt19937_64 random(request_.seed);
  run_units(plan_units(specification_, request_.nodes, random));
  rerun();
  for (const DeviceSetRule& set : specification_.device_sets) {
    if (set.kind == SetKind::Pairwise && !is_stopped()) confirm(set);
  }
  if (!is_stopped()) touch(answering(request_.nodes));  // for what has changed in their facts
  return !refusal_.empty() || !is_stopped();
}

void Campaign::launch(std::span<const LaunchCommands> launches, double timeout_s,
                      const LaunchEvents& events) {
  start_failure_ = run_launches(
      launches, {.timeout = Seconds{timeout_s}, .at_once = request_.at_once, .stop = request_.stop},
      events);
}

/// Links flap, and servers of ssh are busy: who cannot be reached at first is asked again.
void Campaign::reach() {
  std::vector<std::string> absent = contact(request_.nodes);
  for (std::size_t i = 0; i < request_.contact_again.size() && !absent.empty(); ++i) {
    const Clock::time_point begun = Clock::now();
    while (Clock::now() - begun < request_.contact_again.at(i)) {
      if (is_stopped()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    const auto before = silent_;
    const std::vector<std::string> asked = std::exchange(absent, contact(absent));
    const std::vector<std::string> late = answering(asked);
    if (late.empty()) continue;
    folder_.add_note(fmt::format("{} answered only at the {} contact ({} before: {})",
                                 hostlist(late), i == 0 ? "2nd" : "3rd", late.front(),
                                 before.at(late.front())));
    if (request_.warn) request_.warn(folder_.journal().notes.back());
  }
  for (const std::string& node : absent) {
    silent_[node] =
        fmt::format("{} contacts: {}", request_.contact_again.size() + 1, silent_[node]);
  }
}

bool Campaign::has_answered(const std::string& node, const LaunchResult& result) {
  folder_.add_facts(node, result.csv);
  if (!result.csv.starts_with("busbar ")) {
    note_banner(node, result.csv.substr(0, result.csv.find('\n')));
  }
  if (result.failure == kInterrupted) return true;
  if (result.exit_code == 0 && !result.timed_out) {
    silent_.erase(node);
    return true;
  }
  const std::string line = telling_line(result.log);
  silent_[node] = fmt::format(
      "{}{}{}",
      result.timed_out ? fmt::format("nothing within {:g} s", specification_.run.reach_timeout_s)
                       : fmt::format("exit {}", result.exit_code),
      line.empty() ? "" : ": ", line);
  return false;
}

/// With the first collective of all.
std::vector<std::string> Campaign::contact(const std::vector<std::string>& nodes) {
  const std::string& collective = specification_.rules.front().collectives.front();
  std::vector<LaunchCommands> launches;
  std::vector<std::string> refusals;
  std::vector<std::string> absent;
  for (const std::string& node : nodes) {
    launches.push_back({touch_command(request_.setup, collective, node)});
  }
  launch(launches, specification_.run.reach_timeout_s,
         {.ended = [&](std::size_t number, const LaunchResult& result) {
           if (has_answered(nodes[number], result)) return;
           const bool refuses =
               result.exit_code == exit_code(Status::Usage) || is_unresolved(result.log);
           if (refuses) refusals.push_back(telling_line(result.log));
           if (!refuses) absent.push_back(nodes[number]);
         }});
  if (refusals.empty() || refusals.size() < request_.nodes.size() || !seen().empty()) {
    return absent;
  }
  const std::string where =
      nodes.size() == 1 ? nodes.front() : fmt::format("any of {} nodes", nodes.size());
  throw usage_error("no launch can succeed on {}: {}", where, refusals.front());
}

LaunchResult Campaign::silence(const std::string& node) const {
  return {.failure = fmt::format("{} does not answer ({})", node, silent_.at(node)),
          .exit_code = kNotMade,
          .unreachable = node};
}

std::vector<std::string> Campaign::answering(const std::vector<std::string>& nodes) const {
  return filtered(nodes, [this](const std::string& node) { return !silent_.contains(node); });
}

void Campaign::note_banner(const std::string& nodes, const std::string& line) {
  const std::string banner = one_line(line);
  if (trim(banner).empty() || !request_.warn || !banners_.insert(banner).second) return;
  request_.warn(fmt::format(
      "{} prints '{}' on standard output, which was skipped; let only interactive shells print it",
      nodes, banner));
}

void Campaign::run_units(const std::vector<Unit>& units) {
  for (const Unit& unit : units) planned_ += unit.size();
  for (const Unit& unit : units) {
    if (is_stopped()) return;
    const DeviceSetRule& set = specification_.device_set(unit.front().device_set);
    if (set.kind == SetKind::Pairwise) {
      run_pairs(unit.front(), [&](const LaunchJob& job) { return draw(job); });
    } else {
      run_unit(unit);
    }
    if (!asked_ && !is_stopped()) ask();
  }
}

/// Another machine than the specification's must not be measured to the end.
void Campaign::ask() {
  asked_ = std::ranges::any_of(seen(), [](const auto& launch) { return !launch.records.empty(); });
  if (!asked_) return;
  refusal_ = fingerprint_error(specification_, seen(), request_.input(seen()).assumed);
}

void Campaign::run_unit(const Unit& unit) {
  const Unit jobs = possible(unit);
  const std::size_t first = begun_ + 1;
  const auto launches = mapped(jobs, [this](const LaunchJob& job) {
    return commands_of(specification_, request_.setup, job);
  });
  std::vector<std::string> doubtful;
  launch(launches, timeout_of(jobs, specification_.run.timeout_s),
         {.begun =
              [&](std::size_t i) {
                ++begun_;
                note(first + i, jobs[i], nullptr);
              },
          .ended =
              [&](std::size_t i, const LaunchResult& result) {
                end(first + i, jobs[i], result);
                if (seen().back().hung_or_crashed()) append(doubtful, jobs[i].nodes());
              }});
  // A node that has gone meanwhile must not cost a timeout in each of its launches.
  if (!is_stopped()) touch(doubtful);
}

std::vector<NumberedRound> Campaign::draw(const LaunchJob& job) const {
  const DeviceSetRule& set = specification_.device_set(job.device_set);
  const auto number =
      static_cast<std::uint64_t>(job.launch) * 100 + static_cast<std::uint64_t>(job.attempt) + 1;
  std::vector<NumberedRound> rounds;
  for (RoundOfPairs& pairs :
       fleet_rounds(request_.input(seen()).paths_of(job.nodes()),
                    static_cast<std::size_t>(set.partners), splitmix64(request_.seed ^ number))) {
    rounds.push_back({.number = rounds.size(), .pairs = std::move(pairs)});
  }
  return rounds;
}

std::vector<std::string> Campaign::left() const {
  return filtered(answering(request_.nodes),
                  [this](const std::string& node) { return !breaking_.contains(node); });
}

/// Whether the launch of a job, now or earlier, went wrong by a node that is now left out.
bool Campaign::is_broken(const LaunchJob& job) {
  const LaunchKey key = launch_key(job, job.instances.front());
  const auto made = std::ranges::find(seen().rbegin(), seen().rend(), key,
                                      [](const auto& line) { return launch_key(line); });
  if (made == seen().rend() || !made->hung_or_crashed()) return false;
  if (!made->unreachable.empty()) breaking_.insert(made->unreachable);
  return left().size() < job.nodes().size();
}

/// A launch of all nodes that are left; one that a node breaks is repeated without it.
void Campaign::run_pairs(LaunchJob job,
                         const std::function<std::vector<NumberedRound>(const LaunchJob&)>& draw) {
  constexpr int kMostRepeats = 3;
  if (is_made(job, seen())) {
    ++begun_;
    return;
  }
  for (int repeat = 0; repeat <= kMostRepeats && !is_stopped(); ++repeat) {
    add_silent(job);
    const std::vector<std::string> nodes = left();
    if (nodes.size() < 2) return;
    job.instances = {fleet_instance(nodes)};
    job.rounds = draw(job);
    if (job.rounds.empty()) return;
    if (repeat > 0) ++planned_;
    run_unit({job});
    if (!is_broken(job)) return;
  }
  add_silent(job);
}

/// Nodes that do not answer have a line of their own for each collective.
void Campaign::add_silent(LaunchJob job) {
  job.launch = 0;
  job.attempt = 0;
  job.purpose = Purpose::Measure;
  for (const auto& [node, how] : silent_) {
    job.instances = {{.name = node, .nodes = {node}}};
    const LaunchKey key = launch_key(job, job.instances.front());
    const auto key_of = [](const Observation& line) { return launch_key(line); };
    if (!any_has(seen(), key, key_of)) end(begun_, job, silence(node));
  }
}

void Campaign::confirm(const DeviceSetRule& set) {
  const JudgeInput input = request_.input(seen());
  const Screening screening = suspects_to_repeat(set, input);
  const std::vector<NodePath> paths = input.paths_of(request_.nodes);
  const std::vector<std::string> collectives = collectives_of(specification_, set.id);
  for (int launch = 0; launch < static_cast<int>(screening.again); ++launch) {
    const std::vector<NumberedRound> rounds =
        confirmation_rounds(screening, paths, request_.seed, static_cast<std::size_t>(launch));
    if (rounds.empty()) return;
    if (launch == 0) announce(screening, rounds.size() * screening.again * collectives.size());
    for (const std::string& collective : collectives) {
      ++planned_;
      run_pairs({.device_set = set.id,
                 .launch = launch,
                 .purpose = Purpose::Confirm,
                 .collective = collective},
                [&](const LaunchJob& job) { return among(rounds, request_.nodes, job.nodes()); });
    }
  }
}

/// Who is measured again, and how long that takes by the rounds that there were.
void Campaign::announce(const Screening& screening, std::size_t rounds) const {
  if (!request_.warn) return;
  double seconds = 0;
  std::size_t measured = 0;
  for (const Observation& line : seen()) {
    if (!line.failure.empty() || line.purpose == Purpose::Confirm) continue;
    int last = -1;
    for (const Record& row : line.records) last = std::max(last, row.round.value_or(-1));
    if (last < 0) continue;
    seconds += line.seconds;
    measured += static_cast<std::size_t>(last) + 1;
  }
  Words suspects;
  const Words nodes =
      mapped(screening.nodes, [&](const NodeFinding& each) { return request_.nodes[each.node]; });
  if (!nodes.empty()) suspects.push_back(hostlist(nodes));
  for (const UnitFinding& each : screening.units) suspects.push_back(path_name(each));
  if (suspects.empty()) suspects = {counted(screening.links.size(), "pair")};
  const double each = measured == 0 ? 0 : seconds / static_cast<double>(measured);
  request_.warn(fmt::format("low: {}; measured again beside good ones in {}, about {:.0f} s",
                            join(suspects, ", "), counted(screening.again, "launch"),
                            std::ceil(each * static_cast<double>(rounds))));
}

Unit Campaign::possible(const Unit& unit) {
  Unit jobs;
  for (const LaunchJob& job : unit) {
    if (folder_.has(job)) {
      ++begun_;
      continue;
    }
    const auto silent = std::ranges::find_if(
        job.nodes(), [this](const auto& node) { return silent_.contains(node); });
    if (silent == job.nodes().end()) {
      jobs.push_back(job);
    } else {
      end(++begun_, job, silence(*silent));
    }
  }
  return jobs;
}

void Campaign::end(std::size_t number, const LaunchJob& job, LaunchResult result) {
  if (!job.rounds.empty() && !result.failure.empty() && result.unreachable.empty()) {
    const int each = specification_.device_set(job.device_set).ranks_per_node;
    result.unreachable = breaking_node(result.log, job.nodes(), each);
  }
  note_banner(join(job.nodes(), " or "), result.banner);
  folder_.add(number, job, result);
  note(number, job, &result);
}

void Campaign::note(std::size_t number, const LaunchJob& job, const LaunchResult* result) const {
  if (!request_.note) return;
  std::string text = fmt::format("{}/{} {} {} {}, launch {}", number, planned_, job.device_set,
                                 job_name(job), job.collective, job.launch + 1);
  if (job.purpose != Purpose::Measure) text += fmt::format(" ({})", name(job.purpose));
  request_.note(text, result);
}

void Campaign::rerun() {
  while (!is_stopped()) {
    const std::vector<Unit> units =
        rerun_units(specification_, request_.nodes, judge_all(request_.input(seen())));
    if (units.empty()) return;
    run_units(units);
  }
}

void Campaign::take_turn(Unit& unit, int round, double seconds) {
  for (LaunchJob& job : unit) {
    job.launch = round;
    job.soak_s = seconds;
  }
  ++planned_;
  run_unit(unit);
  if (!asked_ && !is_stopped()) ask();
  if (request_.after_turn) request_.after_turn();
}

/// Round after round of all instances and collectives; between rounds nodes report their facts.
void Campaign::soak() {
  const double turn_s = specification_.soak->turn_s;
  Specification once = specification_;
  once.run.launches = 1;
  std::mt19937_64 random(request_.seed);
  const Clock::time_point start = Clock::now();
  const double before = soaked_s(seen(), request_.at_once);
  const auto left = [&] {
    return *request_.soak_s - before - Seconds(Clock::now() - start).count();
  };
  int round = 0;
  for (const Observation& line : seen()) round = std::max(round, line.launch + 1);
  for (; left() > 0 && !is_stopped(); ++round) {
    for (Unit& unit : plan_units(once, request_.nodes, random, true)) {
      const double seconds = std::min(turn_s, std::ceil(left()));
      if (seconds <= 0 || is_stopped()) break;
      take_turn(unit, round, seconds);
    }
    if (!is_stopped()) touch(answering(request_.nodes));
  }
}

}  // namespace busbar::judge
