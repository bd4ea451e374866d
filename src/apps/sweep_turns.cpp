// SPDX-License-Identifier: BSD-3-Clause
#include "apps/sweep_turns.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "base/shuffle.hpp"
#include "bootstrap/launcher.hpp"
#include "format/output_file.hpp"
#include "judge/run/launch_queue.hpp"

namespace busbar {

Words sweep_command(const Words& command, const TurnLaunch& launch) {
  Words words = env_words(launch.variables);
  append(words, command);
  append(words, launch.options);
  for (const auto& [name, value] : launch.variables) {
    append(words, Words{"--env", encoded_word(name + "=" + value)});
  }
  append(words, Words{"--csv", "-"});
  return words;
}

SweepTurns::End SweepTurns::launch(const TurnLaunch& launch, const std::string& path,
                                   Counts& counts) {
  judge::LaunchResult result;
  const std::vector<judge::LaunchCommands> one{{sweep_command(command_, launch)}};
  const auto failure = judge::run_launches(
      one, {.timeout = timeout_, .at_once = 1, .stop = [&] { return watch_.wait() != 0; }},
      {.begun = {}, .ended = [&](std::size_t, const judge::LaunchResult& end) { result = end; }});
  progress_.clear();
  if (failure) throw Error(Status::Runtime, "sweep: " + *failure);
  if (result.stopped || watch_.wait() != 0) return End::Stopped;
  (result.failure.empty() ? counts.good : counts.bad) += 1;
  if (result.failure.empty()) {
    OutputFile(path, "-o", OutputFile::Mode::New).append(result.csv);
    return End::Good;
  }
  failures_.push_back({.variant = launch.text, .turn = complete_ + 1, .reason = result.failure});
  fmt::print(stderr, "busbar: {}: turn {}: {}\n", launch.text, complete_ + 1,
             one_line(result.failure));
  return End::Bad;
}

std::vector<std::size_t> SweepTurns::next_order() {
  std::vector<std::size_t> order(counts_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t i) { return counts_[i].good == 0 && counts_[i].bad > 1; });
  if (order.empty() || order.front() != 0) return {};
  shuffle(order, random_);
  return order;
}

bool SweepTurns::run(std::span<const TurnLaunch> launches, std::size_t turns, const Take& take,
                     const std::function<void()>& after_turn) {
  complete_ = 0;
  failures_.clear();
  counts_.assign(launches.size(), {});
  while (complete_ < turns) {
    const std::vector<std::size_t> order = next_order();
    if (order.empty()) break;
    std::vector<std::pair<std::size_t, std::string>> made;
    for (const std::size_t i : order) {
      progress_.show(fmt::format("turn {}/{}: {}", complete_ + 1, turns, launches[i].text));
      const std::string path = fmt::format("{}/{:04}.csv", folder_, ++made_);
      const End end = launch(launches[i], path, counts_[i]);
      if (end == End::Stopped) return false;
      if (end == End::Good) made.emplace_back(i, path);
    }
    ++complete_;
    for (const auto& [i, path] : made) take(i, path);
    after_turn();
  }
  return true;
}

}  // namespace busbar
