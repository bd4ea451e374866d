// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Rows of a file that were measured together.
struct FilePart {
  std::string collective{};
  int ranks = 0;
  int nodes = 0;
  bool grouped = false;  ///< rows of groups, as of rails
  std::string devices{};
  std::vector<Record> records{};
};

/// A file's parts; of a file without rows the one that its head names.
[[nodiscard]] std::vector<FilePart> parts_of(const ObservationFile& file);

/// Whether devices of a row ("0,1,2,3", hosts divided by ";") may be those of a specification
/// ("0-3"): true unless both are known and differ.
[[nodiscard]] bool may_be_devices(const std::string& measured, const std::string& wanted);

/// CSVs without a journal as observations: sets are found by the number of nodes and ranks, device
/// sets and host names; every file that fits no set is named in `notes`.
[[nodiscard]] std::vector<Observation> observe_files(const Specification& specification,
                                                     std::span<const std::string> paths,
                                                     std::vector<std::string>& notes);

}  // namespace busbar::judge
