// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <functional>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/lists.hpp"
#include "format/csv_reader.hpp"
#include "model/record.hpp"

namespace busbar::study {

/// One CSV of ours: a launch's rows and the facts of its head.
struct Dataset {
  std::string path{};
  std::string label{};  ///< for people: the head's "label" or "system", else the file's stem
  Facts facts{};        ///< "key: value" lines of the head
  std::vector<Record> records{};
  bool simulated = false;  ///< predicted, not measured: every picture and table says so
  std::string cut{};       ///< why the file is not whole, or empty
  std::string machine{};   ///< the built-in system that it was measured on, by its GPUs; or empty
  std::string machine_note{};  ///< why that, for people

  /// A fact of the head, or empty.
  [[nodiscard]] std::string fact(const Fact& wanted) const { return value_of(facts, wanted); }
  /// The value of "key=value" in the head's configuration, or empty.
  [[nodiscard]] std::string setting(const std::string& key) const;
};

/// Whether size, time and bandwidth of an imported row cannot all be right; no curve has it.
[[nodiscard]] bool contradicts_itself(const Record& record);

/// What a reader of any figure of a file should know.
class FileProblems {
 public:
  void add(const Record& record);
  /// A line each: that the file was cut (`cut`: as CsvFile::cut), that it has no value, rows that
  /// are left out, and the fake GPU machine.
  [[nodiscard]] std::vector<std::string> lines(const std::string& path,
                                               const std::string& cut) const;

 private:
  std::vector<std::string> contradictory_sizes_{};
  bool any_value_ = false;
  bool fake_ = false;
};
/// Those of all files.
[[nodiscard]] std::vector<std::string> problems_of(std::span<const Dataset> datasets);

/// Files that count as launches: of those with the same bytes only the first, with a note: "a.csv
/// and b.csv are the same file: counted once". Of `known` are those that count already.
[[nodiscard]] std::vector<std::string> distinct_files(std::span<const std::string> paths,
                                                      std::vector<std::string>& notes,
                                                      std::span<const std::string> known = {});

/// Leaves the rows of this setting (setting_of), unless it is empty: of the collectives that have
/// some. Throws Error (Usage) where the file has other settings only.
void keep_setting(Dataset& dataset, const std::string& setting);
/// "--vary: 'A', 'B'; choose one by --setting 'A'": what to do where rows of several are one curve.
[[nodiscard]] std::string settings_to_choose(const std::set<std::string>& settings);

/// Reads a CSV. Throws Error (Usage) where it is not one of ours.
[[nodiscard]] Dataset load_dataset(const std::string& path);

/// What makes rows points of one curve.
struct CurveKey {
  std::string label{};
  std::string collective{};
  std::string type{};
  std::string op{};
  int ranks = 0;
  int nodes = 0;
  bool in_place = false;
  bool simulated = false;
  bool fake = false;      ///< of the fake GPU machine of our tests
  bool imported = false;  ///< from another tool's log: a mean, where our own rows are medians
  std::string device_set{};
  std::optional<int> root{};
  std::string setting{};  ///< as setting_of has it
  std::string group{};    ///< "round 0 group 1"; one text for all of many groups

  // NOLINTNEXTLINE(readability-implicit-bool-conversion): the compiler compares in_place
  [[nodiscard]] auto operator<=>(const CurveKey& other) const = default;
};

/// The dataset's rows by what `key` gives of each, in the order of the keys.
template <class Key>
[[nodiscard]] std::vector<Dataset> split_by(const Dataset& whole, Key key) {
  return mapped(set_of(whole.records, key), [&](const auto& value) {
    Dataset part = whole;
    std::erase_if(part.records,
                  [&](const Record& record) { return std::invoke(key, record) != value; });
    return part;
  });
}

/// Where a file's rows are from, and what its values are.
enum class Origin { Measured, Imported, Simulated, Fake };
constexpr auto enum_names(Origin) {
  return std::array{Named{Origin::Measured, "measured medians"},
                    Named{Origin::Imported, "imported means"},
                    Named{Origin::Simulated, "simulated"}, Named{Origin::Fake, "fake GPUs"}};
}
[[nodiscard]] Origin origin_of(const Dataset& dataset);

/// What the name of a curve must say of it, such as " (simulated)"; empty for what was measured.
[[nodiscard]] std::string_view origin_suffix(const CurveKey& key);

}  // namespace busbar::study
