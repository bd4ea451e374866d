// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace busbar {

/// Options of `busbar accept`.
struct AcceptOptions {
  std::string specification{};       ///< a file or the name of a ready-made one
  std::vector<std::string> files{};  ///< of judge and baseline
  bool partial = false;              ///< judge: files that no run of the specification made
  std::string output{};              ///< run: a folder; baseline: a file
  std::string profile{};
  std::vector<std::string> rules{};  ///< ids of the only ones; empty: all
  std::vector<std::string> hosts{};
  std::string hostfile{};
  std::optional<std::uint64_t> seed{};
  bool resume = false;  ///< run: go on in a folder that was begun
  bool serial = false;
  std::optional<int> at_once{};
  std::string launcher{};  ///< as the programs' --launcher; empty: the specification's
  std::string mpiexec{};   ///< path of the launcher; empty: that of PATH
  std::string programs{};  ///< folder of the *_perf; empty: beside busbar
  bool same_machine = false;
  bool strict = false;
  bool verbose = false;
  bool dump_specification = false;
  std::map<std::string, std::string> assumed{};
  std::map<std::string, std::string, std::less<>> outputs{};  ///< files by option: "--json"
  std::vector<std::string> launcher_arguments{};              ///< those after --
};

/// `busbar accept run`: launches, keeps and judges. Throws Error for what ends it.
[[nodiscard]] Status accept_run(const AcceptOptions& options);
/// `busbar accept judge`: judges files of runs.
[[nodiscard]] Status accept_judge(AcceptOptions options);
/// `busbar accept baseline`: makes one of files of runs.
[[nodiscard]] Status accept_baseline(AcceptOptions options);

}  // namespace busbar
