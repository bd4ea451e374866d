// SPDX-License-Identifier: BSD-3-Clause
#include "study/measured_file.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/dataset.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/log_runs.hpp"

namespace busbar::study {
namespace {

/// The launches of each setting of a log. `size`: of rates that have none.
std::vector<Measured> read_measured_log(std::string_view content, const std::string& path,
                                        const Collective& collective, std::optional<Bytes> size) {
  const LogFile log = read_log(content, path, {.size = size});
  const LogHints hints{.collective = std::string(collective.name)};
  std::vector<Measured> all;
  for (const LogLaunch& launch : launches_of(log, hints)) {
    ImportedRows rows = records_of({&launch.log, 1}, hints);
    auto same = std::find_if(all.begin(), all.end(), [&](const Measured& measured) {
      return measured.setting == launch.setting;
    });
    if (same == all.end()) {
      all.push_back({.setting = launch.setting, .facts = {rows.facts.begin(), rows.facts.end()}});
      same = all.end() - 1;
    }
    std::move(rows.records.begin(), rows.records.end(), std::back_inserter(same->records));
  }
  return all;
}

}  // namespace

std::vector<Measured> read_measured(const std::string& text, const Collective& collective,
                                    std::optional<Bytes> size) {
  if (text.empty()) return {{}};
  if (const auto figure = to_number<double>(text)) {
    if (*figure > 0) return {{.busbw_GBps = figure}};
    throw usage_error(fmt::format("--measured {}: expected GB/s above 0, or a file", text));
  }
  const auto content = read_file(text);
  if (!content) {
    throw usage_error(fmt::format("--measured {}: no number of GB/s, and no file", one_line(text)));
  }
  std::vector<Measured> all;
  if (content->starts_with("# busbar")) {
    Dataset dataset = load_dataset(text);
    all.push_back({.records = std::move(dataset.records), .facts = std::move(dataset.facts)});
  } else {
    all = read_measured_log(*content, text, collective, size);
  }
  for (Measured& measured : all) {
    std::erase_if(measured.records, [&](const Record& record) {
      return record.collective != collective.name || record.status != RowStatus::Ok ||
             record.group || record.busbw_GBps.value_or(0) <= 0;
    });
  }
  std::erase_if(all, [](const Measured& measured) { return measured.records.empty(); });
  if (!all.empty()) return all;
  throw usage_error(fmt::format("--measured {}: no row of {}", text, collective.title));
}

}  // namespace busbar::study
