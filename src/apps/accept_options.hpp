// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace busbar {

enum class AcceptTask { Help, Run, Judge, Lint, Baseline, List };

/// Files that verdicts are written to; empty: not wanted.
struct AcceptOutputs {
  std::string verdicts{};
  std::string junit{};
  std::string json{};
  std::string prometheus{};
  std::string markdown{};
  std::string html{};
};

/// What `busbar accept` was asked for; values only.
struct AcceptOptions {
  AcceptTask task = AcceptTask::Help;
  std::string specification{};       ///< a file or the name of a ready-made one
  std::vector<std::string> files{};  ///< of judge and baseline
  std::string output{};              ///< run: a folder; baseline: a file
  std::string profile{};
  std::vector<std::string> rules{};  ///< ids of the only ones; empty: all
  std::vector<std::string> hosts{};
  std::string hostfile{};
  std::optional<std::uint64_t> seed{};
  bool serial = false;
  std::optional<int> at_once{};
  std::string mpiexec{};   ///< empty: mpiexec of PATH
  std::string programs{};  ///< folder of the *_perf; empty: beside busbar
  bool strict = false;
  bool verbose = false;
  bool dump_specification = false;
  std::map<std::string, std::string> assumed{};
  AcceptOutputs outputs{};
  std::vector<std::string> launcher_arguments{};  ///< what follows --
};

/// Reads what follows `busbar accept`. Throws a usage error of one line.
[[nodiscard]] AcceptOptions parse_accept_options(std::span<char* const> arguments);

}  // namespace busbar
