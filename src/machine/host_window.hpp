// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "format/output_file.hpp"
#include "format/table.hpp"
#include "machine/host_reading.hpp"

namespace busbar::machine {

/// One value of one reading: a line of facts.csv.
struct FactLine {
  std::string at{};
  std::string host{};
  std::string fact{};
  std::string instance{};
  FactValue value{};
};

/// The columns of facts.csv.
[[nodiscard]] std::span<const Column<FactLine>> fact_columns();
/// A reading as lines; of a later one those that differ from the reading before it. What has gone
/// has the reason "gone".
[[nodiscard]] std::vector<FactLine> lines_of(const HostReading& reading,
                                             const HostReading* before = nullptr);

/// What a line of facts begins with on standard output, where a CSV of rows goes too.
inline constexpr std::string_view kFactPrefix = "# fact: ";

/// The first and the last reading of a host.
struct HostWindow {
  HostReading first{};
  HostReading last{};
};

/// The windows of hosts, in the order in which they appear in any number of readings.
class HostWindows {
 public:
  void add(const FactLine& line);
  /// Adds the cells of a line as fact_columns has them; false where they are something else.
  bool add_cells(const Words& cells);
  /// Adds the readings of facts.csv, which are later. Throws as read_facts.
  void add_file(const std::string& path);
  /// Adds the readings of another run, earlier or later: a counter's rise is the sum of the runs'
  /// own, and what came between them is of neither.
  void add_run(const HostWindows& run);
  [[nodiscard]] const std::vector<HostWindow>& all() const { return windows_; }
  /// The window of a host by its name, or null.
  [[nodiscard]] const HostWindow* find(std::string_view host) const;

 private:
  std::vector<HostWindow> windows_{};
};

/// Reads facts.csv. Throws Error (Usage) with the place where it is something else.
[[nodiscard]] HostWindows read_facts(const std::string& path);

/// A value that is not what it was.
struct FactChange {
  const MachineFact* fact = nullptr;
  std::string instance{};
  FactValue before{};
  FactValue after{};
  std::optional<double> rise{};  ///< of a counter; nothing where it was reset
};

/// A value's text, or in brackets why it was not read.
[[nodiscard]] std::string shown(const FactValue& value);

/// All values that differ, in the order of machine_facts(). Readings, which always do, are left
/// out unless they are asked for. A counter of a machine that has started again was reset.
[[nodiscard]] std::vector<FactChange> changes_of(const HostReading& before,
                                                 const HostReading& after, bool readings = false);
/// How much a counter rose; nothing where it is not known in both readings, or was reset.
[[nodiscard]] std::optional<double> rise_of(const HostWindow& window, const FactKey& key);

/// "eth0: carrier changes", "thermal throttles".
[[nodiscard]] std::string describe(const MachineFact& fact, const std::string& instance);
/// What is wrong with a host or went wrong, a text each: "eth0: carrier changes +2", "0000:17:00.0:
/// PCIe lanes 8 of 16", "gpu3: slowed by heat".
[[nodiscard]] Words faults_of(const HostWindow& window);

/// What went wrong on a host between two readings.
struct HostFault {
  std::string at{};  ///< of the later one
  std::string host{};
  std::string text{};  ///< as faults_of
};
/// Those of facts.csv, by time. Throws what read_facts throws.
[[nodiscard]] std::vector<HostFault> read_host_faults(const std::string& path);

}  // namespace busbar::machine
