// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "bootstrap/launcher.hpp"
#include "bootstrap/socket.hpp"

namespace busbar {

/// The options by which ranks find each other without MPI.
struct RendezvousOptions {
  std::string address{};       ///< --rendezvous HOST:PORT; empty: the environment's
  std::optional<int> rank{};   ///< --rank
  std::optional<int> ranks{};  ///< --ranks
};

/// Where the ranks of a job meet, and which of them this process is.
struct Rendezvous {
  Address address{};  ///< where rank 0 listens
  int rank = 0;
  int ranks = 1;
  std::string token{};  ///< what every rank of the job knows; empty: nothing is asked for
  std::string job{};    ///< which job it is, where that is known: no rank of another may join
  /// Its host's name is known before ranks are started; else it may appear later, as a pod's does.
  bool is_known_host = false;
  int starter = 0;  ///< the process of this host that has started this one to end with it; 0: none
  std::string source{};  ///< where this comes from: "--rendezvous", "torchrun"
};

/// By the command line, else BUSBAR_RENDEZVOUS, else the variables of torchrun or of an srun that
/// starts no MPI. Nothing: the ranks find each other by MPI, or the process is alone. Throws Error
/// (Usage) for what does not fit together. Pure.
[[nodiscard]] std::optional<Rendezvous> find_rendezvous(const RendezvousOptions& options,
                                                        const Environment& lookup);

}  // namespace busbar
