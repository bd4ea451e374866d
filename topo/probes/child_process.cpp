// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/child_process.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace busbar::topo {
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

}  // namespace busbar::topo
