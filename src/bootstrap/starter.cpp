// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/starter.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <map>
#include <optional>
#include <random>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "bootstrap/launcher.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {
namespace {

/// Where rank 0 will listen: at a port that is free here now, or on another host at one that
/// hardly anybody has.
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
  return variables;
}

Words words_of(const RankStart& start, const Variables& variables, int rank) {
  if (start.words.empty()) return start.program;
  const auto hosts = std::max<std::size_t>(1, start.hosts.size());
  const auto host =
      static_cast<std::size_t>(rank) / (static_cast<std::size_t>(start.ranks) / hosts);
  return fill_words(start.words,
                    {{"host", start.hosts.empty() ? "localhost" : start.hosts[host]},
                     {"rank", fmt::format("{}", rank)}},
                    {{"{env}", env_words(variables)}, {"{program}", start.program}});
}

sigset_t watched_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

[[noreturn]] void become(Words words, const Variables& variables, pid_t parent) {
  // A rank never outlives who started it.
  static_cast<void>(prctl(PR_SET_PDEATHSIG, SIGKILL));
  if (getppid() != parent) std::_Exit(exit_code(Status::Runtime));
  sigset_t none{};
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execvp(pointers.front(), pointers.data());
  constexpr int kNoProgram = 127;
  std::_Exit(kNoProgram);
}

/// The processes of the ranks, until the last has ended.
class Ranks {
 public:
  explicit Ranks(const RankStart& start) : start_(start) {}

  void begin() {
    const Address place = meeting_place(start_);
    const std::string token = make_token(start_);
    const std::string job = random_word();  // no secret
    const pid_t parent = getpid();
    for (int rank = 0; rank < start_.ranks; ++rank) {
      const Variables variables = variables_of(start_, place, token, job, rank);
      Words words = words_of(start_, variables, rank);
      const pid_t process = fork();
      if (process == 0) {
        become(std::move(words), start_.words.empty() ? variables : Variables{}, parent);
      }
      if (process < 0) {
        signal_all(SIGKILL);
        throw system_failure(fmt::format("starting rank {}", rank), errno);
      }
      running_.emplace(process, rank);
    }
  }

  int wait() {
    constexpr timespec kTick{.tv_sec = 0, .tv_nsec = 100'000'000};
    const sigset_t signals = watched_signals();
    while (!running_.empty()) {
      const int signal = sigtimedwait(&signals, nullptr, &kTick);
      if (signal > 0 && signal != SIGCHLD) end_soon(signal, Seconds{0});
      reap();
      hasten();
    }
    return code_;
  }

 private:
  void reap() {
    int status = 0;
    for (pid_t process = 0; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto known = running_.find(process);
      if (known == running_.end()) continue;
      const int rank = known->second;
      running_.erase(known);
      note(rank, process, status);
    }
  }

  void note(int rank, pid_t process, int status) {
    // A rank that fails by itself reports why, and most others notice and end.
    constexpr Seconds kWhile{0.1};
    constexpr int kNoProgram = 127;
    const bool ended_by_us = last_signal_ != 0;
    if (WIFSIGNALED(status)) {
      if (!ended_by_us) {
        start_.notice(fmt::format("rank {} (process {}) was ended by signal {}: {}", rank, process,
                                  WTERMSIG(status), strsignal(WTERMSIG(status))));
      }
      fail(exit_code(Status::Runtime), kWhile);
    } else if (WEXITSTATUS(status) != 0) {
      if (WEXITSTATUS(status) == kNoProgram && !ended_by_us && code_ == 0) {
        start_.notice(fmt::format("rank {} could not be started: no such program", rank));
      }
      fail(WEXITSTATUS(status), kWhile);
    }
  }

  void fail(int code, Seconds patience) {
    if (code_ == 0) code_ = code;
    if (!end_at_) end_at_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
  }

  void end_soon(int signal, Seconds patience) {
    constexpr int kSignalled = 128;
    fail(kSignalled + signal, patience);
  }

  /// Those that go on though another failed: first asked, then ended.
  void hasten() {
    constexpr std::chrono::seconds kGrace{2};
    if (!end_at_ || Clock::now() < *end_at_ || last_signal_ == SIGKILL) return;
    last_signal_ = last_signal_ == 0 ? SIGTERM : SIGKILL;
    signal_all(last_signal_);
    end_at_ = Clock::now() + kGrace;
  }

  void signal_all(int signal) const {
    for (const auto& [process, rank] : running_) kill(process, signal);
  }

  const RankStart& start_;
  std::map<pid_t, int> running_{};
  int code_ = 0;
  int last_signal_ = 0;
  std::optional<Clock::time_point> end_at_{};
};

}  // namespace

int start_ranks(const RankStart& start) {
  const sigset_t signals = watched_signals();
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  Ranks ranks(start);
  ranks.begin();
  return ranks.wait();
}

}  // namespace busbar
