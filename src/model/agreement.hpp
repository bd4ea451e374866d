// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "base/error.hpp"
#include "model/bootstrap.hpp"

namespace busbar {

/// An error that all ranks of the job have, so that they can leave it in order. Only agree_on()
/// throws it: any other error is its rank's own, and the others may wait for that rank.
class AgreedError final : public Error {
  using Error::Error;
  friend void agree_on_error(Bootstrap& world, const std::optional<Error>& mine);
};

/// Throws on every rank the error of the lowest that has one, which names the rank unless it is 0.
/// `world` is all ranks of the job. Collective.
void agree_on_error(Bootstrap& world, const std::optional<Error>& mine);

/// Does `work` on every rank. Where it is bad usage or unavailable on any, all throw that. No rank
/// waits for another in it, or all fail alike. Collective.
template <class Work>
void agree_on(Bootstrap& world, const Work& work) {
  std::optional<Error> mine;
  try {
    work();
  } catch (const AgreedError&) {
    throw;
  } catch (const Error& error) {
    if (error.status() == Status::Runtime) throw;
    mine.emplace(error);
  }
  agree_on_error(world, mine);
}

/// The first rank's text that is not empty. Collective.
[[nodiscard]] std::string first_text(Bootstrap& world, const std::string& mine);

}  // namespace busbar
