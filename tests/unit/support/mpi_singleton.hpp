// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "model/bootstrap.hpp"

namespace busbar::test {

/// MPI of a process that no launcher started: one rank. Up from the first call until the tests end,
/// since MPI can be started but once in a process.
[[nodiscard]] Bootstrap& mpi_singleton();

}  // namespace busbar::test
