// SPDX-License-Identifier: BSD-3-Clause
// How rates go with the number of ranks.
#include <algorithm>

#include "study/report_findings.hpp"

namespace busbar {
namespace {

std::vector<std::string> collectives_of(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportPanel& panel : data.panels) {
    if (std::find(names.begin(), names.end(), panel.collective) == names.end()) {
      names.push_back(panel.collective);
    }
  }
  return names;
}

/// The largest size that every line of the collective has; 0 where there is none.
Bytes common_size(const ReportData& data, const std::string& collective) {
  std::vector<Bytes> common;
  bool first = true;
  for (const ReportPanel& panel : data.panels) {
    if (panel.collective != collective) continue;
    const std::vector<Bytes> sizes = sizes_of_all(panel);
    if (first) {
      common = sizes;
    } else {
      common.erase(std::remove_if(common.begin(), common.end(),
                                  [&](Bytes size) {
                                    return std::find(sizes.begin(), sizes.end(), size) ==
                                           sizes.end();
                                  }),
                   common.end());
    }
    first = false;
  }
  return common.empty() ? 0 : common.back();
}

/// The label without what changes with the number of ranks.
std::string scaling_label(const ReportLine& line) {
  std::string label = line.system;
  if (line.key.type != "float" && !line.key.type.empty()) label += ", " + line.key.type;
  return label + (line.key.fake ? " (fake GPUs)" : "");
}

ScalingRow& row_for(Scaling& scaling, const ReportLine& line) {
  const std::string plain = scaling_label(line);
  const std::string label = plain + (line.key.simulated ? " (simulated)" : "");
  for (ScalingRow& row : scaling.rows) {
    if (row.label == label) return row;
  }
  scaling.rows.push_back({.label = label,
                          .label_in_chart = plain,
                          .system = line.system,
                          .number = line.number,
                          .simulated = line.key.simulated});
  return scaling.rows.back();
}

void add_panel(Scaling& scaling, const ReportPanel& panel) {
  for (const ReportLine& line : panel.lines) {
    ScalingRow& row = row_for(scaling, line);
    // of several sets or placements at one number of ranks the first stands for the system
    if (!row.ranks.empty() && row.ranks.back() == panel.ranks) continue;
    row.ranks.push_back(panel.ranks);
    row.rates_GBps.push_back(*rate_at(line, scaling.size));
  }
}

}  // namespace

std::vector<Scaling> scalings_of(const ReportData& data) {
  std::vector<Scaling> scalings;
  for (const std::string& collective : collectives_of(data)) {
    Scaling scaling{.collective = collective, .size = common_size(data, collective)};
    if (scaling.size == 0) continue;
    for (const ReportPanel& panel : data.panels) {
      if (panel.collective == collective) add_panel(scaling, panel);
    }
    for (ScalingRow& row : scaling.rows) row.trend = trend_of(row.rates_GBps);
    scalings.push_back(std::move(scaling));
  }
  return scalings;
}

}  // namespace busbar
