// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "harness/chunk.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"

namespace busbar {

/// The first text of all ranks that is not empty, on every rank; long ones are cut. Collective.
[[nodiscard]] std::string first_text(Bootstrap& everyone, const std::string& mine);

/// Runs an operation once, untimed: a library connects, allocates and loads its code at the first
/// operation of a kind. Returns why it refused, or empty; the same on every rank. Throws Error
/// where some ranks of a row refuse what others have begun, which then never ends. Collective.
[[nodiscard]] std::string prime(const Crew& crew, Communicator& communicator, const Call& call);

}  // namespace busbar
