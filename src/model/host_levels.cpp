// SPDX-License-Identifier: BSD-3-Clause
#include "model/host_levels.hpp"

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {

std::string known_host(const std::string& host, const std::vector<std::string>& known) {
  if (contains(known, host)) return host;
  const std::size_t dot = host.find('.');
  const std::string_view brief = std::string_view{host}.substr(0, dot);
  for (const std::string& name : known) {
    const std::size_t end = name.find('.');
    const bool one_short = dot == std::string::npos || end == std::string::npos;
    if (one_short && std::string_view{name}.substr(0, end) == brief) return name;
  }
  return host;
}

HostLevels::HostLevels(std::string_view text, std::string_view file) : file_(file) {
  for (auto& [place, cells] : placed_cells(text, file)) {
    std::string host = cells.front();
    cells.erase(cells.begin());
    if (names_.empty()) {
      if (host != "host" || cells.empty()) {
        throw usage_error("{}: expected a header such as host,pod,leaf", place);
      }
      names_ = std::move(cells);
      continue;
    }
    if (cells.size() != names_.size() || host.empty() || contains(cells, "")) {
      throw usage_error("{}: expected a host and its {}", place, join(names_, ", "));
    }
    if (!places_.emplace(host, hosts_.size()).second) {
      throw usage_error("{}: {} again", place, host);
    }
    hosts_.push_back(std::move(host));
    paths_.push_back(std::move(cells));
  }
  if (hosts_.empty()) throw usage_error("{}: it names no host", file);
}

std::vector<NodePath> HostLevels::paths_of(const std::vector<std::string>& hosts) const {
  return mapped(hosts, [this](const std::string& host) {
    auto found = places_.find(host);
    if (found == places_.end()) found = places_.find(known_host(host, hosts_));
    if (found == places_.end()) throw usage_error("{}: it lacks host {}", file_, host);
    return paths_[found->second];
  });
}

}  // namespace busbar
