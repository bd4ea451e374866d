// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "topo/probes/child_process.hpp"

namespace busbar::topo {

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

}  // namespace busbar::topo
