// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

namespace busbar {

/// The names of the values of a variable, the first being 0, as MPICH's description of it has them:
/// "... algorithmauto - Internal selection ... algorithmring - Force ring algorithm". Empty where
/// it describes no values. MPICH 4.0 joins its lines without a blank.
[[nodiscard]] std::vector<std::string> described_values(std::string_view description);

/// A control variable of MPICH (MPI_T), which reads it at each operation: a whole number, or one of
/// a few names. Open MPI reads its own when a communicator is made, which is too early.
class ControlVariable {
 public:
  /// Nothing where the library has no such variable of this name.
  [[nodiscard]] static std::optional<ControlVariable> find(const std::string& name);

  /// The numbers of values of --vary; "default" is what it was when it was found. Throws a usage
  /// error for one that it has not, and for two that are the same.
  [[nodiscard]] std::vector<int> numbers(const std::vector<std::string>& values) const;
  void write(int number) const;
  void restore() const { write(initial_); }

 private:
  ControlVariable(int index, std::string name, std::vector<std::string> values);

  [[nodiscard]] int number(std::string_view value) const;

  std::string name_;
  std::vector<std::string> values_;
  int initial_ = 0;
  MPI_T_cvar_handle handle_ = nullptr;  // of the process, for good
};

}  // namespace busbar
