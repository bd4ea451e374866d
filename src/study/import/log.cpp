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

std::optional<Printed> printed_number(View word) {
  const auto value = to_number<double>(word);
  if (!value || !std::isfinite(*value) || std::signbit(*value)) return std::nullopt;
  const View digits = word.substr(0, word.find_first_of("eE"));
  std::string half(digits);  // 0.005e-3 of 1.25e-3
  for (char& c : half) c = c == '.' ? c : '0';
  half += digits.find('.') == View::npos ? ".5" : "5";
  half += word.substr(digits.size());
  return Printed{.value = *value, .half_unit = to_number<double>(half).value_or(0)};
}

std::optional<int> small_number(View word) {
  const auto value = to_number<int>(word);
  return value && *value >= -1 && *value <= kMostRanks ? value : std::nullopt;
}

std::string word_after(const Words& words, View word) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() || found + 1 == words.end() ? std::string{} : *(found + 1);
}

std::optional<std::uint64_t> number_after(const Words& words, View word) {
  return to_number<std::uint64_t>(word_after(words, word));
}

std::optional<int> processes_of_command(const Words& words) {
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
