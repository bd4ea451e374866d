// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/observation.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// What a figure is of.
struct BaselineKey {
  std::string device_set{};
  std::string instance{};  ///< empty: of all instances of the set together
  std::string collective{};
  std::string type{};
  Bytes size = 0;
  Metric metric = Metric::BusBandwidth;
  Statistic statistic = Statistic::Median;

  [[nodiscard]] bool operator==(const BaselineKey& other) const = default;
};

/// One figure of an earlier, healthy run.
struct BaselineRow {
  BaselineKey key{};
  double median = 0;  ///< GB/s or us
  double mad = 0;
  std::size_t launches = 0;
};

/// An earlier run and where it is from.
struct Baseline {
  std::string file{};
  std::string made_on{};  ///< "2026-11-21"
  Facts facts{};          ///< gpu, driver, nccl (library), ngpus (ranks_per_node), hosts, ...
  std::vector<BaselineRow> rows{};

  /// Null where there is none of this key.
  [[nodiscard]] const BaselineRow* find(const BaselineKey& key) const;
};

/// Reads one. Throws Error (Usage) with file and line.
[[nodiscard]] Baseline load_baseline(const std::string& path);
/// The text of one, which load_baseline reads back.
[[nodiscard]] std::string baseline_text(const Baseline& baseline);
/// Builds the baseline of all rules of the specification whose rows are there. Throws Error (Usage)
/// where a rule's rows are missing, wrong, simulated, oversubscribed, fake, too few or noisier than
/// the gate allows. A fact of the fingerprint that no file reports is taken from `assumed`, and the
/// baseline says so.
[[nodiscard]] Baseline build_baseline(const Specification& specification,
                                      std::span<const Observation> observations,
                                      const std::string& today, const Facts& assumed);
/// Days between two dates "2026-11-21"; negative where the second is earlier.
[[nodiscard]] int days_between(const std::string& from, const std::string& to);

}  // namespace busbar::judge
