// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/enum_names.hpp"
#include "format/json.hpp"
#include "format/table.hpp"
#include "model/collective.hpp"
#include "model/record.hpp"
#include "study/plot/curves.hpp"
#include "topo/predict/causes.hpp"
#include "topo/systems/joined_hosts.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::study {

/// Why a figure is believed, from the surest.
enum class RateEvidence {
  Measured,  ///< the source prints its own table or log
  Specification,
  Code,
  Floor,  ///< a limit that an operator's check has: no result
  User,   ///< the word of one user in an issue
  Derived,
  ThirdHand
};

constexpr auto enum_names(RateEvidence /*unused*/) {
  return std::array{Named{RateEvidence::Measured, "measured"},
                    Named{RateEvidence::Specification, "specification"},
                    Named{RateEvidence::Code, "code"},
                    Named{RateEvidence::Floor, "floor"},
                    Named{RateEvidence::User, "user"},
                    Named{RateEvidence::Derived, "derived"},
                    Named{RateEvidence::ThirdHand, "third hand"}};
}

/// A published figure, of one number of ranks and one size.
struct PublishedRate {
  std::string system{};    ///< of topo/systems
  std::string instance{};  ///< the machine's name at its cloud; empty: no cloud, or not stated
  int nodes = 1;
  std::string collective{};  ///< our name, or of a copy: "host-to-device"
  int ranks = 0;
  std::optional<Bytes> size{};         ///< nothing: the source does not state it
  std::optional<bool> in_place{};      ///< nothing: the source does not state it
  std::optional<double> busbw_GBps{};  ///< nothing: the source has no figure
  std::optional<double> time_us{};
  std::optional<double> theoretical_GBps{};  ///< what the links allow, as the source has it
  RateEvidence evidence = RateEvidence::Measured;
  bool usual = true;  ///< false: not as a healthy machine runs by default (a ring that was forced)
  std::string condition{};
  std::string source{};
};

/// One for each number of ranks and size of a [[rate]].
using PublishedRates = std::vector<PublishedRate>;

/// That file, from the project's root.
inline constexpr std::string_view kPublishedFile = "results/reference/published.toml";

/// Throws Error (Usage) with origin:line:column.
[[nodiscard]] PublishedRates parse_published(std::string_view text, std::string_view origin);
/// Of the file that the project keeps.
[[nodiscard]] PublishedRates kept_published();

/// What a measured bandwidth is worth, beside what such machines reach.
enum class Grade { AsExpected, Low, TooLow, AboveBound, Unknown };
constexpr auto enum_names(Grade /*unused*/) {
  return std::array{Named{Grade::AsExpected, "as expected"}, Named{Grade::Low, "low"},
                    Named{Grade::TooLow, "too low"}, Named{Grade::AboveBound, "above the bound"},
                    Named{Grade::Unknown, "unknown"}};
}

/// What a measured bandwidth is compared with: the median of published figures of the same size or
/// near it, or the prediction; what is published without a measurement only where it agrees with
/// the measured one, and no log checks the prediction.
enum class ReferenceKind { SameSize, NearSize, Published, Prediction };
constexpr auto enum_names(ReferenceKind /*unused*/) {
  return std::array{
      Named{ReferenceKind::SameSize, "the median that others measured at this size"},
      Named{ReferenceKind::NearSize, "the median that others measured near this size"},
      Named{ReferenceKind::Published, "what is published of this machine"},
      Named{ReferenceKind::Prediction, "the prediction"}};
}

struct ExpectRequest {
  std::string system{};        ///< a name of load_machine, for people and for published figures
  topo::EqualHosts machine{};  ///< in as many hosts as are asked for
  const Collective* collective = nullptr;
  Bytes size = 0;
  int ranks = 2;
  bool own_network = true;  ///< false: figures of others over several nodes are of another network
  std::optional<double> measured_GBps{};  ///< bus bandwidth
  bool is_of_file = false;                ///< by its column, and so surely bus bandwidth
  std::string gpudirect{};                ///< whether it was used: "yes, 16 of 16 connections"
  std::vector<Record> rows{};             ///< of the file, of all sizes
};

/// A cause, and the bus bandwidth that it would leave.
struct CauseResult {
  const topo::Cause* cause = nullptr;
  topo::BandwidthRange busbw_GBps{};
  double distance = 1;  ///< of what was measured, as a ratio of 1 (within the range) or more
  bool fits = false;    ///< within kFit
};

struct Answer {
  int nodes = 1;
  std::optional<double> bound_GBps{};      ///< bus bandwidth that the links allow
  std::string bottleneck{};                ///< of the bound
  std::vector<std::string> assumptions{};  ///< of the bound: it is about that
  std::optional<double> predicted_GBps{};  ///< bus bandwidth
  std::string algorithm{};                 ///< of the prediction
  std::size_t checking_logs = 0;  ///< published logs of this kind of machine that check predictions
  std::vector<PublishedRate> published{};  ///< of this set at this size or near it; floors apart
  std::vector<PublishedRate> floors{};     ///< operators' limits
  std::vector<PublishedRate> missed_floors{};  ///< above what was measured
  std::optional<double> reference_GBps{};
  ReferenceKind reference = ReferenceKind::Prediction;
  double least_share = 0.95;                   ///< of the reference that is as expected
  Grade grade = Grade::Unknown;                ///< of the measured bandwidth
  std::vector<CauseResult> causes{};           ///< those that fit first, of them the
                                               ///< commonest; empty where nothing is low
  std::vector<CurveFinding> curve_findings{};  ///< of the file's rows of that many ranks
};

/// The size of operations without --size, and of floors whose source states none.
inline constexpr Bytes kUsualSize = 8 * kGiB;

/// At least this share of the reference is as expected, and of a prediction alone; below the other,
/// it is too low. Our choice, not a measurement.
inline constexpr double kAsExpected = 0.95;
inline constexpr double kLow = 0.85;
inline constexpr double kAsPredicted = 0.85;
inline constexpr double kFarBelowPrediction = 0.70;
/// A cause fits if what was measured is within this ratio of what it would leave. Our choice.
inline constexpr double kFit = 1.2;

/// The best set of that many GPUs of a host, on that many hosts, joined by the machine's network or
/// the given one. Throws Error (Usage) where the machine has fewer.
[[nodiscard]] topo::EqualHosts part_of(topo::EqualHosts machine, int gpus, int nodes,
                                       const std::optional<topo::NetworkRequest>& network = {});

/// What was measured: rows of a file, or a figure alone.
struct Measured {
  std::string setting{};  ///< of a log's runs, where it has several
  std::string kind{};     ///< "float sum root 1": rows of several are no one figure
  std::optional<double> busbw_GBps{};
  std::vector<Record> records{};
  std::vector<Record> of_all_sizes{};  ///< before `records` were cut to one size
  Facts facts{};
  std::vector<std::string> notes{};  ///< what the user should know of the file
};

/// What --measured names: a figure, or the rows of a collective in a log or CSV, by setting.
/// `size`: of rates whose log has none. Throws Error (Usage) for what is neither.
[[nodiscard]] std::vector<Measured> read_measured(const std::string& text,
                                                  const Collective& collective,
                                                  std::optional<Bytes> size);

[[nodiscard]] Answer expect(const ExpectRequest& request, const PublishedRates& published);

/// Whether the answer fails: too low, above a bound without assumptions, or a curve that falls at 1
/// MiB or more: below, a row of one launch may be late by chance.
[[nodiscard]] bool is_wrong(const Answer& expected);

/// "0.41 of the median that others measured at this size: too low, below 2 of 2 operators' floors".
[[nodiscard]] std::string verdict_text(const Answer& expected, double measured_GBps);
/// Bound, prediction, figures of others and, where there is one, the measured one.
[[nodiscard]] Table figures_table(const ExpectRequest& request, const Answer& expected);
/// All of an answer, for a terminal.
[[nodiscard]] std::string expect_text(const ExpectRequest& request, const Answer& expected);
[[nodiscard]] Json expect_json(const ExpectRequest& request, const Answer& expected);

}  // namespace busbar::study
