// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cctype>
#include <set>

#include "base/text.hpp"
#include "model/collective.hpp"
#include "study/import/log.hpp"

namespace busbar::study {
namespace {

bool has_letter(View text) {
  return std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

/// The words without the marks of Markdown and of sentences around them.
Words plain_words(View line) {
  Words words = split_words(line);
  for (std::string& word : words) {
    const std::size_t first = word.find_first_not_of("`(\"'*");
    word.erase(0, std::min(first, word.size()));
    word.erase(word.find_last_not_of("`),;\"'*") + 1);
  }
  std::erase(words, "");
  return words;
}

/// NAME=VALUE of an environment, or nothing.
std::optional<std::pair<std::string, std::string>> assignment_in(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return std::nullopt;
  const bool is_name = std::all_of(
      word.begin(), word.begin() + static_cast<long>(equals),
      [](unsigned char c) { return std::isupper(c) != 0 || std::isdigit(c) != 0 || c == '_'; });
  if (!is_name || std::isdigit(static_cast<unsigned char>(word.front())) != 0) return std::nullopt;
  return std::pair(word.substr(0, equals), word.substr(equals + 1));
}

/// What a command begins with: the test itself, an assignment, a path or a launcher.
bool begins_command(const std::string& word) {
  static const std::set<View> kLaunchers{
      "mpirun",      "mpiexec",   "mpiexec.hydra", "mpiexec.slurm", "orterun", "prterun",
      "prun",        "srun",      "jsrun",         "aprun",         "flux",    "torchrun",
      "env",         "exec",      "time",          "timeout",       "numactl", "taskset",
      "nsys",        "ncu",       "rocprof",       "sudo",          "docker",  "podman",
      "singularity", "apptainer", "enroot",        "kubectl",       "ssh",     "bash",
      "sh",          "nohup",     "stdbuf",        "xargs"};
  return names_test(word) || assignment_in(word) || kLaunchers.contains(word) ||
         word.starts_with('/') || word.starts_with("./") || word.starts_with("../");
}

}  // namespace

bool names_test(const std::string& word) {
  const std::size_t end = word.rfind("_perf");
  if (end == std::string::npos || find_collective(word) == nullptr) return false;
  const View suffix = View{word}.substr(end);
  return suffix == "_perf" || suffix == "_perf_mpi";
}

std::optional<Words> command_in(View line) {
  Words words = plain_words(line);
  const auto test = std::ranges::find_if(words, names_test);
  if (test == words.end()) return std::nullopt;
  if (line.starts_with("##")) return std::nullopt;  // a title
  if (words.size() == 1 && words.front().find('/') == std::string::npos) return std::nullopt;
  // Only marks ("$", "+", "-") stand before a command, or what ends with a colon ("Command:").
  const auto first = std::find_if(words.begin(), test, begins_command);
  const bool is_introduced =
      first == words.begin() || (first - 1)->ends_with(':') ||
      std::none_of(words.begin(), first, [](const std::string& word) { return has_letter(word); });
  if (!is_introduced) return std::nullopt;
  // A sentence or a title ("=== all_reduce_perf ===") goes on behind the program's name.
  const auto next = test + 1;
  const bool goes_on =
      next != words.end() && !next->starts_with("2>") &&
      (std::isalnum(static_cast<unsigned char>(next->front())) != 0 || next->front() == '=');
  if (goes_on) return std::nullopt;
  words.erase(words.begin(), first);
  return words;
}

Settings settings_of_command(const Words& command) {
  Settings settings;
  const auto test = std::ranges::find_if(command, names_test);
  for (auto word = command.begin(); word != test; ++word) {
    if (*word == "-genv" || *word == "-env") {
      if (test - word > 2) settings[*(word + 1)] = *(word + 2);
      continue;
    }
    const bool exports = word->starts_with("--export=");
    for (const std::string& part : exports ? split(word->substr(9), ',') : Words{*word}) {
      if (const auto assignment = assignment_in(part)) settings.insert(*assignment);
    }
  }
  return settings;
}

std::optional<Settings> settings_of_library(View message) {
  constexpr View kSet = " set by environment to ";
  const std::size_t at = message.find(kSet);
  if (at == View::npos) return std::nullopt;
  View value = message.substr(at + kSet.size());
  if (value.ends_with('.')) value.remove_suffix(1);
  const View name = message.substr(0, at);
  return Settings{{std::string(name.substr(name.rfind(' ') + 1)), std::string(value)}};
}

}  // namespace busbar::study
