// SPDX-License-Identifier: BSD-3-Clause
#include "judge/file_parts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// "collective=allreduce ranks=2 nodes=1 ..." of the head: what a file without rows was to have.
FilePart part_of_head(const ObservationFile& file) {
  FilePart part;
  for (const std::string& word : split(file.dataset.fact("configuration"), ' ')) {
    const std::size_t sign = word.find('=');
    if (sign == std::string::npos) continue;
    const std::string key = word.substr(0, sign);
    const std::string value = word.substr(sign + 1);
    if (key == "collective") part.collective = value;
    int number = 0;
    std::from_chars(value.data(), value.data() + value.size(), number);
    if (key == "ranks") part.ranks = number;
    if (key == "nodes") part.nodes = number;
    if (key == "split") part.grouped = value != "none";
  }
  return part;
}

/// "0-3,6" as numbers; nothing where it is no list of devices.
std::optional<std::set<int>> numbers_of(const std::string& list) {
  std::set<int> numbers;
  for (const std::string& item : split(list, ',')) {
    const std::vector<std::string> ends = split(item, '-');
    std::array<int, 2> values{};
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string& end = ends.size() > i ? ends[i] : ends.front();
      const auto read = std::from_chars(end.data(), end.data() + end.size(), values.at(i));
      const bool whole = read.ec == std::errc{} && read.ptr == end.data() + end.size();
      if (!whole || ends.size() > 2) return {};
    }
    for (int number = values[0]; number <= values[1]; ++number) numbers.insert(number);
  }
  return numbers;
}

}  // namespace

std::vector<FilePart> parts_of(const ObservationFile& file) {
  using Key = std::tuple<std::string, int, int, bool, std::string>;
  std::map<Key, FilePart> parts;
  for (const Record& r : file.dataset.records) {
    const bool grouped = r.group.has_value();
    const std::string devices = grouped ? std::string() : r.device_set;
    FilePart& part = parts[{r.collective, r.ranks, r.nodes, grouped, devices}];
    if (part.records.empty()) part = {r.collective, r.ranks, r.nodes, grouped, devices, {}};
    part.records.push_back(r);
  }
  std::vector<FilePart> list;
  for (auto& [key, part] : parts) list.push_back(std::move(part));
  if (list.empty()) list.push_back(part_of_head(file));
  return list;
}

bool may_be_devices(const std::string& measured, const std::string& wanted) {
  const auto want = numbers_of(wanted);
  if (!want) return true;
  const std::vector<std::string> hosts = split(measured, ';');
  return std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
    const auto have = numbers_of(host);
    return !have || *have == *want;
  });
}

}  // namespace busbar::judge
