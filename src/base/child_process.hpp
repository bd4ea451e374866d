// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// How a command ended and what it said.
struct CommandResult {
  int exit_status = 0;  ///< 128 + the signal where one killed it
  std::string out{};
  std::string err{};
  bool timed_out = false;  ///< it was killed, with its process group
  bool not_found = false;  ///< no such program, or none that may be executed
  bool stopped = false;    ///< it was ended because somebody asked for it
  bool lingered = false;   ///< it was ended since it had said its last line, and did not end itself
};

inline constexpr Seconds kCommandTimeout{10};

/// How a command is watched.
struct CommandControl {
  Seconds timeout = kCommandTimeout;
  Seconds grace{0};         ///< between SIGTERM and SIGKILL; 0: SIGKILL at once
  std::string last_line{};  ///< what its last line of stdout begins with; empty: not known
  Seconds linger{0};        ///< so long it may take to end after that line
  /// Its stdin has no end while it runs: MPICH's mpiexec dies of SIGPIPE now and then where it
  /// passes the end of its stdin to a program that has ended before.
  bool endless_stdin = false;
  const std::atomic<bool>* stop =
      nullptr;  ///< ends it, as its timeout does, when this becomes true
};

/// Runs a program, found by PATH where it has no slash, without a shell: in its own process group,
/// with LC_ALL=C, nothing on stdin, and stdout and stderr apart. Throws Error (Runtime) where the
/// system gives no process or pipe.
[[nodiscard]] CommandResult run_command(const std::string& program,
                                        const std::vector<std::string>& arguments,
                                        Seconds timeout = kCommandTimeout);

/// What `work` returns, in a process of its own: nothing where it crashed, threw or took longer.
/// It forks: only for a program that has one thread and neither MPI nor CUDA started. Throws Error
/// (Runtime) where the system gives no process or pipe.
[[nodiscard]] std::optional<std::string> run_isolated(const std::function<std::string()>& work,
                                                      Seconds timeout = kCommandTimeout);

/// Owns an open file.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void take(int number);
  /// Gives it away.
  [[nodiscard]] int release() { return std::exchange(number_, -1); }
  void close();

 private:
  int number_ = -1;
};

/// Both ends close at an exec.
struct Pipe {
  FileDescriptor read{};
  FileDescriptor write{};

  /// 0, or the error number.
  [[nodiscard]] int open();
};

/// A program that runs, the leader of its process group; it never blocks its caller.
class ChildProcess {
 public:
  explicit ChildProcess(CommandControl control) : control_(std::move(control)) {}

  /// Starts it, with `stdin_path` opened as its stdin: 0, or the error number.
  [[nodiscard]] int start(const std::vector<std::string>& line, const std::string& stdin_path);

  /// Its stdout and stderr for poll(); a closed one has a negative number.
  [[nodiscard]] std::array<pollfd, 2> pipes() const;
  [[nodiscard]] bool has_open_pipe() const { return out_.is_open() || err_.is_open(); }
  /// Takes what stdout or stderr hold now.
  void read_out();
  void read_err() { static_cast<void>(drain(err_, result_.err)); }

  /// Ends it where its time is over; true when it has ended and left no zombie.
  [[nodiscard]] bool has_ended();
  /// Ends it as `stop` does.
  void end() { ended_from_outside_ = true; }
  [[nodiscard]] CommandResult& result() { return result_; }

 private:
  enum class Phase { Running, Terminating, Killed };

  [[nodiscard]] static bool drain(FileDescriptor& pipe, std::string& text);
  [[nodiscard]] bool is_stopped() const;
  [[nodiscard]] bool has_exited() const;
  [[nodiscard]] bool has_last_line() const;
  void end_if_due();
  void kill_group();
  void drain_pipes();
  [[nodiscard]] int reap() const;

  CommandControl control_;
  Phase phase_ = Phase::Running;
  bool ended_from_outside_ = false;
  bool said_last_line_ = false;
  Clock::time_point phase_end_{};  ///< when this phase is over at the latest
  std::size_t said_ = 0;           ///< bytes of stdout that are the command's own
  pid_t process_ = 0;
  FileDescriptor out_{};
  FileDescriptor err_{};
  CommandResult result_{};
};

/// True for an error of `start` that says that the program is not there, or may not be executed.
[[nodiscard]] bool is_missing_program(int error);
/// True for an error of `start` that may pass: too few processes, descriptors or bytes are free.
[[nodiscard]] bool is_shortage(int error);

/// Commands that run at the same time, started and watched by one thread. Each takes two
/// descriptors; an endless stdin takes two for all.
class CommandLoop {
 public:
  /// A command that has ended, by the number it was started with.
  struct Ended {
    std::size_t number = 0;
    CommandResult result{};
  };

  CommandLoop() = default;
  CommandLoop(const CommandLoop&) = delete;
  CommandLoop& operator=(const CommandLoop&) = delete;
  /// Ends what runs, as `stop` does.
  ~CommandLoop();

  /// Starts a program with its arguments, as run_command does: 0, or the error number.
  [[nodiscard]] int start(std::size_t number, const std::vector<std::string>& line,
                          const CommandControl& control);
  [[nodiscard]] std::size_t running() const { return children_.size(); }
  /// Waits a tick at most for output or for an end; commands that have ended.
  [[nodiscard]] std::vector<Ended> wait();

 private:
  struct Child {
    std::size_t number = 0;
    std::unique_ptr<ChildProcess> process{};
  };

  void read_pipes();

  std::vector<Child> children_{};
  Pipe endless_{};  ///< its write end stays open, and nothing is written
  Clock::time_point next_look_{};
};

}  // namespace busbar
