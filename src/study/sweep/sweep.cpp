// SPDX-License-Identifier: BSD-3-Clause
#include "study/sweep/sweep.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "format/csv_reader.hpp"
#include "stats/rank_tests.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kOpenMpiTuned = "OMPI_MCA_coll_tuned_";
constexpr std::string_view kOpenMpiDynamic = "OMPI_MCA_coll_tuned_use_dynamic_rules";

void mark_winners(std::span<SweepRow> rows, std::span<const VariantRuns> runs) {
  std::map<RowKey, SweepRow*> best;
  for (SweepRow& row : rows) {
    const VariantRuns& variant = runs[row.variant];
    if (row.row.verdict != Verdict::Faster || variant.failed > 0) continue;
    if (variant.wrong.contains(row.row.key)) continue;
    SweepRow*& found = best[row.row.key];
    if (found == nullptr || row.row.after_us < found->row.after_us) found = &row;
  }
  for (const auto& [key, row] : best) row->winner = true;
}

double least_of(std::size_t launches, Pairing pairing) {
  return pairing == Pairing::None ? stats::least_p(launches, launches)
                                  : stats::least_signed_p(launches);
}

}  // namespace

Variables SweepVariant::environment() const {
  Variables set;
  for (const auto& [name, value] : values) {
    if (value == kDefaultValue) continue;
    set.emplace_back(name, value);
    if (name.starts_with(kOpenMpiTuned) && name != kOpenMpiDynamic) {
      set.emplace_back(kOpenMpiDynamic, "1");
    }
  }
  return set;
}

std::vector<SweepVariant> variants_of(std::span<const Vary> settings) {
  std::vector<SweepVariant> variants(1);
  for (const Vary& setting : settings) {
    std::vector<SweepVariant> longer;
    for (const SweepVariant& variant : variants) {
      for (const std::string& value : setting.values) {
        longer.push_back(variant);
        longer.back().values.emplace_back(setting.name, value);
      }
    }
    variants = std::move(longer);
  }
  for (SweepVariant& variant : variants) {
    variant.text = join_each(variant.values, " ", [](const auto& one) {
      return fmt::format("{}={}", one.first, one.second);
    });
  }
  return variants;
}

bool is_varied_in_launch(std::string_view name) {
  return name.starts_with("MPIR_CVAR_") ||
         (!name.empty() && std::islower(static_cast<unsigned char>(name.front())) != 0);
}

bool is_of_blocking(std::string_view name) {
  return name.starts_with(kOpenMpiTuned) ||
         (name.starts_with("MPIR_CVAR_") && !name.starts_with("MPIR_CVAR_I") &&
          name.ends_with("_INTRA_ALGORITHM"));
}

void VariantRuns::add(const std::string& path, bool in_launch) {
  CsvRows rows(path);
  const auto next = [&](Record& record) {
    while (rows.next(record)) {
      const bool is_ours = !in_launch || record.variant == text;
      record.variant.clear();  // no part of the key
      if (is_ours && (record.status == RowStatus::Wrong || record.status == RowStatus::Failed)) {
        wrong.insert(row_key(record));
      }
      nonblocking = nonblocking || (record.backend == "mpi" && record.progress == "yield");
      if (is_ours) return true;
      record = {};
    }
    return false;
  };
  launches.push_back(make_launch(path, facts_of(rows.head()), next));
}

std::vector<SweepRow> judge_variants(std::span<const VariantRuns> runs, double threshold,
                                     Pairing pairing) {
  std::vector<SweepRow> rows;
  for (std::size_t variant = 1; variant < runs.size(); ++variant) {
    for (const ComparedRow& row :
         common_rows(runs.front().launches, runs[variant].launches, threshold, pairing)) {
      rows.push_back({.row = row, .variant = variant});
    }
  }
  const std::vector<double> adjusted =
      stats::holm(mapped(rows, [](const SweepRow& row) { return row.row.p.value_or(1); }));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].p = adjusted[i];
    Verdict& verdict = rows[i].row.verdict;
    if (adjusted[i] >= kVerdictLevel && verdict != Verdict::Same) verdict = Verdict::CannotTell;
  }
  std::ranges::stable_sort(rows, {}, [](const SweepRow& row) { return row.row.key; });
  mark_winners(rows, runs);
  return rows;
}

std::size_t fewest_launches(std::size_t tests, Pairing pairing) {
  constexpr std::size_t kMost = 60;
  std::size_t launches = 2;
  while (launches < kMost &&
         least_of(launches, pairing) * static_cast<double>(tests) >= kVerdictLevel) {
    ++launches;
  }
  return launches;
}

}  // namespace busbar::study
