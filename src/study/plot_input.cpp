// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_input.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/row_key.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

/// Neither the head nor the user named a system.
bool is_unnamed(const Dataset& dataset) {
  return dataset.fact("system").empty() && dataset.label == stem_of(dataset.path);
}

/// "node1", "node1 and 3 more", or nothing where the head does not tell.
std::string hosts_of(const Dataset& dataset) {
  std::vector<std::string> hosts;
  for (const std::string& host : split(dataset.fact("hosts"), ' ')) {
    const std::string name(trim(host.substr(0, host.find(','))));
    if (!name.empty()) hosts.push_back(name);
  }
  if (hosts.empty()) return {};
  return hosts.size() == 1 ? hosts.front()
                           : fmt::format("{} and {} more", hosts.front(), hosts.size() - 1);
}

/// A row with its backend and devices; roots and groups are not told apart.
using MeasuredRow = std::tuple<std::string, std::string, RowKey>;

std::set<MeasuredRow> rows_of(const Dataset& dataset) {
  std::set<MeasuredRow> rows;
  for (const Record& record : dataset.records) {
    RowKey key = row_key(record);
    key.root.reset();
    key.group.reset();
    rows.emplace(record.backend, record.device_set, std::move(key));
  }
  return rows;
}

/// Files of one name in different folders keep the folder's name.
void tell_stems_apart(std::vector<Dataset>& datasets) {
  std::map<std::string, std::set<std::string>> paths;
  for (const Dataset& dataset : datasets) {
    if (is_unnamed(dataset)) paths[dataset.label].insert(dataset.path);
  }
  for (Dataset& dataset : datasets) {
    if (!is_unnamed(dataset) || paths[dataset.label].size() < 2) continue;
    dataset.label = fs::path(dataset.path).replace_extension().string();
  }
}

}  // namespace

LabelledPath labelled_path(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || fs::exists(word)) return {.path = word};
  return {.label = word.substr(0, equals), .path = word.substr(equals + 1)};
}

PlotInput load_plot_input(std::span<const std::string> words) {
  PlotInput input;
  for (const std::string& text : words) {
    const LabelledPath word = labelled_path(text);
    if (is_samples_file(word.path)) {
      const std::string label = word.label.empty() ? stem_of(word.path) : word.label;
      auto sets = read_samples(word.path, label);
      std::move(sets.begin(), sets.end(), std::back_inserter(input.samples));
      continue;
    }
    input.datasets.push_back(load_dataset(word.path));
    if (!word.label.empty()) input.datasets.back().label = word.label;
  }
  return input;
}

void label_all_by_hosts(std::vector<Dataset>& datasets) {
  for (Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (is_unnamed(dataset) && !hosts.empty()) dataset.label = hosts;
  }
}

void label_by_hosts(std::vector<Dataset>& datasets) {
  std::map<std::string, std::set<MeasuredRow>> known;
  std::set<std::string> compared;
  for (const Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (!is_unnamed(dataset) || hosts.empty()) continue;
    for (const MeasuredRow& row : rows_of(dataset)) {
      if (!known[hosts].insert(row).second) compared.insert(hosts);
    }
  }
  tell_stems_apart(datasets);
  for (Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (is_unnamed(dataset) && !hosts.empty() && !compared.contains(hosts)) dataset.label = hosts;
  }
}

}  // namespace busbar
