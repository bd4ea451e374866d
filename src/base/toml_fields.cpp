// SPDX-License-Identifier: BSD-3-Clause
#include "base/toml_fields.hpp"

#include <cmath>

#include "base/removed_words.hpp"

namespace busbar {
namespace {

/// A text of the file as a message may repeat it: not all of a long one.
std::string shortened(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  return fmt::format("\"{}\"{}", text.substr(0, kLongest), text.size() > kLongest ? "..." : "");
}

/// The value of a text; it ends up in lines for people, where a line end would do harm.
const std::string& text_of(const toml::node& node, std::string_view key, std::string_view origin) {
  const auto* value = node.as_string();
  if (value == nullptr) {
    throw fault_at(origin, node.source(), fmt::format("{} must be a text in quotes", key));
  }
  if (value->get() != without_controls(value->get())) {
    throw fault_at(origin, node.source(), fmt::format("{} must be one line without tabs", key));
  }
  return value->get();
}

/// Whether a key with dots may have it: a letter, or a blank or quotes beside a dot.
bool is_in_key(char c) { return std::string_view("=,[]{}\n").find(c) == std::string_view::npos; }

/// What is wrong with the first character of `rest`, which is outside of quotes and comments.
/// `dots`: of a key or number so far, since the parser goes as deep as a key has parts.
std::string_view fault_of(std::string_view rest, std::size_t dots) {
  constexpr std::size_t kMostDots = 63;
  const char c = rest.front();
  if (static_cast<unsigned char>(c) >= 0x80) {
    return "characters beyond ASCII belong in quotes or comments";
  }
  if (dots > kMostDots) return "a key has more than 64 parts";
  const bool quote = c == '"' || c == '\'';
  const bool several_lines = quote && rest.starts_with(std::string(3, c));
  return several_lines ? "texts over several lines are not supported in system files"
                       : std::string_view();
}

/// "LINE:COLUMN" behind a text.
std::string place_of(std::string_view before) {
  const std::string_view line = before.substr(before.rfind('\n') + 1);
  return fmt::format("{}:{}", std::ranges::count(before, '\n') + 1, character_count(line) + 1);
}

/// Where the quotes that begin at `at` end: at their like, else at the end of the line.
std::size_t end_of_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != quote && text[at] != '\n'; ++at) {
    const bool escapes = quote == '"' && text[at] == '\\';
    if (escapes && !text.substr(at + 1).starts_with('\n')) ++at;
  }
  return std::min(at, text.size());
}

/// Throws Error (Usage) with origin:line:column where a text has what toml++ 3.3 is not safe
/// against: characters beyond ASCII outside of quotes and comments (undefined behaviour there), and
/// quotes over several lines, which no system file needs.
void check_toml_characters(std::string_view text, std::string_view origin) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.') {
      ++dots;
    } else if (!is_in_key(c)) {
      dots = 0;
    }
    const std::string_view fault = fault_of(text.substr(at), dots);
    if (!fault.empty()) throw usage_error("{}:{}: {}", origin, place_of(text.substr(0, at)), fault);
    if (c == '#') at = std::min(text.find('\n', at), text.size());
    if (c != '"' && c != '\'') continue;
    at = end_of_quotes(text, at);
    if (!text.substr(at).starts_with(c)) return;  // the parser reports it, and reads no further
  }
}

}  // namespace

std::string unknown_word(std::string_view what, std::string_view word,
                         const std::vector<std::string>& known) {
  constexpr std::size_t kFewEnough = 12;
  const std::string near = nearest_word(word, known);
  std::string text = fmt::format("unknown {} {}", what, shortened(word));
  if (!near.empty()) return text + fmt::format("; did you mean \"{}\"?", near);
  if (known.empty() || known.size() > kFewEnough) return text;
  return text + fmt::format("; there is: {}", join(known, ", "));
}

Error fault_at(std::string_view origin, const toml::source_region& place, const std::string& what) {
  const std::string_view file = place.path == nullptr ? origin : *place.path;
  // Keys of the file are repeated: nothing of them may move a terminal's cursor.
  return usage_error(without_controls(
      fmt::format("{}:{}:{}: {}", file, place.begin.line, place.begin.column, what)));
}

toml::table parse_toml(std::string_view text, std::string_view origin, std::string_view document) {
  check_toml_characters(text, origin);
  try {
    return toml::parse(text, origin);
  } catch (const toml::parse_error& error) {
    throw fault_at(
        origin, error.source(),
        fmt::format("not valid TOML: {}; {} describes the format", error.description(), document));
  }
}

TomlFields::TomlFields(const toml::table& table, std::string_view origin, std::string what)
    : table_(table), origin_(origin), what_(std::move(what)) {}

TomlFields::TomlFields(const toml::node& table, std::string_view origin, const std::string& what)
    : TomlFields(
          [&]() -> const toml::table& {
            if (const toml::table* found = table.as_table()) return *found;
            throw fault_at(origin, table.source(), fmt::format("{} must be a table", what));
          }(),
          origin, what) {}

std::vector<Error> TomlFields::unknown_keys(const std::vector<std::string>& keys) const {
  std::vector<Error> errors;
  for (const auto& [key, value] : table_) {
    if (std::ranges::find(keys, key.str()) != keys.end()) continue;
    const std::string removed = removed_word(what_, key.str());
    errors.push_back(fault_at(origin_, key.source(),
                              removed.empty()
                                  ? unknown_word(fmt::format("key of {}", what_), key.str(), keys)
                                  : removed));
  }
  return errors;
}

void TomlFields::allow_only(const std::vector<std::string>& keys) const {
  if (const std::vector<Error> errors = unknown_keys(keys); !errors.empty()) {
    throw Error(errors.front());
  }
}

bool TomlFields::has(std::string_view key) const { return find(key) != nullptr; }

const toml::node* TomlFields::find(std::string_view key) const { return table_.get(key); }

const toml::node& TomlFields::required(std::string_view key) const {
  if (const toml::node* found = find(key)) return *found;
  throw fault(key, "{} needs the key \"{}\"", what_, key);
}

Error TomlFields::fault(std::string_view key, const std::string& what) const {
  const toml::node* found = find(key);
  return fault_at(origin_, found != nullptr ? found->source() : table_.source(), what);
}

std::string TomlFields::text(std::string_view key) const {
  const toml::node* found = find(key);
  return found == nullptr ? std::string{} : text_of(*found, key, origin_);
}

std::string TomlFields::required_text(std::string_view key) const {
  static_cast<void>(required(key));
  std::string value = text(key);
  if (value.empty()) throw fault(key, "{} is empty", key);
  return value;
}

bool TomlFields::flag(std::string_view key) const {
  const toml::node* found = find(key);
  if (found == nullptr) return false;
  const auto* value = found->as_boolean();
  if (value == nullptr) throw fault(key, "{} must be true or false", key);
  return value->get();
}

double TomlFields::positive(std::string_view key, double missing) const {
  constexpr double kMost = 1e9;
  const toml::node* found = find(key);
  if (found == nullptr) return missing;
  const auto value = found->is_number() ? found->value<double>() : std::nullopt;
  if (!value) throw fault(key, "{} must be a number", key);
  if (std::isnan(*value) || *value <= 0 || *value > kMost) {
    throw fault(key,
                "{} must be a number above 0 and at most {:g}; leave it out if there is no figure",
                key, kMost);
  }
  return *value;
}

int TomlFields::integer(std::string_view key, int low, int high, int missing) const {
  const toml::node* found = find(key);
  if (found == nullptr) return missing;
  const auto* value = found->as_integer();
  if (value == nullptr || value->get() < low || value->get() > high) {
    throw fault(key, "{} must be a whole number from {} to {}", key, low, high);
  }
  return static_cast<int>(value->get());
}

std::vector<const toml::node*> TomlFields::list(std::string_view key) const {
  std::vector<const toml::node*> elements;
  const toml::node* found = find(key);
  if (found == nullptr) return elements;
  const toml::array* array = found->as_array();
  if (array == nullptr) throw fault(key, "{} must be a list", key);
  for (const toml::node& element : *array) elements.push_back(&element);
  return elements;
}

std::vector<std::string> TomlFields::words(std::string_view key) const {
  std::vector<std::string> words;
  for (const toml::node* element : list(key)) {
    words.push_back(text_of(*element, fmt::format("an element of {}", key), origin_));
    if (words.back().empty()) {
      throw fault_at(origin_, element->source(), fmt::format("an element of {} is empty", key));
    }
  }
  return words;
}

std::vector<std::pair<std::string, const toml::node*>> TomlFields::entries() const {
  std::vector<std::pair<std::string, const toml::node*>> entries;
  for (const auto& [key, value] : table_) entries.emplace_back(key.str(), &value);
  std::ranges::sort(entries, [](const auto& one, const auto& other) {
    return one.second->source().begin < other.second->source().begin;
  });
  return entries;
}

std::optional<std::size_t> TomlFields::one_of(std::string_view key,
                                              const std::vector<std::string>& names) const {
  if (!has(key)) return std::nullopt;
  const std::string word = text(key);
  const auto found = std::ranges::find(names, word);
  if (found == names.end()) throw fault(key, unknown_word(key, word, names));
  return static_cast<std::size_t>(found - names.begin());
}

}  // namespace busbar
