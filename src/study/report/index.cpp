// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "format/markup_text.hpp"
#include "model/flag.hpp"
#include "study/import/file_rows.hpp"
#include "study/plot/figures.hpp"
#include "study/report/data.hpp"

namespace busbar::study {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVerdicts = "verdicts.json";
constexpr std::string_view kJournal = "launches.csv";  ///< of an acceptance, in its folder
constexpr std::string_view kOwnName = "index.html";

/// An acceptance: where its files are, as in "night/", and its row in the index.
struct IndexedVerdict {
  std::string folder{};
  std::vector<std::string> cells{};  ///< judged, system, specification, verdict, suspects
};

std::vector<fs::path> files_below(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator one(folder, error), end; !error && one != end;
       one.increment(error)) {
    if (one->is_regular_file(error)) paths.push_back(one->path());
  }
  if (error) throw usage_error("--index: cannot read {}: {}", folder.string(), error.message());
  std::ranges::sort(paths);
  return paths;
}

class IndexedFolder {
 public:
  IndexedFolder(const std::string& folder, std::vector<std::string>& notes)
      : folder_(fs::absolute(folder) / ""), notes_(notes) {
    folder_ = folder_.lexically_normal().parent_path();
    const std::vector<fs::path> paths = files_below(folder_);
    for (const fs::path& path : paths) {
      if (path.filename() == kVerdicts) read(path, [&] { read_verdict(path); });
      if (path.filename() == kJournal) acceptances_.push_back((path.parent_path() / "").string());
      const bool is_page = path.extension() == ".html" && path.filename() != kOwnName;
      if (is_page) pages_.push_back(relative(path));
    }
    for (const fs::path& path : paths) {
      if (path.extension() == ".csv") read(path, [&] { read_run(path); });
    }
    if (runs_.empty() && verdicts_.empty()) {
      throw usage_error("--index: {} has no CSV of a run and no {}", folder, kVerdicts);
    }
    append(notes_, problems_of(runs_));
    label_by_hosts(runs_, true);
    std::ranges::stable_sort(runs_, std::greater{}, started);
    std::ranges::stable_sort(verdicts_, std::greater{}, &IndexedVerdict::cells);
  }

  [[nodiscard]] Document document() {
    Document index{
        .title = "Runs in " + folder_.filename().string(),
        .tone = tone(),
        .answer = answer(),
        .lead = fmt::format("{} and {}; {} {}.", counted(runs_.size(), "run"),
                            counted(verdicts_.size(), "acceptance"), kIndexMark, version())};
    std::vector<Section>& sections = index.sections;
    const auto add = [&](const std::string& heading, const Table& table) {
      if (table.rows.empty()) return;
      sections.push_back({.id = markup_id(heading), .heading = heading, .blocks = {table}});
    };
    add("Verdicts", verdict_table());
    add_histories(sections);
    if (!notes_.empty()) {
      sections.insert(sections.begin(),
                      {.id = "warnings", .heading = "Warnings", .blocks = {Bullets{notes_}}});
    }
    add("Runs", run_table());
    Table pages{.caption = "Reports and other pages", .columns = {"Page"}, .links = pages_};
    for (const std::string& page : pages_) pages.rows.push_back({page});
    add("Pages", pages);
    return index;
  }

 private:
  static std::string started(const Dataset& run) { return run.fact(fact::kStarted); }

  [[nodiscard]] std::string relative(const fs::path& path) const {
    return path.lexically_relative(folder_).string();
  }

  template <class Read>
  void read(const fs::path& path, const Read& reader) {
    try {
      reader();
    } catch (const Error& error) {
      notes_.emplace_back(error.what());
    } catch (const Json::exception& error) {
      notes_.push_back(fmt::format("{}: not a verdict: {}", path.string(), one_line(error.what())));
    }
  }

  /// Launches of an acceptance are none, nor files of samples and verdicts.
  void read_run(const fs::path& path) {
    const bool of_acceptance = std::ranges::any_of(
        acceptances_, [&](const std::string& folder) { return path.string().starts_with(folder); });
    const bool has_names = !CsvReader(path.string()).columns().empty();
    if (of_acceptance || (has_names && !is_csv(path.string()))) return;
    Dataset run = load_dataset(path.string());
    if (run.records.empty()) throw usage_error("{}: no row", path.string());
    runs_.push_back(std::move(run));
  }

  /// "h6 wrong data, link h0 - h4 slow": each node, link and path once, by its first finding.
  static std::string suspects_text(const Json& suspects) {
    std::vector<std::string> names;
    std::vector<std::string> texts;
    for (const Json& one : suspects) {
      const auto nodes = one.at("nodes").get<std::vector<std::string>>();
      const auto text = [&](const char* key) {
        const auto found = one.find(key);
        return found != one.end() && found->is_string() ? found->get<std::string>() : "";
      };
      const std::string name = nodes.empty()       ? text("path")
                               : nodes.size() == 2 ? "link " + join(nodes, " - ")
                                                   : hostlist(nodes);
      if (contains(names, name)) continue;
      names.push_back(name);
      const std::string defect = text("defect");
      texts.emplace_back(trim(name + " " + (defect == "a fact" ? text("rule") : defect)));
    }
    return join(texts, ", ");
  }

  void read_verdict(const fs::path& path) {
    const Json json = Json::parse(read_file(path.string()).value_or(""));
    const auto text = [&](const char* key) {
      return json.at(key).is_null() ? std::string() : json.at(key).get<std::string>();
    };
    verdicts_.push_back({relative(path).substr(0, relative(path).rfind(kVerdicts)),
                         {text("judged"), text("system"), text("specification"), text("overall"),
                          suspects_text(json.at("suspects"))}});
  }

  [[nodiscard]] std::string answer() const {
    std::string text;
    if (!verdicts_.empty()) {
      const auto& last = verdicts_.front().cells;
      text = fmt::format("Last verdict, of {} ({}): {}{}{}. ", last[1], last[0], last[3],
                         last[4].empty() ? "" : ", suspected: ", last[4]);
    }
    const auto wrong = filtered(runs_, [](const Dataset& run) {
      return any_has(run.records, RowStatus::Wrong, &Record::status);
    });
    const auto path = [&](const Dataset& run) { return relative(run.path); };
    if (!wrong.empty()) text += fmt::format("Wrong data in {}.", join_each(wrong, ", ", path));
    return std::string(trim(text));
  }
  [[nodiscard]] Tone tone() const {
    if (verdicts_.empty()) return Tone::Neutral;
    const std::string& last = verdicts_.front().cells[3];
    if (last == "PASS") return Tone::Good;
    return last == "FAIL" || last == "ERROR" ? Tone::Bad : Tone::Doubtful;
  }

  [[nodiscard]] Table verdict_table() const {
    Table table{.caption = "Acceptances, the newest first",
                .columns = {"Judged", "System", "Specification", "Verdict", "Suspects"}};
    for (const IndexedVerdict& one : verdicts_) {
      table.rows.push_back(one.cells);
      const std::string page = one.folder + "report.html";
      const bool has_page = std::ranges::count(pages_, page) > 0;
      table.links.push_back(has_page ? page : one.folder + std::string(kVerdicts));
    }
    return table;
  }

  /// A section for each machine, with a figure for each collective that was measured twice.
  void add_histories(std::vector<Section>& sections) {
    std::map<std::string, std::map<std::string, std::vector<Dataset>>> machines;
    std::vector<std::string> disturbed;
    for (Dataset run : runs_) {
      const auto dropped = std::erase_if(run.records, [&](const Record& row) {
        return run.simulated || has_flag(row, Flag::DelayInjected) || has_flag(row, Flag::Loaded);
      });
      if (dropped > 0) disturbed.push_back(relative(run.path));
      for (Dataset& part : split_by(run, &Record::collective)) {
        machines[run.label][part.records.front().collective].push_back(std::move(part));
      }
    }
    for (auto& [machine, collectives] : machines) {
      Section section{.id = fmt::format("machine-{}", sections.size()), .heading = machine};
      for (auto& [collective, runs] : collectives) {
        Chart chart = history_figure(std::move(runs), PlotPlacement::Out, {});
        if (chart.empty()) continue;
        const std::string caption = chart.title;
        section.blocks.emplace_back(Figure{.chart = std::move(chart), .caption = caption});
      }
      if (!section.blocks.empty()) sections.push_back(std::move(section));
    }
    if (disturbed.empty()) return;
    notes_.push_back(fmt::format(
        "simulated rows and those under load or with an injected delay are in no history: {}",
        join(disturbed, ", ")));
  }

  [[nodiscard]] std::vector<std::string> run_cells(const Dataset& part) const {
    const Record& last = *std::ranges::max_element(part.records, {}, [](const Record& record) {
      return std::pair(record.busbw_GBps.has_value(), record.size);
    });
    std::map<RowStatus, int> bad;
    for (const Record& record : part.records) ++bad[record.status];
    bad.erase(RowStatus::Ok);
    return {relative(part.path),
            started(part),
            part.label + std::string(part.simulated ? " (simulated)" : ""),
            std::string(trim(last.collective + " " + setting_of(last))),
            fmt::format("{}", last.ranks),
            format_bytes(last.size),
            last.busbw_GBps ? fmt::format("{:.2f}", *last.busbw_GBps) : "",
            join_each(bad, ", ", [](const auto& one) {
              return fmt::format("{} {}", one.second, name(one.first));
            })};
  }

  [[nodiscard]] Table run_table() const {
    Table table{.caption = "Runs, the newest first; the rate is of the largest size",
                .columns = {"File", "Started", "Machine", "Collective", "Ranks", "Size",
                            "Bus bandwidth, GB/s", "Not ok"}};
    for (const Dataset& run : runs_) {
      const auto kind = [](const Record& row) {
        return std::pair(row.collective, setting_of(row));
      };
      for (const Dataset& part : split_by(run, kind)) {
        table.rows.push_back(run_cells(part));
        table.links.push_back(table.rows.back().front());
      }
    }
    return table;
  }

  fs::path folder_;
  std::vector<Dataset> runs_{};
  std::vector<IndexedVerdict> verdicts_{};
  std::vector<std::string> acceptances_{};  ///< folders
  std::vector<std::string> pages_{};
  std::vector<std::string>& notes_;
};

}  // namespace

Document index_of(const std::string& folder, std::vector<std::string>& notes) {
  return IndexedFolder(folder, notes).document();
}

}  // namespace busbar::study
