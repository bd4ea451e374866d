// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <filesystem>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/expect/expect.hpp"
#include "study/import/file_rows.hpp"

namespace busbar::study {

namespace {

std::string kind_of(const Record& record) {
  const std::string root = record.root ? fmt::format(" root {}", *record.root) : "";
  return fmt::format("{} {}{}", record.type, record.op, root);
}

/// Rows of one setting and kind are one, whichever launch they are of.
void add_launch(const FileRows& launch, const std::string& file, std::vector<Measured>& all) {
  const auto apart = [](const Record& row) { return std::pair(setting_of(row), kind_of(row)); };
  for (const Dataset& part : split_by(launch.dataset, apart)) {
    const Record& first = part.records.front();
    const Measured none{.setting = setting_text(std::array{launch.setting, setting_of(first)}),
                        .kind = kind_of(first),
                        .facts = launch.dataset.facts};
    const auto same = [&](const Measured& known) {
      return known.setting == none.setting && known.kind == none.kind;
    };
    Measured& measured = find_or_add(all, same, none);
    append(measured.records, part.records);
    append(measured.notes, launch.notes);
    if (!part.cut.empty()) measured.notes.push_back(fmt::format("{}: {}", file, part.cut));
  }
}

}  // namespace

std::vector<Measured> read_measured(const std::string& text, const Collective& collective,
                                    std::optional<Bytes> size) {
  if (text.empty()) return {{}};
  if (const auto figure = to_number<double>(text)) {
    if (*figure > 0) return {{.busbw_GBps = figure}};
    throw usage_error("--measured {}: expected GB/s above 0, or a file", text);
  }
  if (!std::filesystem::exists(text)) {
    throw usage_error("--measured {}: neither a number (GB/s) nor an existing file",
                      one_line(text));
  }
  std::vector<Measured> all;
  for (const FileRows& launch :
       read_launches(text, {.collective = std::string(collective.name), .size = size})) {
    add_launch(launch, text, all);
  }
  bool any_alone = false;
  for (Measured& measured : all) {
    std::erase_if(measured.records, [&](const Record& record) {
      const bool counts = record.collective == collective.name && record.status == RowStatus::Ok &&
                          !record.group && !(record.sender && record.receiver);
      any_alone = any_alone || (counts && record.ranks == 1);
      return !counts || record.busbw_GBps.value_or(0) <= 0;
    });
  }
  std::erase_if(all, [](const Measured& measured) { return measured.records.empty(); });
  if (set_of(all, &Measured::kind).size() > 1) {
    for (Measured& one : all) one.setting = setting_text(std::array{one.setting, one.kind});
  }
  if (!all.empty()) return all;
  const std::string none = fmt::format("no row of {} outside groups and pairs", collective.title);
  throw usage_error("--measured {}: {}", text, any_alone ? std::string(kOneRank) : none);
}

}  // namespace busbar::study
