// SPDX-License-Identifier: BSD-3-Clause
#include "base/child_process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string_view>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {
namespace {

/// Enough for any machine's answer; what a program says beyond is read and dropped.
constexpr std::size_t kMostOutput = std::size_t{16} << 20U;
/// A process within an uninterruptible driver call outlives SIGKILL: it is not waited for for ever.
constexpr Seconds kPatience{1};

Clock::time_point after(Seconds time) {
  constexpr Seconds kLongest{1e6};
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(time, kLongest));
}

/// The file actions and attributes of posix_spawn.
class SpawnPlan {
 public:
  SpawnPlan(const std::string& in, int out, int err) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
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

/// The child of run_isolated.
[[noreturn]] void work_and_exit(const std::function<std::string()>& work, int out,
                                Seconds timeout) {
  for (const int number : {SIGABRT, SIGALRM, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGSEGV}) {
    std::signal(number, SIG_DFL);
  }
  sigset_t none{};
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::alarm(static_cast<unsigned>(std::max(timeout.count(), 1.0)));
  const rlimit no_core{};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);  // what an assertion says
  try {
    const std::string text = work();
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t count = ::write(out, text.data() + done, text.size() - done);
      if (count <= 0) ::_exit(EXIT_FAILURE);
      done += static_cast<std::size_t>(count);
    }
  } catch (...) {
    ::_exit(EXIT_FAILURE);
  }
  ::_exit(EXIT_SUCCESS);
}

}  // namespace

void FileDescriptor::take(int number) {
  close();
  number_ = number;
}

void FileDescriptor::close() {
  if (is_open()) ::close(release());
}

int Pipe::open() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return errno;
  read.take(ends[0]);
  write.take(ends[1]);
  return 0;
}

int ChildProcess::start(const std::vector<std::string>& line, const std::string& stdin_path) {
  Pipe out;
  Pipe err;
  int error = out.open();
  if (error == 0) error = err.open();
  if (error == 0) {
    error = SpawnPlan(stdin_path, out.write.number(), err.write.number())
                .spawn(process_, line, english_environment());
  }
  if (error != 0) return error;
  for (const auto& [from, to] : {std::pair{&out.read, &out_}, std::pair{&err.read, &err_}}) {
    to->take(from->release());
    ::fcntl(to->number(), F_SETFL, O_NONBLOCK);  // of our end only
  }
  phase_end_ = after(control_.timeout);
  return 0;
}

std::array<pollfd, 2> ChildProcess::pipes() const {
  return {{{.fd = out_.number(), .events = POLLIN, .revents = 0},
           {.fd = err_.number(), .events = POLLIN, .revents = 0}}};
}

void ChildProcess::read_out() {
  static_cast<void>(drain(out_, result_.out));
  if (phase_ != Phase::Running || said_last_line_ || !has_last_line()) return;
  said_last_line_ = true;
  phase_end_ = std::min(phase_end_, after(control_.linger));
}

bool ChildProcess::has_ended() {
  if (phase_ == Phase::Running) {
    if (has_exited()) {
      drain_pipes();
      result_.exit_status = reap();
      return true;
    }
    end_if_due();
  }
  if (phase_ == Phase::Terminating && (has_exited() || Clock::now() >= phase_end_)) kill_group();
  if (phase_ != Phase::Killed || (!has_exited() && Clock::now() < phase_end_)) return false;
  drain_pipes();
  // What a launcher says of its own end (Hydra on stdout) is none of the command's output.
  if (control_.grace > Seconds{0}) result_.out.resize(said_);
  result_.exit_status = reap();
  return true;
}

/// Takes what a pipe holds, a buffer at a time, and closes it at its end; false: nothing is left.
bool ChildProcess::drain(FileDescriptor& pipe, std::string& text) {
  std::array<char, 65536> buffer{};
  if (!pipe.is_open()) return false;
  const ssize_t count = ::read(pipe.number(), buffer.data(), buffer.size());
  if (count > 0) {
    const std::size_t room = kMostOutput - std::min(kMostOutput, text.size());
    text.append(buffer.data(), std::min(static_cast<std::size_t>(count), room));
    return true;
  }
  if (count < 0 && errno == EINTR) return true;
  if (count == 0 || errno != EAGAIN) pipe.close();
  return false;
}

/// What is still in the pipes; a grandchild may hold them open, and even go on writing.
void ChildProcess::drain_pipes() {
  constexpr int kMostBuffers = 32;  // more than a pipe can hold
  for (int i = 0; i < kMostBuffers && drain(out_, result_.out); ++i) {
  }
  for (int i = 0; i < kMostBuffers && drain(err_, result_.err); ++i) {
  }
}

bool ChildProcess::is_stopped() const {
  return ended_from_outside_ || (control_.stop != nullptr && *control_.stop);
}

/// It stays a zombie until reap(), so that no other process gets its number.
bool ChildProcess::has_exited() const {
  siginfo_t info{};
  const int failed =
      ::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT);
  return failed != 0 || info.si_pid == process_;
}

/// Whole, with its line end.
bool ChildProcess::has_last_line() const {
  const std::string& out = result_.out;
  if (control_.last_line.empty() || !out.ends_with('\n') || out.size() < 2) return false;
  const std::size_t before = out.rfind('\n', out.size() - 2);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return out.compare(begin, control_.last_line.size(), control_.last_line) == 0;
}

/// A launcher that is asked to end ends what it has started elsewhere.
void ChildProcess::end_if_due() {
  if (!is_stopped() && Clock::now() < phase_end_) return;
  drain_pipes();
  said_ = result_.out.size();
  (is_stopped() ? result_.stopped : said_last_line_ ? result_.lingered : result_.timed_out) = true;
  if (control_.grace > Seconds{0}) ::kill(-process_, SIGTERM);
  phase_ = Phase::Terminating;
  phase_end_ = after(control_.grace);
}

void ChildProcess::kill_group() {
  ::kill(-process_, SIGKILL);
  phase_ = Phase::Killed;
  phase_end_ = after(kPatience);
}

int ChildProcess::reap() const {
  constexpr int kKilledBy = 128;
  int status = 0;
  if (::waitpid(process_, &status, WNOHANG) != process_) return kKilledBy + SIGKILL;
  return WIFEXITED(status) ? WEXITSTATUS(status) : kKilledBy + WTERMSIG(status);
}

CommandResult run_command(const std::string& program, const std::vector<std::string>& arguments,
                          Seconds timeout) {
  constexpr int kShellsNotFound = 127;
  std::vector<std::string> line = {program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  CommandLoop loop;
  const int error = loop.start(0, line, {.timeout = timeout});
  if (is_missing_program(error)) {
    return {.exit_status = kShellsNotFound,
            .err = std::generic_category().message(error),
            .not_found = true};
  }
  if (error != 0) throw system_failure(fmt::format("cannot start {}", program), error);
  while (true) {
    std::vector<CommandLoop::Ended> ended = loop.wait();
    if (!ended.empty()) return std::move(ended.front().result);
  }
}

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
    // Opened again, so that one that makes its stdin non-blocking does so for itself only.
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

std::optional<std::string> run_isolated(const std::function<std::string()>& work, Seconds timeout) {
  Pipe pipe;
  if (const int error = pipe.open(); error != 0) throw system_failure("cannot open a pipe", error);
  const pid_t child = ::fork();
  if (child < 0) throw system_failure("cannot start a process", errno);
  if (child == 0) work_and_exit(work, pipe.write.number(), timeout);
  pipe.write.close();
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t count = ::read(pipe.read.number(), buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return std::nullopt;
  return text;
}

}  // namespace busbar
