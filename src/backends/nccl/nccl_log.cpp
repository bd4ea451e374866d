// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/nccl_log.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <span>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

using View = std::string_view;

/// The text of an INFO line behind host, process and device, or empty.
View message_of(View line) {
  constexpr View kMark = "NCCL INFO ";
  const std::size_t at = line.find(kMark);
  return at == View::npos ? View() : trim(line.substr(at + kMark.size()));
}

/// The blank-delimited word behind `label`, or empty.
View word_after(View text, View label) {
  const std::size_t at = text.find(label);
  if (at == View::npos) return {};
  text.remove_prefix(at + label.size());
  return text.substr(0, text.find(' '));
}

std::optional<int> number(View text) {
  int value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} ? std::optional{value} : std::nullopt;
}

/// What the log calls it from 2.24 on, and the name that NCCL_ALGO and NCCL_PROTO know. Until 2.23
/// the log has its number, which is its index here in all versions.
struct Spelling {
  View logged;
  View name;
};
constexpr std::array<Spelling, 7> kAlgorithms{{{"TREE", "Tree"},
                                               {"RING", "Ring"},
                                               {"COLLNET_DIRECT", "CollNetDirect"},
                                               {"COLLNET_CHAIN", "CollNetChain"},
                                               {"NVLS", "NVLS"},
                                               {"NVLS_TREE", "NVLSTree"},
                                               {"PAT", "PAT"}}};
constexpr std::array<Spelling, 3> kProtocols{
    {{"LL", "LL"}, {"LL128", "LL128"}, {"SIMPLE", "Simple"}}};

/// Empty for "Unknown" and numbers without a name; a name of a later NCCL stays as it is.
std::string name_of(View word, std::span<const Spelling> known) {
  const auto index = number(word);
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (word == known[i].logged || index == static_cast<int>(i)) return std::string(known[i].name);
  }
  return word == "Unknown" || index ? std::string() : std::string(word);
}

/// Of "channel{Lo..Hi}={0..15}".
std::optional<int> channels_of(View text) {
  const View range = word_after(text, "channel{Lo..Hi}={");
  const std::size_t dots = range.find("..");
  if (dots == View::npos) return std::nullopt;
  const auto low = number(range);
  const auto high = number(range.substr(dots + 2));
  return low && high ? std::optional{*high - *low + 1} : std::nullopt;
}

/// Of the text behind "Bytes -> " in a line of which `kind` is the text before.
std::optional<LibraryChoice> choice_of(View kind, View chosen) {
  if (chosen.starts_with("Algo ")) {
    LibraryChoice choice{.algorithm = name_of(word_after(chosen, "Algo "), kAlgorithms),
                         .protocol = name_of(word_after(chosen, " proto "), kProtocols),
                         .channels = channels_of(chosen)};
    return choice.algorithm.empty() ? std::nullopt : std::optional{choice};
  }
  if (kind.find("[Symmetric]") != View::npos) {
    const View kernel = word_after(chosen, "Kernel ");  // "AllReduce_AGxLLMC_R"
    return LibraryChoice{.algorithm = "Symmetric",
                         .protocol = std::string(kernel.substr(kernel.find('_') + 1)),
                         .channels = number(word_after(chosen, "nchannels "))};
  }
  if (kind.find("[Copy Engine]") != View::npos) return LibraryChoice{.algorithm = "CopyEngine"};
  if (kind.find("[Hierarchical CE]") == View::npos) return std::nullopt;
  return LibraryChoice{.algorithm = "HierarchicalCE"};
}

/// The kind of a connection: "P2P/CUMEM" of "P2P/CUMEM/read", "SHM" of "SHM/direct/direct".
std::string link_of(View via) {
  const std::size_t first = via.find('/');
  const View kind = via.substr(0, first);
  if (kind == "SHM" || first == View::npos) return std::string(kind);
  return std::string(via.substr(0, via.find('/', first + 1)));
}

/// Of "16 coll channels, 16 collnet channels, 8 nvls channels, 32 p2p channels, ...": 2.17 and
/// later log those of NVLS. The collnet number repeats the first in most versions.
void add_channels(View message, LibraryTransports& transports) {
  std::vector<std::string> parts;
  for (const std::string& part : split(message, ',')) {
    const View text = trim(part);
    for (const View kind : {"coll", "nvls", "p2p"}) {
      if (!text.ends_with(fmt::format(" {} channels", kind))) continue;
      parts.push_back(fmt::format("{} {}", number(text).value_or(0), kind));
      if (kind == "nvls") transports.nvls = number(text).value_or(0) > 0;
    }
  }
  copy_text(join(parts, ", "), transports.channels);
  transports.known = true;
}

bool equals(const char* value, const char* word) { return strcasecmp(value, word) == 0; }

}  // namespace

std::optional<LibraryChoice> parse_nccl_choice(View log) {
  constexpr View kArrow = " Bytes -> ";
  std::optional<LibraryChoice> last;
  for (const std::string& line : split(log, '\n')) {
    const View message = message_of(line);
    const std::size_t at = message.find(kArrow);
    if (at == View::npos) continue;
    const auto choice = choice_of(message.substr(0, at), message.substr(at + kArrow.size()));
    if (choice) last = choice;
  }
  return last;
}

LibraryTransports parse_nccl_transports(View log) {
  constexpr View kVia = " via ";
  LibraryTransports transports;
  std::set<std::string> links;
  for (const std::string& line : split(log, '\n')) {
    const View message = message_of(line);
    if (message.find(" coll channels, ") != View::npos) add_channels(message, transports);
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
  if (!switchable() || on_) return;
  (void)ftruncate(file_, 0);
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
