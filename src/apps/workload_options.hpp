// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "model/data_type.hpp"

namespace busbar {

/// "[NAME=]VALUE"; no name: of the only one there is.
template <class Value>
struct Assigned {
  std::string name{};
  Value value{};
};

/// What `busbar workload` was asked for; values only.
struct WorkloadOptions {
  bool help = false;

  /// @name The links
  /// @{
  std::vector<Assigned<std::string>> curves{};  ///< systems and files
  std::vector<Assigned<double>> busbw{};        ///< systems and GB/s
  std::vector<int> ranks{};                     ///< rising
  bool in_place = false;
  /// @}

  /// @name The training
  /// @{
  std::vector<std::string> models{};
  std::string models_file{};
  std::optional<double> parameters{};
  DataType type = DataType::Float;
  Bytes bucket = 0;
  std::vector<Assigned<double>> throughput{};
  std::vector<Assigned<double>> compute_ms{};
  std::vector<Assigned<double>> batch{};
  std::vector<double> overlaps{};
  bool strong = false;
  /// @}

  double target = 0.9;
  std::optional<double> reported_efficiency{};  ///< of --efficiency, --share or --speedup
  std::string reported_as{};                    ///< the option and its text

  bool json = false;
  bool markdown = false;
  std::string csv{};  ///< a new file of rows, beside the text
  std::string out{};  ///< a new file instead of standard output
};

/// Reads what follows `busbar workload`. Throws a usage error of one line.
[[nodiscard]] WorkloadOptions parse_workload_options(std::span<char* const> arguments);

}  // namespace busbar
