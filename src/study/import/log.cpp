// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

#include <algorithm>
#include <cmath>

#include "base/text.hpp"

namespace busbar::study {
namespace {

constexpr int kMostRanks = 1 << 24;

}  // namespace

std::optional<int> stated_ranks(const LogTable& table) {
  int ranks = table.ranks.value_or(0);
  for (const LogDevice& device : table.devices) ranks = std::max(ranks, device.rank + 1);
  return ranks > 0 ? std::optional(ranks) : std::nullopt;
}

std::optional<int> listed_ranks(const LogTable& table) {
  const auto stated = stated_ranks(table);
  const bool whole =
      stated && (table.ranks || table.devices.size() >= static_cast<std::size_t>(*stated));
  return whole ? stated : std::nullopt;
}

std::optional<Printed> printed_number(std::string_view word) {
  const auto value = to_number<double>(word);
  if (!value || !std::isfinite(*value) || std::signbit(*value)) return std::nullopt;
  const std::size_t exponent = word.find_first_of("eE");
  const std::string_view digits = word.substr(0, exponent);
  const std::size_t point = digits.find('.');
  const double decimals =
      point == std::string_view::npos ? 0 : static_cast<double>(digits.size() - point - 1);
  double power = 0;
  if (exponent != std::string_view::npos) {
    std::string_view text = word.substr(exponent + 1);
    if (text.starts_with('+')) text.remove_prefix(1);
    power = to_number<double>(text).value_or(0);
  }
  return Printed{.value = *value, .half_unit = 0.5 * std::pow(10.0, power - decimals)};
}

std::optional<int> small_number(std::string_view word) {
  const auto value = to_number<int>(word);
  return value && *value >= -1 && *value <= kMostRanks ? value : std::nullopt;
}

std::string word_after(const Words& words, std::string_view word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? std::string{} : *(found + 1);
}

std::optional<std::uint64_t> number_after(const Words& words, std::string_view word) {
  return to_number<std::uint64_t>(word_after(words, word));
}

std::optional<int> processes_of_command(const std::vector<std::string>& words) {
  const auto launcher = std::ranges::find_if(words, [](const std::string& word) {
    const std::string name = word.substr(word.rfind('/') + 1);
    return name == "mpirun" || name == "mpiexec" || name == "srun" || name == "mpiexec.hydra";
  });
  int processes = 0;
  bool counts = true;  // not behind a program, which has an option -n of its own; ":" ends one
  for (auto word = launcher; word != words.end() && word + 1 != words.end(); ++word) {
    if (*word == ":") counts = true;
    if (names_test(*word)) counts = false;
    if (!counts || (*word != "-n" && *word != "-np" && *word != "--ntasks")) continue;
    const int count = small_number(*(word + 1)).value_or(0);
    counts = count <= 0;
    processes = std::min(processes + std::max(count, 0), kMostRanks);
  }
  return processes > 0 ? std::optional(processes) : std::nullopt;
}

}  // namespace busbar::study
