// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/toml_fields.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

inline constexpr std::string_view kSpecificationDocument = "docs/acceptance-specification.md";

/// @name One table each. They throw Error (Usage) with file:line:column
/// @{
[[nodiscard]] SystemIdentity read_system(const TomlFields& file);
[[nodiscard]] CeilingRule read_ceiling(const TomlFields& file);
[[nodiscard]] std::optional<BaselineRule> read_baseline(const TomlFields& file);
[[nodiscard]] RunContract read_run(const TomlFields& file);
[[nodiscard]] NoiseGate read_noise(const TomlFields& file);
/// Needs the system: its fingerprint tells the ranks of a node.
[[nodiscard]] std::vector<DeviceSetRule> read_device_sets(const TomlFields& file,
                                                          const SystemIdentity& system);
/// Of the whole file: needs all else of the specification.
[[nodiscard]] std::vector<Expectation> read_expectations(const TomlFields& file,
                                                         const Specification& specification);
/// @}

/// @name Parts of a rule
/// @{
[[nodiscard]] std::vector<Bytes> read_sizes(const TomlFields& rule);
[[nodiscard]] Bounds read_bounds(const TomlFields& rule);
/// min_robust_z, max_fleet_mad, attribute, confirm; refuses them where nothing is compared with a
/// fleet.
void read_fleet(const TomlFields& rule, const DeviceSetRule& set, Expectation& expectation);
/// @}

/// @name Parts of [run] and [noise] that a profile may say again; what is missing stays
/// @{
void read_run_numbers(const TomlFields& table, RunContract& run);
void read_noise_numbers(const TomlFields& table, NoiseGate& noise);
/// @}

/// The specification with only what a profile wants, and as it wants it; with `rules` only these
/// instead of the profile's. Checks every profile of the file, whichever is chosen.
[[nodiscard]] Specification with_profile(const TomlFields& file, const Specification& specification,
                                         const std::string& profile,
                                         const std::vector<std::string>& rules);

/// @name Small things
/// @{
/// A text, or a list of texts, as a list; refuses an empty one and one that is there twice.
[[nodiscard]] std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key);
/// Throws where a word is there twice.
void refuse_twice(const TomlFields& table, std::string_view key,
                  const std::vector<std::string>& words);
/// Throws for each of the keys that is there: "KEY needs WHAT".
void refuse_without(const TomlFields& table, const std::vector<std::string>& keys,
                    std::string_view what);
[[nodiscard]] TextPlace place_of(const toml::node& node);
/// Where a key's value stands; nowhere (0:0) where it is missing.
[[nodiscard]] TextPlace place_of(const TomlFields& table, std::string_view key);
/// A key of the file as a table; an error at the file's begin where it is missing.
[[nodiscard]] TomlFields table_of(const TomlFields& file, std::string_view key);
/// A day of the calendar, "2026-11-21": a text or a date of TOML. Throws where it is none.
[[nodiscard]] std::string read_day(const TomlFields& table, std::string_view key);
/// Ranks of the set, where the number of nodes is known; 0 else.
[[nodiscard]] int known_ranks(const DeviceSetRule& set, const SystemIdentity& system);
/// @}

}  // namespace busbar::judge
