// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/toml_fields.hpp"
#include "judge/spec/specification_fields.hpp"

namespace busbar::judge {

/// What is wrong with a file: reading goes on, so that all of it is found at once.
class Faults {
 public:
  /// Runs a step of reading and keeps the Error (Usage) that it throws.
  void collect(const std::function<void()>& step);
  void add(const Error& fault);
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
  [[nodiscard]] std::size_t count() const { return lines_.size(); }

 private:
  std::vector<std::string> lines_{};  ///< each once
};

/// Where a value stands; `origin` is the specification's own file.
[[nodiscard]] TextPlace place_of(const toml::node& node, std::string_view origin);
/// Where a key's value stands; nowhere (0:0) where it is missing.
[[nodiscard]] TextPlace place_of(const TomlFields& table, std::string_view key);

/// A text, or a list of texts, as a list; refuses an empty one and one that is there twice.
[[nodiscard]] std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key);
/// Throws where a text is there twice.
void refuse_twice(const TomlFields& table, std::string_view key,
                  const std::vector<std::string>& texts);
/// Throws where the key is there: "KEY is only valid with OTHER = "TEXT"".
void refuse_without(const TomlFields& table, std::string_view key, std::string_view other,
                    std::string_view text);

/// Reads the keys that a table has into the fields of a struct; what is missing stays. Throws Error
/// (Usage) with file:line:column for values that the field's check refuses.
class FieldReader {
 public:
  enum class Mode { Whole, Part };  ///< Part: whatever keys there are

  /// With `faults` these are collected, and a value that has one stays. A key that is misspelt is
  /// not also reported as missing.
  explicit FieldReader(const TomlFields& table, Mode mode = Mode::Whole, Faults* faults = nullptr,
                       std::vector<std::string> misspelt = {})
      : table_(table), mode_(mode), faults_(faults), misspelt_(std::move(misspelt)) {}

  void operator()(std::string_view key, auto& value, const FieldCheck& check = {}) const {
    const auto step = [&] {
      const bool misspelt = std::ranges::find(misspelt_, key) != misspelt_.end();
      if (mode_ == Mode::Whole && !misspelt) check_presence(key, check);
      if (table_.has(key)) read(key, value, check);
    };
    if (faults_ == nullptr) return step();
    faults_->collect(step);
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
  void read(std::string_view key, Fingerprint& value, const FieldCheck& check) const;
  void read(std::string_view key, VariableMap& value, const FieldCheck& check) const;

  template <class T>
  void read(std::string_view key, std::optional<T>& value, const FieldCheck& check) const;

  template <NamedEnum Enum>
  void read(std::string_view key, Enum& value, const FieldCheck& /*check*/) const {
    value = table_.value<Enum>(key).value_or(enum_names(Enum{}).front().value);
  }

  const TomlFields& table_;
  Mode mode_;
  Faults* faults_;
  std::vector<std::string> misspelt_;
};

/// The keys that the unknown keys of a table seem to mean.
[[nodiscard]] std::vector<std::string> misspelt_keys(const TomlFields& table,
                                                     const std::vector<std::string>& keys);

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

/// A table as a struct; refuses keys that are neither of its fields nor of `more`. `faults`: as of
/// FieldReader.
template <TableOfFields Struct>
[[nodiscard]] Struct read_fields(const TomlFields& table, const std::vector<std::string>& more = {},
                                 Faults* faults = nullptr) {
  std::vector<std::string> keys = keys_of<Struct>();
  keys.insert(keys.end(), more.begin(), more.end());
  for (const Error& unknown : table.unknown_keys(keys)) {
    if (faults == nullptr) throw Error(unknown);
    faults->add(unknown);
  }
  Struct value;
  visit_fields(value,
               FieldReader(table, FieldReader::Mode::Whole, faults, misspelt_keys(table, keys)));
  return value;
}

/// The same with faults; `check(value)` runs if there were none.
template <TableOfFields Struct, class Check>
[[nodiscard]] Struct read_checked(const TomlFields& table, Faults& faults, const Check& check,
                                  const std::vector<std::string>& more = {}) {
  const std::size_t before = faults.count();
  auto value = read_fields<Struct>(table, more, &faults);
  if (faults.count() == before) faults.collect([&] { check(value); });
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
