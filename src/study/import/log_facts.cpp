// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_facts.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::study {
namespace {

/// "a; b" without doubles.
std::string distinct_of(const std::vector<std::string>& values) {
  std::vector<std::string> distinct;
  for (const std::string& value : values) {
    const bool known = std::find(distinct.begin(), distinct.end(), value) != distinct.end();
    if (!value.empty() && !known) distinct.push_back(value);
  }
  return join(distinct, "; ");
}

std::string devices_of(const LogTable& table) {
  std::map<std::string, int> names;
  for (const LogDevice& device : table.devices) ++names[device.name];
  std::vector<std::string> words;
  for (const auto& [name, count] : names) {
    if (!name.empty()) words.push_back(fmt::format("{} x {}", count, name));
  }
  return join(words, ", ");
}

std::string hosts_of(const LogTable& table) {
  std::vector<std::string> hosts;
  for (const LogDevice& device : table.devices) {
    if (std::find(hosts.begin(), hosts.end(), device.host) == hosts.end()) {
      hosts.push_back(device.host);
    }
  }
  return join(hosts, " ");
}

}  // namespace

Facts facts_of(std::span<const LogFile> logs) {
  std::map<std::string, std::vector<std::string>> values;
  for (const LogFile& log : logs) {
    values["imported-from"].push_back(log.path);
    for (const LogTable& table : log.tables) {
      values["tool"].push_back(table.tool);
      values["library"].push_back(table.library);
      values["devices"].push_back(devices_of(table));
      values["hosts"].push_back(hosts_of(table));
      values["command"].push_back(table.command);
      values["matrix"].push_back(table.matrix);
    }
  }
  Facts facts;
  for (const char* key :
       {"imported-from", "tool", "library", "devices", "hosts", "command", "matrix"}) {
    const std::string value = distinct_of(values[key]);
    if (!value.empty()) facts.emplace_back(key, value);
  }
  return facts;
}

}  // namespace busbar::study
