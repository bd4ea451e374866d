// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_document.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/markup_text.hpp"
#include "study/report_sections.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

std::vector<std::string> names_of(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportSystem& system : data.systems) names.push_back(system.name);
  return names;
}

/// Where the curves are from: the first thing that a reader must know.
std::string lead_of(const ReportData& data) {
  const auto simulated = static_cast<std::size_t>(
      std::count_if(data.datasets.begin(), data.datasets.end(),
                    [](const Dataset& dataset) { return dataset.simulated; }));
  const std::size_t measured = data.datasets.size() - simulated;
  std::string text = fmt::format("What {} can carry between GPUs, and why.",
                                 counted(data.systems.size(), "system"));
  if (data.datasets.empty()) return text + " From topologies alone: nothing here is measured.";
  if (simulated > 0) {
    text += fmt::format(
        " {} simulated: predicted from the topology, not measured.",
        simulated == 1 ? std::string("One run is") : fmt::format("{} runs are", simulated));
  }
  if (measured > 0) {
    text += fmt::format(" {} measured.", measured == 1 ? std::string("One run is")
                                                       : fmt::format("{} runs are", measured));
  }
  return text + " Bandwidths are bus bandwidths in GB/s (10^9 bytes a second); sizes are binary.";
}

/// No two headings may have one id.
void make_ids_unique(Document& document) {
  std::set<std::string> taken{"contents"};
  for (Section& section : document.sections) {
    const std::string id = markup_id(section.id.empty() ? section.heading : section.id);
    std::string unique = id;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", id, i);
    section.id = unique;
  }
}

}  // namespace

SeriesStyle ReportContext::style_of(const std::string& system) const {
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    if (data.systems[i].name == system) return styles.at(i);
  }
  return {.colour = "#000000"};
}

Document report_document(const ReportData& data) {
  const std::vector<std::string> names = names_of(data);
  const ReportContext context{.data = data, .styles = series_styles(names)};
  Document document{.title = "Interconnects compared: " + and_words(names), .lead = lead_of(data)};
  for (const auto& sections :
       {summary_sections(context), topology_sections(context), curve_sections(context),
        scaling_sections(context), system_sections(context), run_sections(context)}) {
    document.sections.insert(document.sections.end(), sections.begin(), sections.end());
  }
  make_ids_unique(document);
  return document;
}

}  // namespace busbar
