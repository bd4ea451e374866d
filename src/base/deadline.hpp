// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace busbar {

/// Ends this process by SIGALRM unless it has ended by itself within so many seconds: for clearing
/// up after a failure, where a device's library may block for ever. May be called from any thread.
void end_process_within(unsigned seconds);

}  // namespace busbar
