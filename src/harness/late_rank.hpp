// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "format/writer.hpp"
#include "model/row.hpp"

namespace busbar {

/// Names who holds up the others in a row: a host of several, and a rank, each where it is last so
/// often that chance does not explain it (stats::find_last). Samples in which the ranks are less
/// than a hundredth of the row's time apart are left out. Pure.
void name_last(Row& row, const RunContext& context);

}  // namespace busbar
