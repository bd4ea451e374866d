// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/enum_names.hpp"

namespace busbar::machine {

/// What a value is, and what is wrong with it.
enum class Nature {
  State,    ///< stays as it is: another value is a change
  Reading,  ///< varies by itself, such as a temperature
  Counter,  ///< rises with use
  Errors,   ///< a counter that rises where something goes wrong
  Share,    ///< "8 of 16": less than the whole is a fault
  Alarm,    ///< "Active" or "Yes" is a fault
  Event     ///< a new one is a fault, such as a line of the kernel's log
};

constexpr auto enum_names(Nature) {
  return std::array{Named{Nature::State, "state"},     Named{Nature::Reading, "reading"},
                    Named{Nature::Counter, "counter"}, Named{Nature::Errors, "errors"},
                    Named{Nature::Share, "share"},     Named{Nature::Alarm, "alarm"},
                    Named{Nature::Event, "event"}};
}

/// How files become values.
enum class Reader {
  FirstLine,  ///< of each file
  NonZero,    ///< the same, unless it is all zeros
  KeyLine,    ///< of each file, the word behind MachineFact::detail on the first line that has it
  KeyText,    ///< the same, and all that follows
  OfWhole,    ///< "8 of 16": each file and the file MachineFact::detail beside it
  Sum,        ///< of the numbers of all files
  Distinct,   ///< the different texts of all files
  Count,      ///< of the files
  NvidiaSmi,  ///< `source` is a column of nvidia-smi --query-gpu
  Other       ///< by a reader of its own
};

/// A fact of a machine: one value for each of its instances, such as ports.
struct MachineFact {
  std::string_view name;  ///< "net.carrier_changes"
  Nature nature = Nature::State;
  /// A pattern of glob(7) below the root; components with a wildcard name the instance.
  std::string_view source;
  std::string_view meaning;  ///< for people, with the unit: "bytes sent"
  Reader reader = Reader::FirstLine;
  std::string_view detail{};
  std::int64_t unit = 1;  ///< what one of the file's units is
};

/// Whether it is a number that only rises until the machine starts again.
[[nodiscard]] constexpr bool is_counter(const MachineFact& fact) {
  return fact.nature == Nature::Counter || fact.nature == Nature::Errors;
}

/// What a process may lock.
inline constexpr std::string_view kLockedMemory = "limit.locked_memory";
/// GPUs with both equal reach each other over NVLink.
inline constexpr std::string_view kFabricDomain = "gpu.fabric_domain";
inline constexpr std::string_view kFabricClique = "gpu.fabric_clique";

/// In the order in which they are read and shown.
[[nodiscard]] std::span<const MachineFact> machine_facts();
/// The fact of this name, or null.
[[nodiscard]] const MachineFact* find_fact(std::string_view name);
/// The first fact of this source, or null.
[[nodiscard]] const MachineFact* find_source(std::string_view source);

}  // namespace busbar::machine
