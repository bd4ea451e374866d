// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/group_guard.hpp"
#include "base/text.hpp"
#include "base/units.hpp"

namespace busbar {

/// Of an environment: names and values.
using Variables = std::vector<std::pair<std::string, std::string>>;

/// How a command ended, and its output.
struct CommandResult {
  int exit_status = 0;  ///< 128 + the signal where one killed it
  int signal = 0;       ///< that killed it
  pid_t process = 0;
  std::string out{};
  std::string err{};
  bool timed_out = false;  ///< it was killed, with its process group
  bool not_found = false;  ///< no such program, or none that may be executed
  bool stopped = false;    ///< it was ended on request
  bool lingered = false;   ///< it was ended since it had printed its last line and went on
};

inline constexpr Seconds kCommandTimeout{10};
inline constexpr Seconds kNoTimeout{1e9};
/// As a shell reports a program that is not there.
inline constexpr int kNoProgram = 127;

/// How a command runs and is watched.
struct CommandControl {
  Seconds timeout = kCommandTimeout;
  /// Between SIGTERM and SIGKILL; 0: SIGKILL at once. With one the command also ends when this
  /// process is killed.
  Seconds grace{0};
  std::string last_line{};  ///< what its last line of stdout begins with; empty: not known
  Seconds linger{0};        ///< so long it may take to end after that line
  /// Its stdin has no end while it runs: MPICH's mpiexec dies of SIGPIPE now and then where it
  /// passes the end of its stdin to a program that has ended before.
  bool endless_stdin = false;
  /// It has this process's streams and process group: it can ask the user.
  bool foreground = false;
  Variables variables{{"LC_ALL", "C"}};  ///< beside ours; the language that parsers read
};

/// Runs a program, found by PATH where it has no slash, without a shell: in its own process group,
/// with LC_ALL=C, nothing on stdin, and stdout and stderr apart. Throws Error (Runtime) where the
/// system gives no process or pipe.
[[nodiscard]] CommandResult run_command(const std::string& program, const Words& arguments,
                                        Seconds timeout = kCommandTimeout);

/// What `work` returns, in a process of its own: nothing where it crashed, threw or took longer.
/// It forks: only for a program that has one thread and neither MPI nor CUDA started. Throws Error
/// (Runtime) where the system gives no process or pipe.
[[nodiscard]] std::optional<std::string> run_isolated(const std::function<std::string()>& work,
                                                      Seconds timeout = kCommandTimeout);

/// As main and exec have them: ended by a null pointer.
[[nodiscard]] std::vector<char*> pointers_to(Words& texts);

/// Becomes a program, found by PATH, with a stdin that has no end (see CommandControl). Returns the
/// error number where it cannot.
[[nodiscard]] int become_program(Words line);

/// True for an error of CommandLoop::start where the program is not there, or may not be executed.
[[nodiscard]] bool is_missing_program(int error);
/// True for an error of CommandLoop::start that may pass: too few processes, descriptors or bytes
/// are free.
[[nodiscard]] bool is_shortage(int error);

/// Commands that run at the same time, started and watched by one thread. Each takes two
/// descriptors, one in the foreground none.
class CommandLoop {
 public:
  /// A command that has ended, by the number it was started with.
  struct Ended {
    std::size_t number = 0;
    CommandResult result{};
  };

  CommandLoop();
  CommandLoop(const CommandLoop&) = delete;
  CommandLoop& operator=(const CommandLoop&) = delete;
  /// Ends what runs, as `stop` does.
  ~CommandLoop();

  /// Starts a program with its arguments, as run_command does: 0, or the error number.
  [[nodiscard]] int start(std::size_t number, Words line, const CommandControl& control);
  [[nodiscard]] std::size_t running() const { return children_.size(); }
  /// Ends all that run, as their timeout does.
  void stop();
  /// Commands that have ended.
  [[nodiscard]] std::vector<Ended> collect();
  /// The same after a tick, or after some output.
  [[nodiscard]] std::vector<Ended> wait();

 private:
  struct Child;

  void read_pipes();

  std::unique_ptr<GroupGuard> guard_;  ///< of commands with a grace
  std::vector<std::unique_ptr<Child>> children_;
  Clock::time_point next_look_{};
};

}  // namespace busbar
