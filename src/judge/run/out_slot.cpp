// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/out_slot.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/error.hpp"
#include "format/output_file.hpp"

namespace busbar::judge {
namespace {

namespace fs = std::filesystem;

/// Hosts that are out, who came first in front.
std::vector<std::string> hosts_out(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code gone;  // another host may take its file away
    const auto since = entry.last_write_time(gone);
    const std::string host = entry.path().filename().string();
    if (!gone && !host.starts_with('.')) files.emplace_back(since, host);
  }
  std::ranges::sort(files);
  std::vector<std::string> hosts;
  for (auto& [since, host] : files) hosts.push_back(std::move(host));
  return hosts;
}

}  // namespace

OutSlot::OutSlot(std::string folder, std::size_t most, const std::string& host)
    : path_(folder + "/" + host) {
  if (!fs::is_directory(folder)) {
    throw usage_error("--at-most-out: {} is not a folder; make one that all hosts see", folder);
  }
  if (fs::exists(path_)) return;  // from before: it is one of those that are out
  OutputFile(path_, "--at-most-out", OutputFile::Mode::New).append("is checked\n");
  // Of several at the same time those that came first stay.
  std::vector<std::string> out = hosts_out(folder);
  const auto own = std::ranges::find(out, host);
  if (static_cast<std::size_t>(own - out.begin()) < most) return;
  out.erase(own, out.end());
  others_ = std::move(out);
}

OutSlot::~OutSlot() {
  std::error_code ignored;
  if (!is_kept_) fs::remove(path_, ignored);
}

void OutSlot::keep(const std::string& reason) {
  is_kept_ = true;
  replace_file(path_, reason + "\n", "--at-most-out");
}

}  // namespace busbar::judge
