// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml_fields.hpp"
#include "judge/spec/specification_fields.hpp"

namespace busbar::judge {

/// Where a value stands; `origin` is the specification's own file.
[[nodiscard]] TextPlace place_of(const toml::node& node, std::string_view origin);
/// Where a key's value stands; nowhere (0:0) where it is missing.
[[nodiscard]] TextPlace place_of(const TomlFields& table, std::string_view key);

/// A text, or a list of texts, as a list; refuses an empty one and one that is there twice.
[[nodiscard]] std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key);
/// Throws where a text is there twice.
void refuse_twice(const TomlFields& table, std::string_view key,
                  const std::vector<std::string>& texts);
/// Throws where the key is there: "KEY means nothing without OTHER = "TEXT"".
void refuse_without(const TomlFields& table, std::string_view key, std::string_view other,
                    std::string_view text);
/// A size of at least one byte.
[[nodiscard]] Bytes read_size(const TomlFields& table, std::string_view key,
                              const std::string& text);

/// Reads the keys that a table has into the fields of a struct; what is missing stays. Throws Error
/// (Usage) with file:line:column for values that the field's check refuses.
class FieldReader {
 public:
  enum class Mode { Whole, Part };  ///< Part: whatever keys there are

  explicit FieldReader(const TomlFields& table, Mode mode = Mode::Whole)
      : table_(table), mode_(mode) {}

  void operator()(std::string_view key, auto& value, const FieldCheck& check = {}) const {
    if (mode_ == Mode::Whole) check_presence(key, check);
    if (table_.has(key) && !check.by_hand) read(key, value, check);
  }

 private:
  /// Throws where a key must or must not be there.
  void check_presence(std::string_view key, const FieldCheck& check) const;
  void read(std::string_view key, std::string& value, const FieldCheck& check) const;
  void read(std::string_view key, bool& value, const FieldCheck& check) const;
  void read(std::string_view key, int& value, const FieldCheck& check) const;
  void read(std::string_view key, double& value, const FieldCheck& check) const;
  void read(std::string_view key, std::vector<std::string>& value, const FieldCheck& check) const;
  void read(std::string_view key, std::vector<Bytes>& value, const FieldCheck& check) const;
  void read(std::string_view key, std::map<std::string, std::vector<std::string>>& value,
            const FieldCheck& check) const;

  template <class T>
  void read(std::string_view key, std::optional<T>& value, const FieldCheck& check) const;

  template <NamedEnum Enum>
  void read(std::string_view key, Enum& value, const FieldCheck& /*check*/) const {
    std::vector<std::string> names;
    for (const auto& one : enum_names(Enum{})) names.emplace_back(one.text);
    value = enum_names(Enum{}).at(table_.one_of(key, names).value_or(0)).value;
  }

  const TomlFields& table_;
  Mode mode_;
};

/// The keys of a struct's table.
template <TableOfFields Struct>
[[nodiscard]] std::vector<std::string> keys_of() {
  std::vector<std::string> keys;
  Struct fields;
  visit_fields(fields, [&](std::string_view key, const auto&, const FieldCheck& = {}) {
    keys.emplace_back(key);
  });
  return keys;
}

/// A table as a struct; refuses keys that are neither of its fields nor of `more`.
template <TableOfFields Struct>
[[nodiscard]] Struct read_fields(const TomlFields& table,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> keys = keys_of<Struct>();
  keys.insert(keys.end(), more.begin(), more.end());
  table.allow_only(keys);
  Struct value;
  visit_fields(value, FieldReader(table));
  return value;
}

template <class T>
void FieldReader::read(std::string_view key, std::optional<T>& value,
                       const FieldCheck& check) const {
  if constexpr (TableOfFields<T>) {
    value = read_fields<T>({table_.required(key), table_.origin(), std::string(key)});
  } else {
    read(key, value.emplace(), check);
  }
}

}  // namespace busbar::judge
