// SPDX-License-Identifier: BSD-3-Clause
#include "format/output_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar {
namespace {

constexpr mode_t kPermissions = 0644;  // who collects is another user

int open_output(const std::string& path, bool stream) {
  if (stream) return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kPermissions);
}

Error cannot_write(const std::string& path, std::string_view option) {
  return usage_error("{}: cannot write {}: {}", option, path,
                     std::generic_category().message(errno));
}

[[noreturn]] void refuse_existing(const std::string& path, std::string_view option) {
  throw usage_error(
      "{}: {} exists and is not empty; give another name{}", option, path,
      option == "--csv" ? ", remove it, or go on with it by --resume" : " or remove it");
}

}  // namespace

void reserve_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    const bool is_open = fcntl(stream, F_GETFD) >= 0;
    const int mode = stream == STDERR_FILENO ? O_WRONLY : O_RDONLY;
    if (!is_open) static_cast<void>(open("/dev/null", mode));  // the lowest number is this one
  }
  std::signal(SIGXFSZ, SIG_IGN);
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0) throw system_failure("cannot write to standard output", errno);
}

void check_new(const std::string& path, std::string_view option) {
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
  if (exists && status.st_size > 0) refuse_existing(path, option);
}

OutputFile::OutputFile(std::string path, std::string_view option, Mode mode)
    : path_(std::move(path)), stream_(path_ == "-"), descriptor_(open_output(path_, stream_)) {
  if (descriptor_ < 0) {
    throw cannot_write(path_, option);
  }
  if (stream_) return;
  struct stat status {};
  fstat(descriptor_, &status);
  if (S_ISREG(status.st_mode) && flock(descriptor_, LOCK_EX | LOCK_NB) != 0 &&
      errno == EWOULDBLOCK) {
    close(descriptor_);
    throw usage_error("{}: another run is writing {}", option, path_);
  }
  size_ = written_ = S_ISREG(status.st_mode) ? static_cast<Bytes>(status.st_size) : 0;
  if (size_ == 0 || mode == Mode::Continue) return;
  close(descriptor_);
  refuse_existing(path_, option);
}

OutputFile::~OutputFile() { close(descriptor_); }

void OutputFile::append(std::string_view text) { write_at(size_, text); }

void OutputFile::write_at(Bytes offset, std::string_view text) {
  while (!text.empty()) {
    // A pipe or device cannot seek: what is appended is simply written.
    ssize_t written =
        stream_ ? ::write(descriptor_, text.data(), text.size())
                : pwrite(descriptor_, text.data(), text.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == ESPIPE) written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail();
    text.remove_prefix(static_cast<std::size_t>(written));
    offset += static_cast<Bytes>(written);
  }
  size_ = std::max(size_, offset);
  const bool synchronized = fdatasync(descriptor_) == 0 || errno == EINVAL || errno == EROFS;
  if (!synchronized) fail();
  struct stat status {};
  if (fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 0) {
    throw Error{Status::Runtime, fmt::format("{} was deleted while it was written", path_)};
  }
  written_ = size_;
}

void OutputFile::fail() const {
  const int why = errno;
  struct stat status {};
  const bool is_file = fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode);
  if (is_file && written_ == 0) unlink(path_.c_str());
  throw system_failure(fmt::format("cannot write {}", path_), why);
}

void OutputFile::drop_unfinished_line() {
  std::array<char, 4096> block{};
  for (Bytes end = size_; end > 0;) {
    const Bytes start = end - std::min<Bytes>(end, block.size());
    const ssize_t count = pread(descriptor_, block.data(), end - start, static_cast<off_t>(start));
    if (count <= 0) return;
    const std::string_view text(block.data(), static_cast<std::size_t>(count));
    const std::size_t line_end = text.rfind('\n');
    if (line_end != std::string_view::npos) return truncate(start + line_end + 1);
    end = start;
  }
  truncate(0);
}

void OutputFile::truncate(Bytes size) {
  if (ftruncate(descriptor_, static_cast<off_t>(size)) != 0) {
    throw system_failure(fmt::format("cannot cut {}", path_), errno);
  }
  size_ = size;
}

OutputFile::OutputFile(std::string path, int descriptor)
    : path_(std::move(path)), descriptor_(descriptor) {}

void replace_file(const std::string& path, std::string_view text, std::string_view option) {
  std::string aside = path + ".XXXXXX";
  const int descriptor = mkstemp(aside.data());
  if (descriptor < 0) throw cannot_write(path, option);
  OutputFile file(aside, descriptor);
  try {
    file.append(text);
    if (fchmod(descriptor, kPermissions) != 0) {
      throw system_failure(fmt::format("cannot write {}", aside), errno);
    }
    if (std::rename(aside.c_str(), path.c_str()) != 0) throw cannot_write(path, option);
  } catch (...) {
    unlink(aside.c_str());
    throw;
  }
}

}  // namespace busbar
