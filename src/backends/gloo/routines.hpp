// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <gloo/algorithm.h>
#include <gloo/context.h>
#include <memory>
#include <string_view>

#include "base/units.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// What Gloo reduces with: to, from, from, count.
using GlooReduction = std::function<void(void*, const void*, const void*, std::size_t)>;

/// Empty where Gloo has none.
[[nodiscard]] GlooReduction gloo_reduction(DataType type, ReduceOp op);

/// A rank's connections, and its last reduce-scatter: to Gloo that is an object tied to its memory.
struct GlooLinks {
  std::shared_ptr<gloo::Context> context{};
  std::unique_ptr<gloo::Algorithm> algorithm{};
  Call made_for{};
};

/// One of our collectives as a call of Gloo's.
struct GlooRoutine {
  std::string_view collective;
  void (*call)(GlooLinks& links, const Call& call) = nullptr;
  /// What it allocates on a rank while it runs, by Gloo's source; size as in Footprint.
  Bytes (*temporary)(Bytes size) = [](Bytes) { return Bytes{0}; };
  /// Why it cannot run in place, or out of place; empty: it can.
  std::string_view not_in_place{};
  std::string_view not_out_of_place{};
  bool result_first = false;  ///< in place, the result is at the start of the buffer
};

inline constexpr std::string_view kOverwrites =
    "what is received would overwrite what is still to be sent";

/// That of a collective that programs of ours measure.
[[nodiscard]] const GlooRoutine& gloo_routine(std::string_view collective);

}  // namespace busbar
