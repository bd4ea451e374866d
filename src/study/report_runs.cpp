// SPDX-License-Identifier: BSD-3-Clause
// The last sections: where the curves are from, and how to read the page.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/report_sections.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

/// A file's name without its folder: the folder is of this machine.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string status_words(const Dataset& dataset) {
  const auto with = [&](RowStatus status) {
    return std::count_if(dataset.records.begin(), dataset.records.end(),
                         [&](const Record& record) { return record.status == status; });
  };
  std::string text = fmt::format("{}", dataset.records.size());
  for (const auto& [status, word] :
       {std::pair{RowStatus::Wrong, "wrong"}, std::pair{RowStatus::Skipped, "skipped"},
        std::pair{RowStatus::Failed, "failed"}}) {
    if (with(status) > 0) text += fmt::format(", {} {}", with(status), word);
  }
  return text;
}

DocumentTable runs_table(const ReportData& data) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kFacts{
      {{"started", "when"},
       {"hosts", "where"},
       {"processor", "processor"},
       {"library", "library"},
       {"device-set", "device set"},
       {"bound-limit", "limit"},
       {"busbar", "busbar"},
       {"command", "command"}}};
  DocumentTable table{
      .caption = "Runs: files and what their heads tell",
      .columns = {{"file", false}, {"system", false}, {"how", false}, {"rows", true}}};
  for (const auto& [key, title] : kFacts) table.columns.push_back({std::string(title), false});
  for (const Dataset& dataset : data.datasets) {
    std::vector<std::string> row{file_name(dataset.path), dataset.label,
                                 dataset.simulated ? "simulated" : "measured",
                                 status_words(dataset)};
    for (const auto& [key, title] : kFacts) row.push_back(dataset.fact(std::string(key)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<Section> run_sections(const ReportContext& context) {
  std::vector<Section> sections;
  if (!context.data.datasets.empty()) {
    Section runs{.level = 2, .id = "runs", .heading = "The runs"};
    runs.blocks.emplace_back(runs_table(context.data));
    sections.push_back(std::move(runs));
  }
  Section words{.level = 2, .id = "reading", .heading = "How to read this page"};
  words.blocks.emplace_back(Bullets{
      .items = {
          R"(Bus bandwidth: size over time, times a factor of the collective (2(n-1)/n for all-reduce, 1 for broadcast), so that it can be set against a link's rate whatever the number of ranks.)",
          R"(Bound: the most that rings over the links of a set of devices can carry. Trees over a network, and switches that add, can exceed it in all-reduce.)",
          R"(Cut: what crosses the narrowest division of the set, per direction; no algorithm passes it in a broadcast.)",
          R"(First: devices 0, 1, 2 and so on, which a job takes that does not choose.)",
          R"(Simulated: predicted from the topology and from efficiencies in the system's file. Measured: timed on the machine that the runs' table names.)",
          R"(A dash is a missing value, never zero.)"}});
  sections.push_back(std::move(words));
  return sections;
}

}  // namespace busbar
