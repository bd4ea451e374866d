// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/starter.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <random>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/host.hpp"
#include "base/interrupt_watch.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {
namespace {

/// Where rank 0 will listen: here at a port that is free now, elsewhere at one that few have.
Address meeting_place(const RankStart& start) {
  if (start.words.empty()) {
    const Socket probe = listen_at({.host = "127.0.0.1", .port = 0});
    return {.host = "127.0.0.1", .port = probe.own_port()};
  }
  constexpr std::uint16_t kFirst = 20000;
  constexpr std::uint16_t kLast = 29999;
  std::random_device random;
  return {.host = start.hosts.empty() ? "localhost" : start.hosts.front(),
          .port = std::uniform_int_distribution<std::uint16_t>(kFirst, kLast)(random)};
}

std::string random_word() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Ranks inherit the user's token. On a command line anybody could read one, so that ranks that are
/// started by words have no other.
std::string make_token(const RankStart& start) {
  const bool inherited = !start.words.empty() || std::getenv("BUSBAR_TOKEN") != nullptr;
  return inherited ? "" : random_word();
}

Variables variables_of(const RankStart& start, const Address& place, const std::string& token,
                       const std::string& job, int rank) {
  Variables variables{{"BUSBAR_JOB", job},
                      {"BUSBAR_RANK", fmt::format("{}", rank)},
                      {"BUSBAR_RANKS", fmt::format("{}", start.ranks)},
                      {"BUSBAR_RENDEZVOUS", place.text()}};
  if (!token.empty()) variables.emplace_back("BUSBAR_TOKEN", token);
  if (start.words.empty()) variables.emplace_back("BUSBAR_STARTER", fmt::format("{}", getpid()));
  return variables;
}

Words words_of(const RankStart& start, const Variables& variables, int rank) {
  if (start.words.empty()) return start.program;
  const auto hosts = std::max<std::size_t>(1, start.hosts.size());
  const auto host =
      static_cast<std::size_t>(rank) / (static_cast<std::size_t>(start.ranks) / hosts);
  return fill_words(
      start.words,
      {{"host", start.hosts.empty() ? "localhost" : start.hosts[host]},
       {"rank", fmt::format("{}", rank)}},
      {{"{env}", env_words(variables)}, {"{program}", encoded_program(start.program)}});
}

class Ranks {
 public:
  explicit Ranks(const RankStart& start) : start_(start) {}

  int run() {
    begin();
    constexpr Seconds kTick{0.1};
    while (loop_.running() > 0) {
      if (const int signal = watch_.wait(kTick); signal != 0) fail(kSignalled + signal, Seconds{0});
      if (end_at_ && Clock::now() >= *end_at_) loop_.stop();
      for (const auto& [rank, result] : loop_.collect()) note(rank, result);
    }
    return code_;
  }

 private:
  static constexpr int kSignalled = 128;

  void begin() {
    const Address place = meeting_place(start_);
    const std::string token = make_token(start_);
    const std::string job = random_word();  // no secret
    for (int rank = 0; rank < start_.ranks && code_ == 0; ++rank) {
      const Variables variables = variables_of(start_, place, token, job, rank);
      const auto number = static_cast<std::size_t>(rank);
      const int error = loop_.start(number, words_of(start_, variables, rank),
                                    {.timeout = kNoTimeout,
                                     .grace = kGrace,
                                     .foreground = true,
                                     .variables = start_.words.empty() ? variables : Variables{}});
      if (is_missing_program(error)) {
        note(number, {.exit_status = kNoProgram});
      } else if (error != 0) {
        throw system_failure(fmt::format("starting rank {}", rank), error);
      }
    }
  }

  /// A rank that fails by itself reports why, and most others notice and end.
  void note(std::size_t rank, const CommandResult& result) {
    constexpr Seconds kWhile{0.1};
    const bool ended_by_us = result.stopped || watch_.wait() != 0;
    if (result.signal != 0) {
      if (!ended_by_us) {
        start_.notice(fmt::format("rank {} (process {}) was ended by signal {}: {}", rank,
                                  result.process, result.signal, strsignal(result.signal)));
      }
      fail(exit_code(Status::Runtime), kWhile);
    } else if (result.exit_status != 0) {
      if (result.exit_status == kNoProgram && !ended_by_us && code_ == 0) {
        start_.notice(fmt::format("rank {} could not be started: no such program", rank));
      }
      fail(result.exit_status, kWhile);
    }
  }

  void fail(int code, Seconds patience) {
    if (code_ == 0) code_ = code;
    if (!end_at_) end_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  }

  const RankStart& start_;
  InterruptWatch watch_{};
  CommandLoop loop_{};
  int code_ = 0;
  std::optional<Clock::time_point> end_at_{};
};

}  // namespace

int start_ranks(const RankStart& start) { return Ranks(start).run(); }

void require_variables(const Variables& wanted, std::span<char* const> arguments) {
  const auto missing = std::ranges::find_if(wanted, [](const auto& variable) {
    const char* value = std::getenv(variable.first.c_str());
    return value == nullptr || variable.second != value;
  });
  if (missing == wanted.end()) return;
  constexpr const char* kAnew = "BUSBAR_STARTED_ANEW";
  const std::string own = fmt::format("{}", getpid());
  const char* before = std::getenv(kAnew);
  std::string why = "it is gone after a new start";
  if (before == nullptr || before != own) {
    for (const auto& [name, value] : wanted) setenv(name.c_str(), value.c_str(), 1);
    setenv(kAnew, own.c_str(), 1);
    Words words = mapped<std::string>(arguments, encoded_word);
    execv(own_program().c_str(), pointers_to(words).data());
    why = std::strerror(errno);
  }
  throw usage_error("--env {}={}: the program cannot have it on {}: {}", missing->first,
                    missing->second, host_name(), why);
}

}  // namespace busbar
