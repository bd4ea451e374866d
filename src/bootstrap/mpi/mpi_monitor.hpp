// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>

#include "bootstrap/peer_monitor.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// The monitor of a rank that joined by MPI; null where rank 0 gives no events, or cannot listen.
/// A rank that cannot connect to rank 0 within seconds does without. `world` is all ranks of
/// MPI_COMM_WORLD. Collective.
[[nodiscard]] std::unique_ptr<PeerMonitor> start_monitor(Bootstrap& world,
                                                         std::optional<TcpEvents> events);

}  // namespace busbar
