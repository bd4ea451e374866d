// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gloo/context.h>
#include <memory>
#include <string>

#include "base/units.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// Every rank connected to every other by Gloo's TCP transport, over the interface that
/// GLOO_SOCKET_IFNAME names, else the one by which ranks reach this host. Collective. Throws Error
/// (Runtime) with Gloo's own words.
[[nodiscard]] std::shared_ptr<gloo::Context> connect_gloo(Bootstrap& bootstrap, Seconds timeout);

/// Error (Runtime) with Gloo's words in one line, less the places in its source.
[[noreturn]] void rethrow_gloo(const std::exception& error);

}  // namespace busbar
