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

/// "measured", "imported means (nccl-tests 2.17.8)", ...
std::string how_words(const Dataset& dataset) {
  const std::string tool = dataset.fact("tool");
  switch (origin_of(dataset)) {
    case Origin::Simulated: return "simulated";
    case Origin::Fake: return "on fake GPUs: nothing is real";
    case Origin::Imported:
      return tool.empty() ? "imported means" : fmt::format("imported means ({})", tool);
    case Origin::Measured: break;
  }
  return "measured";
}

/// A fact of the head; of a path the file's name alone.
std::string fact_words(const Dataset& dataset, const std::string& key) {
  return key == "imported-from" ? file_name(dataset.fact(key)) : dataset.fact(key);
}

DocumentTable runs_table(const ReportData& data) {
  constexpr std::array<std::pair<const char*, const char*>, 10> kFacts{
      {{"imported-from", "log"},
       {"started", "when"},
       {"hosts", "where"},
       {"processor", "processor"},
       {"devices", "devices"},
       {"library", "library"},
       {"device-set", "device set"},
       {"bound-limit", "limit"},
       {"busbar", "busbar"},
       {"command", "command"}}};
  DocumentTable table{
      .caption = "Runs: files and what their heads tell",
      .columns = {{"file", false}, {"system", false}, {"how", false}, {"rows", true}}};
  std::vector<const char*> keys;  // those that any run has
  for (const auto& [key, title] : kFacts) {
    const bool any =
        std::any_of(data.datasets.begin(), data.datasets.end(),
                    [name = key](const Dataset& dataset) { return !dataset.fact(name).empty(); });
    if (!any) continue;
    keys.push_back(key);
    table.columns.push_back({title, false});
  }
  for (const Dataset& dataset : data.datasets) {
    std::vector<std::string> row{file_name(dataset.path), dataset.label, how_words(dataset),
                                 status_words(dataset)};
    for (const char* key : keys) row.push_back(fact_words(dataset, key));
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
          R"(Bound: the most that rings over the links of a set of devices can carry; for all-reduce the most of rings, of trees and of what the switch adds (NVLS), whichever is highest.)",
          R"(Cut: what crosses the narrowest division of the set, per direction; no algorithm passes it in a broadcast.)",
          R"(First: devices 0, 1, 2 and so on, which a job takes that does not choose.)",
          R"(Simulated: predicted from the topology and from efficiencies in the system's file. Measured: timed on the machine that the runs' table names. Imported means: from the log of another tool, which gives a mean where our own rows have a median.)",
          R"(A dash is a missing value, never zero.)"}});
  sections.push_back(std::move(words));
  return sections;
}

}  // namespace busbar
