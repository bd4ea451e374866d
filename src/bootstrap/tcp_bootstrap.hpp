// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "base/units.hpp"
#include "bootstrap/peer_monitor.hpp"
#include "bootstrap/rendezvous.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// Ranks that find each other without MPI: rank 0 listens and the others come to it. Throws Error
/// (Runtime) that names who has not come after the timeout, and Error (Usage) where it is refused.
[[nodiscard]] std::unique_ptr<Bootstrap> join_by_tcp(const Rendezvous& rendezvous, Seconds timeout,
                                                     TcpEvents events);

}  // namespace busbar
