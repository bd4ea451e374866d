// SPDX-License-Identifier: BSD-3-Clause
// The first section: the findings in words.
#include "study/report_findings.hpp"
#include "study/report_sections.hpp"

namespace busbar {
namespace {

void add(std::vector<Section>& sections, const std::string& heading, const std::string& words,
         std::vector<std::string> items) {
  if (items.empty()) return;
  Section section{.level = 3, .id = heading, .heading = heading};
  if (!words.empty()) section.blocks.emplace_back(Paragraph{.text = words});
  section.blocks.emplace_back(Bullets{.items = std::move(items)});
  sections.push_back(std::move(section));
}

}  // namespace

std::vector<Section> summary_sections(const ReportContext& context) {
  const ReportData& data = context.data;
  std::vector<Section> sections{{.level = 2, .id = "short", .heading = "In short"}};
  for (const std::string& warning : comparison_warnings(data)) {
    sections.front().blocks.emplace_back(Paragraph{.text = warning, .warning = true});
  }
  for (const std::string& note : data.notes) {
    sections.front().blocks.emplace_back(Paragraph{.text = note});
  }
  sections.front().blocks.emplace_back(Bullets{.items = short_findings(data)});
  sections.push_back({.level = 2, .id = "findings", .heading = "Findings"});
  add(sections, "Who is fastest", "Rates within 2 % of each other are level.",
      fastest_findings(data));
  add(sections, "Who can carry most", "By topology: what the links allow, whatever is measured.",
      topology_findings(data));
  add(sections, "Where the lead changes",
      "Between two sizes that were run; nothing is interpolated.", crossing_findings(data));
  add(sections, "More ranks",
      "Flat: greatest and least differ by 5 % or less. Rising, falling: no step of more than 5 % "
      "the other way. Mixed: up and down.",
      trend_findings(data));
  add(sections, "Low or suspect",
      "Curves whose highest rate is below 60 % or above 102 % of the bound.", share_findings(data));
  if (sections.back().heading == "Findings") sections.pop_back();
  return sections;
}

}  // namespace busbar
