// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/command_loop.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>

#include <fmt/format.h>

namespace busbar::topo {
namespace {

/// How often ends and times are looked at; a command that has closed its pipes is near its end.
constexpr int kTickMs = 20;
constexpr int kNearEndMs = 1;

template <std::size_t N>
bool is_one_of(int error, const std::array<int, N>& errors) {
  return std::find(errors.begin(), errors.end(), error) != errors.end();
}

}  // namespace

bool is_missing_program(int error) {
  return is_one_of(error, std::array{ENOENT, EACCES, ENOTDIR, ENOEXEC, ELOOP, ENAMETOOLONG});
}

bool is_shortage(int error) { return is_one_of(error, std::array{EAGAIN, ENOMEM, EMFILE, ENFILE}); }

CommandLoop::~CommandLoop() {
  for (const Child& child : children_) child.process->end();
  while (!children_.empty()) static_cast<void>(wait());
}

int CommandLoop::start(std::size_t number, const std::vector<std::string>& line,
                       const CommandControl& control) {
  std::string in = "/dev/null";
  if (control.endless_stdin) {
    const int error = endless_.read.is_open() ? 0 : endless_.open();
    if (error != 0) return error;
    // Opened anew, so that one that makes its stdin non-blocking does so for itself only.
    in = fmt::format("/proc/self/fd/{}", endless_.read.number());
  }
  auto process = std::make_unique<ChildProcess>(control);
  const int error = process->start(line, in);
  if (error == 0) children_.push_back({.number = number, .process = std::move(process)});
  return error;
}

std::vector<CommandLoop::Ended> CommandLoop::wait() {
  read_pipes();
  const bool look_at_all = Clock::now() >= next_look_;
  if (look_at_all) next_look_ = Clock::now() + std::chrono::milliseconds(kTickMs);
  std::vector<Ended> ended;
  std::erase_if(children_, [&](Child& child) {
    const bool look = look_at_all || !child.process->has_open_pipe();
    if (!look || !child.process->has_ended()) return false;
    ended.push_back({.number = child.number, .result = std::move(child.process->result())});
    return true;
  });
  return ended;
}

void CommandLoop::read_pipes() {
  int milliseconds = kTickMs;
  std::vector<pollfd> pipes;
  pipes.reserve(2 * children_.size());
  for (const Child& child : children_) {
    if (!child.process->has_open_pipe()) milliseconds = kNearEndMs;
    for (const pollfd& pipe : child.process->pipes()) pipes.push_back(pipe);
  }
  // poll passes over negative numbers: with all pipes closed it only waits.
  if (::poll(pipes.data(), pipes.size(), milliseconds) <= 0) return;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if (pipes[2 * i].revents != 0) children_[i].process->read_out();
    if (pipes[2 * i + 1].revents != 0) children_[i].process->read_err();
  }
}

}  // namespace busbar::topo
