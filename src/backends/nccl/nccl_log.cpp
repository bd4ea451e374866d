// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_log.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/text.hpp"
#include "model/nccl_choice.hpp"

namespace busbar {
namespace {

/// The kind of a connection: "P2P/CUMEM" of "P2P/CUMEM/read", "SHM" of "SHM/direct/direct".
std::string link_of(View via) {
  const std::size_t first = via.find('/');
  const View kind = via.substr(0, first);
  if (kind == "SHM" || first == View::npos) return std::string(kind);
  return std::string(via.substr(0, via.find('/', first + 1)));
}

/// Reads "16 coll channels, 16 collnet channels, 8 nvls channels, 32 p2p channels, ...": 2.17 and
/// later log those of NVLS. The collnet number repeats the first in most versions.
void add_channels(View message, LibraryTransports& transports) {
  std::vector<std::string> parts;
  for (const std::string& part : split(message, ',')) {
    const View text = trim(part);
    for (const View kind : {"coll", "nvls", "p2p"}) {
      if (!text.ends_with(fmt::format(" {} channels", kind))) continue;
      const int count = to_number<int>(text.substr(0, text.find(' '))).value_or(0);
      parts.push_back(fmt::format("{} {}", count, kind));
      if (kind == "nvls") transports.nvls = count > 0;
    }
  }
  copy_text(join(parts, ", "), transports.channels);
  transports.known = true;
}

/// Reads "NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/IB [RO]; OOB eth0:...", and of plugins
/// "NET/OFI Initializing aws-ofi-nccl 1.13.2-aws", which wins.
void add_network(View message, LibraryTransports& transports) {
  constexpr View kUsing = " : Using ";
  const bool is_plugin = message.starts_with("NET/OFI Initializing ");
  const std::size_t at = message.find(kUsing);
  const bool known = transports.network.front() != '\0';
  std::string text;
  if (is_plugin) {
    text = message.substr(std::string_view("NET/OFI Initializing ").size());
  } else if (message.starts_with("NET/") && at != View::npos && !known) {
    std::size_t adapters = 0;
    while (message.find(fmt::format("[{}]", adapters), at) != View::npos) ++adapters;
    if (adapters == 0) return;  // "NET/IB : Using [RO]; OOB eth0" of a host without one
    text = fmt::format("{}, {}", message.substr(4, at - 4), counted(adapters, "adapter"));
  }
  if (text.empty()) return;
  transports.network = {};
  copy_text(text, transports.network);
}

/// Reads "Init timings - ncclCommInitRank: rank 0 nranks 8 total 0.55 (kernels 0.31, ...)": of the
/// slowest, if the rank has several communicators.
void add_init(View message, LibraryTransports& transports) {
  constexpr View kTotal = " total ";
  const std::size_t at = message.find(kTotal);
  const std::size_t open = message.find(" (", at);
  if (at == View::npos || open == View::npos || !message.ends_with(')')) return;
  const View total = message.substr(0, open).substr(at + kTotal.size());
  const double seconds = to_number<double>(total).value_or(0);
  if (seconds <= transports.init_s) return;
  transports.init_s = seconds;
  message.remove_suffix(1);
  copy_text(std::string(message.substr(open + 2)), transports.init);
}

bool equals(const char* value, const char* word) { return strcasecmp(value, word) == 0; }

}  // namespace

std::optional<LibraryChoice> parse_nccl_choice(View log) {
  std::optional<LibraryChoice> last;
  for (const std::string& line : split(log, '\n')) {
    if (const auto logged = nccl_choice_in(line)) last = logged->choice;
  }
  return last;
}

LibraryTransports parse_nccl_transports(View log) {
  constexpr View kVia = " via ";
  LibraryTransports transports;
  std::set<std::string> links;
  for (const std::string& line : split(log, '\n')) {
    const View message = nccl_message(line);
    if (message.find(" coll channels, ") != View::npos) add_channels(message, transports);
    if (message.starts_with("Init timings - ")) add_init(message, transports);
    if (message.starts_with("NET/")) add_network(message, transports);
    if (!message.starts_with("Channel ") && !message.starts_with("CollNet ")) continue;
    const std::size_t at = message.find(kVia);
    if (at == View::npos) continue;
    const View via = message.substr(at + kVia.size());
    links.insert(link_of(via));
    if (via.find("/GDRDMA") != View::npos) transports.gpudirect = true;
    transports.known = true;
  }
  const std::vector<std::string> sorted(links.begin(), links.end());
  copy_text(join(sorted, ", "), transports.links);
  return transports;
}

std::optional<std::string> nccl_log_conflict(
    const std::function<const char*(const char*)>& lookup) {
  const char* level = lookup("NCCL_DEBUG");
  const char* file = lookup("NCCL_DEBUG_FILE");
  if (level == nullptr || equals(level, "VERSION")) return std::nullopt;
  if (equals(level, "WARN") && (file == nullptr || *file == '\0')) return std::nullopt;
  return fmt::format("NCCL writes the log that this option reads to {} (NCCL_DEBUG={}); unset {}",
                     file == nullptr ? "standard output" : "a file", level,
                     file == nullptr ? "NCCL_DEBUG" : "NCCL_DEBUG_FILE and NCCL_DEBUG");
}

NcclLog::NcclLog(LibraryFunction<void()> reset)
    : reset_(reset), file_(memfd_create("nccl-log", MFD_CLOEXEC)) {
  for (Setting& setting : settings_) {
    const char* value = std::getenv(setting.name);
    if (value != nullptr) setting.users = value;
  }
  if (file_ < 0) throw system_failure("--nccl-choice: no memory file for NCCL's log", errno);
  // Without a switch it could not be given back to the user. All variables are made before NCCL has
  // threads: later their values change, not their places.
  if (switchable() || !settings_[0].users) switch_on();
}

NcclLog::~NcclLog() {
  stop();
  for (const Setting& setting : settings_) {
    setting.users ? setenv(setting.name, setting.users->c_str(), 1) : unsetenv(setting.name);
  }
  close(file_);
}

void NcclLog::switch_on() {
  on_ = true;
  set({"INFO", switchable() ? "INIT,TUNING" : "INIT", fmt::format("/proc/self/fd/{}", file_)});
}

void NcclLog::start() {
  if (!switchable() || on_ || ftruncate(file_, 0) != 0) return;
  switch_on();
}

/// VERSION is the lowest level that every NCCL knows; it logs nothing once ranks are connected.
void NcclLog::stop() {
  if (!switchable() || !on_) return;
  on_ = false;
  pass_on_warnings();
  set({settings_[0].users.value_or("VERSION"), settings_[1].users.value_or("INIT,BOOTSTRAP,ENV"),
       settings_[2].users.value_or("")});
}

std::string NcclLog::text() const {
  std::string text;
  std::array<char, 4096> block{};
  for (;;) {
    const ssize_t got = pread(file_, block.data(), block.size(), static_cast<off_t>(text.size()));
    if (got <= 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
  }
}

void NcclLog::set(const std::array<std::string, 3>& values) const {
  for (std::size_t i = 0; i < values.size(); ++i) {
    setenv(settings_.at(i).name, values.at(i).c_str(), 1);
  }
  if (switchable()) reset_();
}

/// What NCCL would have printed by itself had the user's level been in force.
void NcclLog::pass_on_warnings() const {
  const auto& level = settings_[0].users;
  if (!level || !equals(level->c_str(), "WARN")) return;
  for (const std::string& line : split(text(), '\n')) {
    if (line.find(" NCCL WARN ") == std::string::npos) continue;
    (void)std::fprintf(stdout, "\n%s\n", line.c_str());
  }
  (void)std::fflush(stdout);
}

}  // namespace busbar
