// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <toml++/toml.h>

#include "base/enum_names.hpp"
#include "base/error.hpp"

namespace busbar {

/// The text of a file as TOML. Throws Error (Usage) with origin:line:column where it is none, and
/// names the document that describes the format.
[[nodiscard]] toml::table parse_toml(std::string_view text, std::string_view origin,
                                     std::string_view document = "docs/systems.md");

/// An error at a place: "file:line:column: what"; of `origin` where the place names no file.
[[nodiscard]] Error fault_at(std::string_view origin, const toml::source_region& place,
                             const std::string& what);

/// "unknown node "GPU9"; did you mean "GPU0"?"
[[nodiscard]] std::string unknown_word(std::string_view what, std::string_view word,
                                       const std::vector<std::string>& known);

/// One table of a system file, read key by key; every complaint names its line and column.
class TomlFields {
 public:
  /// `what` names the table in messages: "[[node]]". The table and the origin must outlive this.
  TomlFields(const toml::table& table, std::string_view origin, std::string what);
  /// The table of a list's element or of a key. Throws where it is none.
  TomlFields(const toml::node& table, std::string_view origin, const std::string& what);

  /// An error for each key that is not of these; says which one is near.
  [[nodiscard]] std::vector<Error> unknown_keys(const std::vector<std::string>& keys) const;
  /// Throws the first of them.
  void allow_only(const std::vector<std::string>& keys) const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// Throws where the key is missing.
  [[nodiscard]] const toml::node& required(std::string_view key) const;
  [[nodiscard]] const toml::node* find(std::string_view key) const;

  [[nodiscard]] std::string text(std::string_view key) const;           ///< empty where missing
  [[nodiscard]] std::string required_text(std::string_view key) const;  ///< never empty
  [[nodiscard]] bool flag(std::string_view key) const;                  ///< false where missing
  /// A finite number above 0; `missing` where there is none.
  [[nodiscard]] double positive(std::string_view key, double missing) const;
  [[nodiscard]] int integer(std::string_view key, int low, int high, int missing) const;
  /// A list of words, each with at least one character; empty where missing.
  [[nodiscard]] std::vector<std::string> words(std::string_view key) const;
  /// Which of `names` the text is; nothing where the key is missing.
  [[nodiscard]] std::optional<std::size_t> one_of(std::string_view key,
                                                  const std::vector<std::string>& names) const;
  /// The value that has this name; nothing where the key is missing.
  template <NamedEnum Enum>
  [[nodiscard]] std::optional<Enum> value(std::string_view key) const {
    const auto found = one_of(key, mapped<std::string>(enum_names(Enum{}), &Named<Enum>::text));
    return found ? std::optional(enum_names(Enum{}).at(*found).value) : std::nullopt;
  }
  /// The value that has this name, which must be there.
  template <NamedEnum Enum>
  [[nodiscard]] Enum required_value(std::string_view key) const {
    static_cast<void>(required(key));
    return *value<Enum>(key);
  }
  /// What the text, which must be there, stands for.
  template <class Value>
  [[nodiscard]] const Value& value(std::string_view key,
                                   const std::map<std::string, Value>& known) const {
    const std::string word = required_text(key);
    const auto found = known.find(word);
    if (found != known.end()) return found->second;
    const auto words = mapped(known, [](const auto& one) { return one.first; });
    throw fault(key, unknown_word(key, word, words));
  }
  /// The elements of a list, or of a table of tables; none where missing. Throws for what is no
  /// list.
  [[nodiscard]] std::vector<const toml::node*> list(std::string_view key) const;

  /// Keys and values in the order of the file.
  [[nodiscard]] std::vector<std::pair<std::string, const toml::node*>> entries() const;

  /// An error at a key's value, or at the table where it has none.
  [[nodiscard]] Error fault(std::string_view key, const std::string& what) const;
  template <class First, class... More>
  [[nodiscard]] Error fault(std::string_view key, fmt::format_string<First, More...> what,
                            First&& first, More&&... more) const {
    return fault(key, fmt::format(what, std::forward<First>(first), std::forward<More>(more)...));
  }
  [[nodiscard]] std::string_view origin() const { return origin_; }

 private:
  const toml::table& table_;
  std::string_view origin_;
  std::string what_;
};

}  // namespace busbar
