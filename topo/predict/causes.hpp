// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "base/enum_names.hpp"
#include "topo/predict/predictor.hpp"

namespace busbar::topo {

/// How often a cause is the answer in public threads. Our choice, not a count.
enum class Frequency { Common, Occasional, Rare };
constexpr auto enum_names(Frequency /*unused*/) {
  return std::array{Named{Frequency::Common, "common"}, Named{Frequency::Occasional, "occasional"},
                    Named{Frequency::Rare, "rare"}};
}

/// A known reason why a machine is slower than it should be: how it would then be, and the command
/// that confirms it.
struct Cause {
  std::string_view id{};       ///< "nvls-off"
  std::string_view text{};     ///< "NVLS is not used: rings instead of the switch's own additions"
  std::string_view confirm{};  ///< a command, or what to look at
  Frequency frequency = Frequency::Occasional;
  bool is_fault = false;  ///< of one node's parts: several nodes hardly have it alike
  /// Makes the machine so; false where it cannot be so (no NVLink to miss).
  bool (*apply)(EqualHosts& machine, int ranks) = nullptr;
  /// The same at its worst, where what it leaves is known as a range.
  bool (*apply_worst)(EqualHosts& machine, int ranks) = nullptr;
};

[[nodiscard]] std::span<const Cause> known_causes();
/// The less, the commoner: by the frequency; a fault on several nodes is one class rarer.
[[nodiscard]] int rank_of(const Cause& cause, int nodes);

/// Whether a network joins the ranks, and no system file states what software reaches of it.
[[nodiscard]] bool has_usual_network(const EqualHosts& machine, int ranks);

/// Bus bandwidths in GB/s, by rings at the least that software reaches of the network, and by the
/// quickest algorithm at the most: which of them a library takes in such a state is not known.
struct BandwidthRange {
  double low = 0;
  double high = 0;
};

/// That of the collective where the cause holds; nothing where it cannot, or makes no difference of
/// 2 % at least.
[[nodiscard]] std::optional<BandwidthRange> bandwidth_under(const Cause& cause,
                                                            const EqualHosts& machine,
                                                            const PredictOptions& options,
                                                            const Collective& collective,
                                                            double bytes);

}  // namespace busbar::topo
