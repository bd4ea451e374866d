// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/record.hpp"

namespace busbar::judge {

/// Why a launch was made.
enum class Purpose { Measure, Rerun, Confirm };

/// "measure", "rerun", "confirm".
[[nodiscard]] std::string_view name(Purpose purpose);

/// One launch of one collective on one set of nodes: its rows, or why it has none. A launch whose
/// CSV holds only some rows has these and a failure.
struct Observation {
  std::string device_set{};          ///< id of the specification
  std::string instance{};            ///< "h1", "h1+h2", "rail 3", "all": of the set's nodes
  std::vector<std::string> nodes{};  ///< by name
  int group = -1;                    ///< of Rails: the rows with this group count; -1: all do
  int launch = 0;                    ///< from 0
  int attempt = 0;                   ///< 0 first; a rerun is 1, 2, ...
  Purpose purpose = Purpose::Measure;
  std::string collective{};
  std::string file{};
  std::string failure{};  ///< "timeout after 120 s", "exit 4: ...", "h3 does not answer"
  std::map<std::string, std::string> facts{};  ///< of the CSV's head
  std::vector<Record> records{};
};

}  // namespace busbar::judge
