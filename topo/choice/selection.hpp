// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topo/choice/choose.hpp"

namespace busbar::topo {

/// Which devices are wanted: by a policy, or a list (Policy::List).
struct Selection {
  Policy policy = Policy::Prefix;
  std::vector<int> devices{};  ///< in the order given

  [[nodiscard]] bool operator==(const Selection&) const = default;
};

/// Reads prefix, best, worst, median, or "0,3,4-7". Throws a usage error that begins with `option`.
[[nodiscard]] Selection parse_selection(std::string_view option, std::string_view text);

/// "best", "0,3": as parse_selection reads it.
[[nodiscard]] std::string words_of(const Selection& selection);

/// What the selection means for k devices of one host (of all where `host` is -1). Throws Error
/// (Usage) for a list of another length or of devices that are not there.
[[nodiscard]] Choice select_devices(const Graph& graph, int k, const Selection& selection,
                                    const BoundOptions& options = {}, int host = -1);

}  // namespace busbar::topo
