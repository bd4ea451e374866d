// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "topo/probes/command.hpp"

namespace busbar::topo {

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

}  // namespace busbar::topo
