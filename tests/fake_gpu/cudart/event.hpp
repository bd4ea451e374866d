// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include <cuda_runtime_api.h>

#include "tests/fake_gpu/cudart/completion.hpp"
#include "tests/fake_gpu/cudart/stream.hpp"

namespace fake_gpu {

/// The last record of an event: the work it stands behind, or the capture it was recorded in.
struct Event {
  bool timed = true;
  int device = 0;
  bool recorded = false;
  Ticket reached;
  std::shared_ptr<Capture> captured;
};

using EventPointer = std::shared_ptr<Event>;

/// Guarded by the runtime's mutex. Null where there is no such event.
[[nodiscard]] EventPointer find_event(cudaEvent_t handle);

}  // namespace fake_gpu
