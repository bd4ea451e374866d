// SPDX-License-Identifier: BSD-3-Clause
#include "base/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {

/// Owns an open file.
class OpenFile {
 public:
  explicit OpenFile(int number = -1) : number_(number) {}
  OpenFile(OpenFile&&) = delete;
  OpenFile& operator=(OpenFile&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }

  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

namespace {

/// How often ends and times are looked at; a command that has closed its pipes is near its end.
constexpr int kTickMs = 20;
constexpr int kNearEndMs = 1;
constexpr int kKilledBy = 128;

Clock::time_point after(Seconds time) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::min(time, kNoTimeout));
}

/// Reads once, at most a buffer; what is beyond `most` bytes of text is dropped. As read() returns.
ssize_t read_some(const OpenFile& from, std::string& text, std::size_t most) {
  std::array<char, 65536> buffer{};
  ssize_t count = 0;
  do {
    count = ::read(from.number(), buffer.data(), buffer.size());
  } while (count < 0 && errno == EINTR);
  const auto taken = static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  text.append(buffer.data(), std::min(taken, most - std::min(most, text.size())));
  return count;
}

/// Takes what a pipe holds, a buffer at a time, and closes it at its end; false: nothing is left.
bool drain(OpenFile& pipe, std::string& text) {
  constexpr std::size_t kMostOutput = std::size_t{16} << 20U;  // enough for any machine's answer
  if (!pipe.is_open()) return false;
  const ssize_t count = read_some(pipe, text, kMostOutput);
  if (count == 0 || (count < 0 && errno != EAGAIN)) pipe = OpenFile();
  return count > 0;
}

/// Ours, with others beside or instead.
Words environment_with(const Variables& variables) {
  Words texts;
  for (const auto& [name, value] : variables) texts.push_back(fmt::format("{}={}", name, value));
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool is_ours = std::ranges::none_of(variables, [&](const auto& variable) {
      return variable.first == text.substr(0, text.find('='));
    });
    if (is_ours) texts.emplace_back(text);
  }
  return texts;
}

/// Both ends close at an exec.
struct Pipe {
  OpenFile read{};
  OpenFile write{};

  /// False with an error number in errno.
  [[nodiscard]] bool open() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    read = OpenFile(ends[0]);
    write = OpenFile(ends[1]);
    return true;
  }
};

/// A pipe of its own that its reader could also write: it has no end while it is open. Not open
/// with an error number in errno.
OpenFile endless_input() {
  Pipe pipe;
  if (!pipe.open()) return OpenFile();
  const std::string path = fmt::format("/proc/self/fd/{}", pipe.read.number());
  return OpenFile(::open(path.c_str(), O_RDWR | O_CLOEXEC));
}

/// Starts a program with its stdin, stdout and stderr, as the leader of its process group unless it
/// is in the foreground: 0, or the error number.
int spawn(pid_t& child, Words& line, const CommandControl& control,
          const std::array<int, 3>& streams) {
  Words environment = environment_with(control.variables);
  const std::vector<char*> arguments = pointers_to(line);
  const std::vector<char*> variables = pointers_to(environment);
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  sigset_t none{};
  sigemptyset(&none);
  posix_spawn_file_actions_init(&actions);
  for (int number = STDIN_FILENO; const int stream : streams) {
    posix_spawn_file_actions_adddup2(&actions, stream, number++);
  }
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  const int group = control.foreground ? 0 : POSIX_SPAWN_SETPGROUP;
  posix_spawnattr_setflags(&attributes, static_cast<short>(group | POSIX_SPAWN_SETSIGMASK));
  const int error = ::posix_spawnp(&child, arguments.front(), &actions, &attributes,
                                   arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  return error;
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
  ::dup2(::open("/dev/null", O_WRONLY), STDERR_FILENO);  // what an assertion prints
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

/// A program that runs; nothing of it blocks.
struct CommandLoop::Child {
  enum class Phase { Running, Terminating, Killed };

  std::size_t number = 0;
  CommandControl control{};
  OpenFile out{};
  OpenFile err{};
  CommandResult result{};
  Phase phase = Phase::Running;
  Clock::time_point phase_end{};  ///< when this phase is over at the latest
  bool has_finished = false;      ///< it has printed its last line
  bool is_stopped = false;
  std::size_t own_output = 0;  ///< bytes of stdout before it was asked to end

  [[nodiscard]] bool has_open_pipe() const { return out.is_open() || err.is_open(); }

  /// As kill() takes it: the process, or its group.
  [[nodiscard]] pid_t target() const {
    return control.foreground ? result.process : -result.process;
  }

  /// It stays a zombie until reap(), so that no other process gets its number.
  [[nodiscard]] bool has_exited() const {
    siginfo_t info{};
    const auto id = static_cast<id_t>(result.process);
    const int error = ::waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT);
    return error != 0 || info.si_pid == result.process;
  }

  /// Whether the last line of stdout, with its line end, is the one that is known to be the last.
  [[nodiscard]] bool has_last_line() const {
    const std::string& text = result.out;
    if (control.last_line.empty() || !text.ends_with('\n') || text.size() < 2) return false;
    const std::size_t before = text.rfind('\n', text.size() - 2);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    return text.compare(begin, control.last_line.size(), control.last_line) == 0;
  }

  /// What is in the pipes; a grandchild may hold them open, and even go on writing.
  void read() {
    constexpr int kMostBuffers = 32;  // more than a pipe can hold
    for (int i = 0; i < kMostBuffers && drain(out, result.out); ++i) {
    }
    for (int i = 0; i < kMostBuffers && drain(err, result.err); ++i) {
    }
    if (phase != Phase::Running || has_finished || !has_last_line()) return;
    has_finished = true;
    phase_end = std::min(phase_end, after(control.linger));
  }

  /// A launcher that is asked to end also ends what it has started on other hosts.
  void terminate() {
    read();
    own_output = result.out.size();
    (is_stopped ? result.stopped : has_finished ? result.lingered : result.timed_out) = true;
    if (control.grace > Seconds{0}) ::kill(target(), SIGTERM);
    phase = Phase::Terminating;
    phase_end = after(control.grace);
  }

  void kill_group() {
    constexpr Seconds kPatience{1};  // a process in a driver's call may outlive SIGKILL
    ::kill(target(), SIGKILL);
    phase = Phase::Killed;
    phase_end = after(control.foreground ? kNoTimeout : kPatience);
  }

  /// What a launcher prints of its own end (Hydra on stdout) is none of the command's output: that
  /// ends with its last line, or where none came when it was asked to end.
  void drop_launcher_output() {
    constexpr std::size_t kNone = std::string::npos;
    const std::string& text = result.out;
    const std::size_t last =
        control.last_line.empty() ? kNone : text.rfind('\n' + control.last_line);
    const std::size_t end = last == kNone ? kNone : text.find('\n', last + 1);
    result.out.resize(end == kNone ? own_output : end + 1);
  }

  void reap() {
    read();
    if (phase == Phase::Killed && control.grace > Seconds{0}) drop_launcher_output();
    int status = SIGKILL;  // of one that outlives it
    static_cast<void>(::waitpid(result.process, &status, WNOHANG));
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    result.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : kKilledBy + result.signal;
  }

  /// Ends it where its time is over; true when it has ended and left no zombie.
  [[nodiscard]] bool has_ended() {
    const bool exited = has_exited();
    if (phase == Phase::Running && !exited && (is_stopped || is_due())) terminate();
    if (phase == Phase::Terminating && (exited || is_due())) kill_group();
    const bool ended = phase == Phase::Running ? exited : phase == Phase::Killed && is_gone();
    if (ended) reap();
    return ended;
  }

 private:
  [[nodiscard]] bool is_due() const { return Clock::now() >= phase_end; }
  [[nodiscard]] bool is_gone() const { return has_exited() || is_due(); }
};

CommandResult run_command(const std::string& program, const Words& arguments, Seconds timeout) {
  Words line = {program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  CommandLoop loop;
  const int error = loop.start(0, line, {.timeout = timeout});
  if (is_missing_program(error)) {
    return {.exit_status = kNoProgram,
            .err = std::generic_category().message(error),
            .not_found = true};
  }
  if (error != 0) throw system_failure(fmt::format("cannot start {}", program), error);
  while (true) {
    std::vector<CommandLoop::Ended> ended = loop.wait();
    if (!ended.empty()) return std::move(ended.front().result);
  }
}

std::vector<char*> pointers_to(Words& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

int become_program(Words line) {
  const OpenFile in = endless_input();
  if (in.is_open()) ::dup2(in.number(), STDIN_FILENO);  // else with what there is
  const std::vector<char*> arguments = pointers_to(line);
  ::execvp(arguments.front(), arguments.data());
  return errno;
}

bool is_missing_program(int error) {
  constexpr std::array kErrors{ENOENT, EACCES, ENOTDIR, ENOEXEC, ELOOP, ENAMETOOLONG};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

bool is_shortage(int error) {
  return error == EAGAIN || error == ENOMEM || error == EMFILE || error == ENFILE;
}

CommandLoop::CommandLoop() = default;

CommandLoop::~CommandLoop() {
  stop();
  while (!children_.empty()) static_cast<void>(wait());
}

int CommandLoop::start(std::size_t number, Words line, const CommandControl& control) {
  Pipe out;
  Pipe err;
  OpenFile in;
  std::array<int, 3> streams{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO};
  if (!control.foreground) {
    in = control.endless_stdin ? endless_input()
                               : OpenFile(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!in.is_open() || !out.open() || !err.open()) return errno;
    streams = {in.number(), out.write.number(), err.write.number()};
    for (const Pipe* pipe : {&out, &err}) {
      ::fcntl(pipe->read.number(), F_SETFL, O_NONBLOCK);  // of our end only
    }
  }
  auto child = std::make_unique<Child>();
  if (!guard_ && control.grace > Seconds{0}) guard_ = std::make_unique<GroupGuard>(control.grace);
  const int error = spawn(child->result.process, line, control, streams);
  if (error != 0) return error;
  child->number = number;
  child->control = control;
  child->out = std::move(out.read);
  child->err = std::move(err.read);
  child->phase_end = after(control.timeout);
  if (guard_) guard_->add(child->target());
  children_.push_back(std::move(child));
  return 0;
}

void CommandLoop::stop() {
  for (const auto& child : children_) child->is_stopped = true;
}

std::vector<CommandLoop::Ended> CommandLoop::wait() {
  read_pipes();
  return collect();
}

std::vector<CommandLoop::Ended> CommandLoop::collect() {
  const bool look_at_all = Clock::now() >= next_look_;
  if (look_at_all) next_look_ = Clock::now() + std::chrono::milliseconds(kTickMs);
  std::vector<Ended> ended;
  std::erase_if(children_, [&](const std::unique_ptr<Child>& child) {
    const bool look = look_at_all || !child->has_open_pipe();
    if (!look || !child->has_ended()) return false;
    if (guard_) guard_->remove(child->target());
    ended.push_back({.number = child->number, .result = std::move(child->result)});
    return true;
  });
  return ended;
}

void CommandLoop::read_pipes() {
  int milliseconds = kTickMs;
  std::vector<pollfd> pipes;
  for (const auto& child : children_) {
    if (!child->has_open_pipe()) milliseconds = kNearEndMs;
    for (const OpenFile* pipe : {&child->out, &child->err}) {
      pipes.push_back({.fd = pipe->number(), .events = POLLIN, .revents = 0});
    }
  }
  // poll passes over negative numbers: with all pipes closed it only waits.
  if (::poll(pipes.data(), pipes.size(), milliseconds) <= 0) return;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    if ((pipes[2 * i].revents | pipes[2 * i + 1].revents) != 0) children_[i]->read();
  }
}

std::optional<std::string> run_isolated(const std::function<std::string()>& work, Seconds timeout) {
  Pipe pipe;
  if (!pipe.open()) throw system_failure("cannot open a pipe", errno);
  const pid_t child = ::fork();
  if (child < 0) throw system_failure("cannot start a process", errno);
  if (child == 0) work_and_exit(work, pipe.write.number(), timeout);
  pipe.write = OpenFile();
  std::string text;
  while (read_some(pipe.read, text, std::string::npos) > 0) {
  }
  int status = -1;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return std::nullopt;
  return text;
}

}  // namespace busbar
