// SPDX-License-Identifier: BSD-3-Clause
#include "format/progress_line.hpp"

#include <cstdio>
#include <filesystem>
#include <unistd.h>

#include "base/text.hpp"

namespace busbar {
namespace {

struct Process {
  std::string name;
  int parent = 0;
};

/// Name and parent of a process by /proc; parent 0 where it cannot be read.
Process process(int pid) {
  const std::string line = first_line_of(fmt::format("/proc/{}/stat", pid));
  const std::size_t open = line.find('(');
  const std::size_t close = line.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return {};
  const Words rest = split_words(line.substr(close + 1));  // the state, the parent, ...
  return {.name = line.substr(open + 1, close - open - 1),
          .parent = rest.size() > 1 ? to_number<int>(rest[1]).value_or(0) : 0};
}

bool is_launcher(const std::string& name) {
  constexpr std::array kKnown{"mpiexec", "mpirun", "hydra", "orterun", "prterun", "srun"};
  return std::ranges::any_of(kKnown, [&](const char* known) { return name.starts_with(known); });
}

bool has_terminal(int pid) {
  std::error_code error;
  const std::string target =
      std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", pid), error);
  return !error && (target.starts_with("/dev/pts/") || target.starts_with("/dev/tty"));
}

/// A launcher gives its ranks pipes and copies them to its own stderr: look at that.
bool stderr_reaches_a_terminal() {
  constexpr int kGenerations = 4;
  if (isatty(STDERR_FILENO) == 1) return true;
  int pid = getppid();
  for (int i = 0; i < kGenerations && pid > 1; ++i) {
    const Process ancestor = process(pid);
    if (!is_launcher(ancestor.name)) return false;
    if (has_terminal(pid)) return true;
    pid = ancestor.parent;
  }
  return false;
}

}  // namespace

ProgressLine::ProgressLine() : enabled_(stderr_reaches_a_terminal()) {}

void ProgressLine::show(const std::string& text) {
  if (!enabled_) return;
  fmt::print(stderr, "\r\x1b[K{}", text);
  (void)std::fflush(stderr);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\x1b[K");
  (void)std::fflush(stderr);
  shown_ = false;
}

}  // namespace busbar
