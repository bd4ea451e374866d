// SPDX-License-Identifier: BSD-3-Clause
#include "backends/mpi/control_variable.hpp"

#include <algorithm>
#include <array>
#include <sstream>

#include "base/text.hpp"
#include "base/units.hpp"
#include "bootstrap/mpi/mpi_bootstrap.hpp"
#include "bootstrap/mpi_library.hpp"
#include "model/variant.hpp"

namespace busbar {
namespace {

/// The name at the end of a word to which the line before is joined.
std::string_view name_in(std::string_view word) {
  constexpr std::array<std::string_view, 8> kEnds{"algorithms", "algorithm",  "receives",
                                                  "phase",      "Tree",       "primitives",
                                                  "Allgather",  "collectives"};
  constexpr std::string_view kOwn = "mpir";  // its generic algorithms, behind a collective's name
  if (word.ends_with(kOwn)) return kOwn;
  word.remove_prefix(std::min(word.size(), word.rfind(')') + 1));  // none: 0
  for (const std::string_view end : kEnds) {
    // "algorithmsched_smp" is of "algorithm" and "sched_smp".
    const bool of_name = end == "algorithms" && !word.starts_with("algorithmss");
    if (!of_name && word.starts_with(end)) return word.substr(end.size());
  }
  return word;
}

bool open_tools_interface() {  // it counts how often
  int provided = 0;
  return MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) == MPI_SUCCESS;
}

struct VariableInfo {
  std::string description{};
  bool writable = false;  ///< at any time, and one whole number
};

VariableInfo info_of(int index) {
  constexpr int kLongest = 8192;
  std::string name(kLongest, '\0');
  VariableInfo info{.description = std::string(kLongest, '\0')};
  int name_size = kLongest;
  int size = kLongest;
  int verbosity = 0;
  int binding = 0;
  int scope = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum names = MPI_T_ENUM_NULL;
  check_mpi(MPI_T_cvar_get_info(index, name.data(), &name_size, &verbosity, &type, &names,
                                info.description.data(), &size, &binding, &scope));
  info.description.resize(info.description.find('\0'));
  info.writable = type == MPI_INT && scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
  return info;
}

}  // namespace

std::vector<std::string> described_values(std::string_view description) {
  std::istringstream words{std::string(description)};
  std::vector<std::string> names;
  std::string before;
  for (std::string word; words >> word; before = word) {
    if (word == "-" && !before.empty()) names.emplace_back(name_in(before));
  }
  return names;
}

std::optional<ControlVariable> ControlVariable::find(const std::string& name) {
  int index = -1;
  const bool reads_at_calls = mpi_library().family == MpiFamily::Mpich;
  if (!reads_at_calls || !open_tools_interface()) return std::nullopt;
  if (MPI_T_cvar_get_index(name.c_str(), &index) != MPI_SUCCESS) return std::nullopt;
  const VariableInfo info = info_of(index);
  if (!info.writable) return std::nullopt;
  const bool named = name.ends_with("_ALGORITHM") || name.ends_with("_TYPE");
  return ControlVariable(index, name,
                         named ? described_values(info.description) : std::vector<std::string>{});
}

ControlVariable::ControlVariable(int index, std::string name, std::vector<std::string> values)
    : name_(std::move(name)), values_(std::move(values)) {
  int count = 0;
  check_mpi(MPI_T_cvar_handle_alloc(index, nullptr, &handle_, &count));
  check_mpi(MPI_T_cvar_read(handle_, &initial_));
}

std::vector<int> ControlVariable::numbers(const std::vector<std::string>& values) const {
  std::vector<int> numbers;
  for (const std::string& value : values) {
    const int mine = number(value);
    const auto same = std::ranges::find(numbers, mine);
    if (same != numbers.end()) {
      const auto at = static_cast<std::size_t>(same - numbers.begin());
      throw usage_error("--vary {}: {} and {} are the same; leave one out", name_, values[at],
                        value);
    }
    numbers.push_back(mine);
  }
  return numbers;
}

int ControlVariable::number(std::string_view value) const {
  if (value == kDefaultValue) return initial_;
  if (values_.empty()) {
    constexpr std::int64_t kMost = 1 << 30;
    return static_cast<int>(parse_integer("--vary " + name_, value, -1, kMost));
  }
  const auto found = std::ranges::find(values_, value);
  if (found == values_.end()) {
    throw usage_error("--vary {}: this MPI library has no value '{}'; it has default, {}", name_,
                      value, join(values_, ", "));
  }
  return static_cast<int>(found - values_.begin());
}

void ControlVariable::write(int number) const { check_mpi(MPI_T_cvar_write(handle_, &number)); }

}  // namespace busbar
