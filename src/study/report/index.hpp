// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "format/document.hpp"

namespace busbar::study {

/// Stands in every index: an index may be replaced, another page may not.
inline constexpr std::string_view kIndexMark = "busbar report --index,";

/// The index of a folder of runs: a page with the verdicts of its acceptances, the history of each
/// machine and collective, every run, and links to all of them. Reads the folder and those below
/// it: CSVs of runs, verdicts.json of acceptances, and pages. CSVs below a journal (launches.csv)
/// are those of an acceptance, and no runs. Links are relative to the folder; `notes` are of files
/// that cannot be read or lack something. Throws Error (Usage) where there is no run and no
/// acceptance.
[[nodiscard]] Document index_of(const std::string& folder, std::vector<std::string>& notes);

}  // namespace busbar::study
