// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar::study {
namespace {

constexpr int kMostRanks = 1 << 24;

bool is_row(const std::string& text, const Words& columns) {
  try {
    static_cast<void>(read_row(columns, split_words(text)));
    return true;
  } catch (const Error&) {
    return false;
  }
}

/// All ways to join parts of a row with the next one.
Words joined(const Words& ways, View part) {
  constexpr std::size_t kMostWays = 64;
  if (part.empty()) return ways;
  Words longer;
  for (const std::string& way : ways) {
    for (const View seam : {View(" "), View()}) {
      if (longer.size() < kMostWays) longer.push_back(way + std::string(seam) + std::string(part));
    }
  }
  return longer;
}

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

std::string part_before(View line, std::size_t mark, std::set<std::string>& hosts) {
  // "PART HOST:PID:THREAD [DEVICE] NCCL INFO", with a time before the host, and a source behind the
  // device, where they are printed.
  View text = line.substr(0, mark);
  const std::size_t colons = text.find(':');
  const std::size_t device = text.find(" [", colons == View::npos ? text.size() : colons);
  if (device == View::npos) return {};
  text = text.substr(0, device);
  const std::size_t start = text.find_last_of(" \t]") + 1;
  View host = text.substr(start);
  const View before = trim(text.substr(0, start));
  host = host.substr(0, host.find(':'));
  const View part = trim(before.substr(0, before.find('[')));
  if (before.empty()) {
    hosts.emplace(host);
    return {};
  }
  // The longest known name that ends the word; else letters begin the name.
  const auto known =
      std::ranges::find_if(hosts, [&](const std::string& name) { return host.ends_with(name); });
  const std::size_t touching = known != hosts.end()
                                   ? host.size() - known->size()
                                   : std::min(host.find_first_not_of("-0123456789."), host.size());
  return std::string(part) + (touching > 0 ? ' ' + std::string(host.substr(0, touching)) : "");
}

void TornRow::extend(View part) { ways = joined(ways, part); }

std::optional<LogLine> TornRow::close(View part, const Words& columns) {
  Words rows = joined(ways, part);
  std::erase_if(rows, [&](const std::string& way) { return !is_row(way, columns); });
  if (rows.size() != 1) return std::nullopt;
  ways.clear();
  return LogLine{.number = line.number, .text = rows.front()};
}

}  // namespace busbar::study
