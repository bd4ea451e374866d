// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/command.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::topo {
namespace {

/// Enough for any machine's answer; what a program says beyond is read and dropped.
constexpr std::size_t kMostOutput = std::size_t{16} << 20U;
/// How often an exit is looked for while a grandchild holds the pipes open.
constexpr int kTickMs = 20;
/// A process within an uninterruptible driver call outlives SIGKILL: it is not waited for for ever.
constexpr Seconds kPatience{1};

class FileDescriptor {
 public:
  FileDescriptor() = default;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void take(int number) {
    close();
    number_ = number;
  }
  void close() {
    if (is_open()) ::close(std::exchange(number_, -1));
  }

 private:
  int number_ = -1;
};

/// Both ends close at an exec.
struct Pipe {
  FileDescriptor read{};
  FileDescriptor write{};

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw system_failure("cannot make a pipe for a command", errno);
    }
    read.take(ends[0]);
    write.take(ends[1]);
  }
};

/// What posix_spawn is told, and must free.
class SpawnPlan {
 public:
  /// Nothing is to be read where `in` is negative.
  SpawnPlan(int in, int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    if (in < 0) {
      posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    } else {
      posix_spawn_file_actions_adddup2(&actions_, in, STDIN_FILENO);
    }
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    sigset_t none{};
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  /// 0 or an error number.
  [[nodiscard]] int spawn(pid_t& child, std::vector<std::string> arguments,
                          std::vector<std::string> environment) const {
    const auto pointers = [](std::vector<std::string>& texts) {
      std::vector<char*> out;
      for (std::string& text : texts) out.push_back(text.data());
      out.push_back(nullptr);
      return out;
    };
    return ::posix_spawnp(&child, arguments.front().c_str(), &actions_, &attributes_,
                          pointers(arguments).data(), pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

/// Ours, but in the language that the parsers read.
std::vector<std::string> english_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (!std::string_view(*variable).starts_with("LC_ALL=")) variables.emplace_back(*variable);
  }
  variables.emplace_back("LC_ALL=C");
  return variables;
}

/// Takes what a pipe holds; closes it at its end.
void drain(FileDescriptor& pipe, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(pipe.number(), buffer.data(), buffer.size());
  if (count > 0) {
    const std::size_t room = kMostOutput - std::min(kMostOutput, text.size());
    text.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
  } else if (count == 0 || errno != EINTR) {
    pipe.close();
  }
}

/// A started program, the leader of its process group.
class Child {
 public:
  Child(pid_t process, FileDescriptor& out, FileDescriptor& err, const CommandControl& control)
      : process_(process), out_(out), err_(err), control_(control) {}

  [[nodiscard]] CommandResult finish() {
    CommandResult result;
    Clock::time_point end = Clock::now() + ticks_of(control_.timeout);
    bool done = false;
    while (!exited() && !is_stopped() && Clock::now() < end) {
      read_some(result, kTickMs);
      if (done || !has_last_line(result.out)) continue;
      done = true;
      end = std::min(end, Clock::now() + ticks_of(control_.linger));
    }
    const bool killed = !exited();
    drain_pipes(result);
    // What a launcher says of its own end (Hydra on stdout) is none of the command's output.
    const std::size_t said = result.out.size();
    if (killed) {
      (is_stopped() ? result.stopped : done ? result.lingered : result.timed_out) = true;
      kill_group(result);
      drain_pipes(result);
      if (control_.grace > Seconds{0}) result.out.resize(said);
    }
    result.exit_status = reap();
    return result;
  }

 private:
  static Clock::duration ticks_of(Seconds time) {
    constexpr Seconds kLongest{1e6};
    return std::chrono::duration_cast<Clock::duration>(std::min(time, kLongest));
  }

  [[nodiscard]] bool is_stopped() const { return control_.stop != nullptr && *control_.stop; }

  /// What is still in the pipes; a grandchild may hold them open, and even go on writing.
  void drain_pipes(CommandResult& result) {
    const Clock::time_point last = Clock::now() + ticks_of(kPatience);
    while (read_some(result, 0) && Clock::now() < last) {
    }
  }

  /// Whole, with its line end.
  [[nodiscard]] bool has_last_line(const std::string& out) const {
    if (control_.last_line.empty() || !out.ends_with('\n')) return false;
    if (out.size() < 2) return false;
    const std::size_t before = out.rfind('\n', out.size() - 2);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return out.compare(begin, control_.last_line.size(), control_.last_line) == 0;
  }

  /// A launcher that is asked to end ends what it has started elsewhere.
  void kill_group(CommandResult& result) {
    if (control_.grace > Seconds{0}) ::kill(-process_, SIGTERM);
    const Clock::time_point last = Clock::now() + ticks_of(control_.grace);
    while (!exited() && Clock::now() < last) read_some(result, kTickMs);
    ::kill(-process_, SIGKILL);
  }

  /// It stays a zombie until reap(), so that nobody else gets its number.
  [[nodiscard]] bool exited() const {
    siginfo_t info{};
    const int failed =
        ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
    return failed != 0 || info.si_pid == process_;
  }

  /// False where nothing came within the time.
  bool read_some(CommandResult& result, int milliseconds) {
    // poll passes over negative numbers: with both pipes closed it only waits, and then for an exit
    // that is near.
    const bool open = out_.is_open() || err_.is_open();
    std::array<pollfd, 2> pipes = {{{.fd = out_.number(), .events = POLLIN, .revents = 0},
                                    {.fd = err_.number(), .events = POLLIN, .revents = 0}}};
    if (::poll(pipes.data(), pipes.size(), open ? milliseconds : std::min(milliseconds, 1)) <= 0) {
      return false;
    }
    if (pipes[0].revents != 0) drain(out_, result.out);
    if (pipes[1].revents != 0) drain(err_, result.err);
    return true;
  }

  [[nodiscard]] int reap() const {
    constexpr int kKilledBy = 128;
    const Clock::time_point last = Clock::now() + ticks_of(kPatience);
    int status = 0;
    pid_t reaped = ::waitpid(process_, &status, WNOHANG);
    while (reaped == 0 && Clock::now() < last) {
      ::poll(nullptr, 0, 1);
      reaped = ::waitpid(process_, &status, WNOHANG);
    }
    if (reaped != process_) return kKilledBy + SIGKILL;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kKilledBy + WTERMSIG(status);
  }

  pid_t process_;
  FileDescriptor& out_;
  FileDescriptor& err_;
  const CommandControl& control_;
};

}  // namespace

CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                          Seconds timeout) {
  return run_command(program, arguments, CommandControl{.timeout = timeout});
}

CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                          const CommandControl& control) {
  constexpr std::array kNotThere = {ENOENT, EACCES, ENOTDIR, ENOEXEC, ELOOP, ENAMETOOLONG};
  constexpr int kShellsNotFound = 127;
  std::optional<Pipe> in;  // its write end stays open, and nothing is written
  if (control.endless_stdin) in.emplace();
  Pipe out;
  Pipe err;
  std::vector<std::string> line = {program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  pid_t process = 0;
  const int failure = SpawnPlan(in ? in->read.number() : -1, out.write.number(), err.write.number())
                          .spawn(process, line, english_environment());
  if (std::find(kNotThere.begin(), kNotThere.end(), failure) != kNotThere.end()) {
    return {.exit_status = kShellsNotFound,
            .err = std::generic_category().message(failure),
            .not_found = true};
  }
  if (failure != 0) throw system_failure(fmt::format("cannot start {}", program), failure);
  out.write.close();
  err.write.close();
  return Child(process, out.read, err.read, control).finish();
}

}  // namespace busbar::topo
