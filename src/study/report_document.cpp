// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_document.hpp"

#include <map>
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
  std::string text = fmt::format("What {} can carry between GPUs, and why.",
                                 counted(data.systems.size(), "system"));
  if (data.datasets.empty()) return text + " From topologies alone: nothing here is measured.";
  std::map<Origin, std::size_t> runs;
  std::set<std::string> tools;
  for (const Dataset& dataset : data.datasets) {
    ++runs[origin_of(dataset)];
    const std::string tool = dataset.fact("tool");
    const bool named = origin_of(dataset) == Origin::Imported && !tool.empty();
    if (named) tools.insert(tool.substr(0, tool.find_first_of(" ,")));
  }
  const std::string logs =
      fmt::format("imported from logs of {}: each value is a mean, where our own are medians",
                  tools.empty() ? "other tools"
                                : and_words(std::vector<std::string>(tools.begin(), tools.end())));
  for (const auto& [origin, words] :
       {std::pair{Origin::Simulated,
                  std::string("simulated: predicted from the topology, not measured")},
        std::pair{Origin::Fake, std::string("of the fake GPU machine: no figure is real")},
        std::pair{Origin::Imported, logs}, std::pair{Origin::Measured, std::string("measured")}}) {
    if (runs[origin] == 0) continue;
    text += runs[origin] == 1 ? " One run is " : fmt::format(" {} runs are ", runs[origin]);
    text += words + ".";
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

Document report_document(const ReportData& data) {
  const std::vector<std::string> names = names_of(data);
  const ReportContext context{.data = data, .styles = SeriesStyles(names)};
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
