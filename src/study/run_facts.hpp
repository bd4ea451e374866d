// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/csv_reader.hpp"
#include "model/record.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar::study {

/// A file's head and rows, wherever they are kept.
struct FileView {
  std::string_view path{};
  const Facts& facts;
  std::span<const Record> records{};
};

/// A fact of a file by its key (model/fact.hpp), of the head or of its rows.
/// What the file does not report, a GPU's generic or shortened name too, is taken from `assumed`,
/// else it is nothing; several values are joined by "; ".
[[nodiscard]] std::optional<std::string> fact_of(const FileView& file, const std::string& name,
                                                 const Facts& assumed = {});

/// The machine that a launch ran on. Throws Error (Usage) where neither its file nor `assumed` has
/// the name and the number of its GPUs.
[[nodiscard]] topo::MachineIdentity identity_of(const FileView& file, const Facts& assumed);

/// "x.csv does not report gpu (--assume gpu=VALUE where you know it)".
[[nodiscard]] std::string unreported_text(const FileView& file, const std::string& name);

/// True where what is reported is one of the values that are wanted, upper and lower case alike: a
/// GPU by its whole name, but for "NVIDIA" before it, or by its beginning, and of several each,
/// where a generic name may be any GPU's; NCCL's links by whole names, of networks all of them; a
/// number as it is; other texts as a part.
[[nodiscard]] bool matches_fact(const std::string& name, const std::string& reported,
                                const std::vector<std::string>& wanted);

/// Whether the text has that part, upper and lower case alike.
[[nodiscard]] bool is_part(const std::string& part, const std::string& text);

/// That the launch names its GPUs generically (topo::is_generic_gpu) or shortened
/// (topo::begins_gpu), and what they are taken for; empty where it does not.
[[nodiscard]] std::string generic_gpu_note(const FileView& file, const std::string& taken_for);

}  // namespace busbar::study
