// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_settings.hpp"

#include <algorithm>
#include <cctype>
#include <regex>
#include <set>

#include "base/text.hpp"
#include "model/collective.hpp"

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

bool is_of_library(View name) { return name.starts_with("NCCL_") || name.starts_with("RCCL_"); }

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

constexpr int kEcho = 7;  // below the six levels of Markdown

/// The level of a title by its marks, and its text; 0: the line is none.
std::pair<int, View> title_in(View line) {
  constexpr View kMarks = "=-*+>~#";
  const std::size_t marks = line.find_first_not_of(line.substr(0, 1));
  if (line.empty() || marks == View::npos || kMarks.find(line.front()) == View::npos) return {};
  View text = line.substr(marks);
  if (!text.starts_with(' ')) return {};
  text = trim(text.substr(0, text.find_last_not_of("=-*+<~# ") + 1));
  if (!has_letter(text)) return {};
  if (line.front() == '#') {
    return {marks > 1 ? std::min<int>(static_cast<int>(marks), kEcho - 1) : 0, text};
  }
  return {marks > 2 ? kEcho : 0, text};
}

Settings assignments_in(const Words& words) {
  Settings settings;
  for (const std::string& word : words) {
    if (const auto assignment = assignment_in(word)) settings.insert(*assignment);
  }
  return settings;
}

std::size_t other_words(const Words& words) {
  return count_of(words,
                  [](const std::string& word) { return has_letter(word) && !assignment_in(word); });
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

Words options_of_command(const Words& command) {
  static const std::set<View> kNoSetting{
      "-b",         "-e",         "-f",           "-i",
      "-d",         "-o",         "-r",           "-J",
      "--minbytes", "--maxbytes", "--stepfactor", "--stepbytes",
      "--datatype", "--op",       "--root",       "--output_file",
      "-x",         "-genv",      "-env",         "--output",
      "--error"};
  static const std::set<View> kEnds{":", "|", ">", ">>", "2>&1", "&>", "&&", ";", "&", "\\"};
  Words options;
  bool after_test = false;
  for (auto word = command.begin(); word != command.end(); ++word) {
    if (after_test && kEnds.contains(*word)) break;
    if (names_test(*word)) {
      const std::size_t slash = word->rfind('/');
      if (slash != std::string::npos) options.push_back(word->substr(0, slash));
      after_test = true;
      continue;
    }
    if (!word->starts_with('-') || word->size() < 2) continue;
    const std::string& option = *word;
    const bool has_value = word + 1 != command.end() && !(word + 1)->starts_with('-') &&
                           !names_test(*(word + 1)) && !kEnds.contains(*(word + 1)) &&
                           option.find('=') == std::string::npos;
    if (has_value) ++word;
    const View name = View{option}.substr(0, option.find('='));
    if (kNoSetting.contains(name) || name == "--export") continue;
    options.push_back(has_value ? option + ' ' + *word : option);
  }
  return options;
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

void LogContext::set_title(int level, View text) {
  // "Ring, run 2 of 3", "Rep 2: ring-rep2.log", but not "Run 4 channels".
  static const std::regex kRepetition(
      R"re((^|[ ,:;(\[`'"_-]+)(run|rep|repeat|repetition|iteration|iter|trial|launch|attempt|round))re"
      R"re([ #:=_-]*\d+( *(/|of) *\d+)?(?= *($|[:;,.)\]`'"_-]))[ :)\]]*)re",
      std::regex::icase | std::regex::optimize);
  constexpr std::size_t kLongest = 200;
  titles_.erase(titles_.lower_bound(level), titles_.end());
  if (level <= command_level_) command_.clear();
  const std::string whole(text.substr(0, kLongest));
  Title title{.text = std::regex_replace(whole, kRepetition, "")};
  title.repeats = title.text != whole;
  const Words words = plain_words(whole);
  title.settings = assignments_in(words);
  if (!title.settings.empty() && other_words(words) == 0) title.text.clear();
  titles_[level] = std::move(title);
}

void LogContext::read(View line) {
  constexpr std::size_t kMostOthers = 4;  // of a title; prose has more
  const bool after_assignments = after_assignments_;
  after_assignments_ = false;
  Words words = plain_words(line);
  const bool is_traced = !words.empty() && words.front() == "+";
  if (is_traced) words.erase(words.begin());
  if (words.empty()) return;
  if (words.front() == "export" || words.front() == "unset" || is_traced) {
    const bool unsets = words.front() == "unset";
    for (const std::string& word : words) {
      if (unsets) exported_.erase(word);
    }
    const bool exports = words.front() == "export";
    if (!exports && other_words(words) > 0) return;
    for (const auto& [name, value] : assignments_in(words)) {
      if (exports || is_of_library(name)) exported_[name] = value;
    }
    return;
  }
  if (const auto [level, text] = title_in(line); level > 0) return set_title(level, text);
  const Settings set = assignments_in(words);
  const bool any =
      std::ranges::any_of(set, [](const auto& one) { return is_of_library(one.first); });
  const std::size_t others = other_words(words);
  if (!any || others > kMostOthers) return;
  // `env | grep NCCL` has a line for each.
  const Settings before = after_assignments ? titles_[kEcho].settings : Settings{};
  set_title(kEcho, line);
  titles_[kEcho].settings.insert(before.begin(), before.end());
  after_assignments_ = others == 0;
}

Settings LogContext::settings() const {
  Settings all = exported_;
  for (const auto& [level, title] : titles_) {
    for (const auto& [name, value] : title.settings) all[name] = value;
  }
  return all;
}

Words LogContext::titles() const {
  Words texts;
  for (const auto& [level, title] : titles_) texts.emplace_back(trim(title.text));
  std::erase(texts, "");
  return texts;
}

void LogContext::set_command(std::string command) {
  command_ = std::move(command);
  command_level_ = titles_.empty() ? 0 : titles_.rbegin()->first;
}

std::string LogContext::command() const { return is_repetition() ? command_ : ""; }

bool LogContext::is_repetition() const {
  return std::ranges::any_of(titles_, [](const auto& one) { return one.second.repeats; });
}

}  // namespace busbar::study
