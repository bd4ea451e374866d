// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/field_reader.hpp"

#include <chrono>

#include <fmt/format.h>

#include "base/hostlist.hpp"
#include "base/text.hpp"
#include "model/fact.hpp"

namespace busbar::judge {
namespace {

/// "2026-11-21" of a text or of a date of TOML.
std::string read_date(const TomlFields& table, std::string_view key) {
  if (const auto* date = table.required(key).as_date()) {
    return fmt::format("{:04}-{:02}-{:02}", date->get().year, date->get().month, date->get().day);
  }
  std::string text = table.required_text(key);
  const auto number = [&](std::size_t from, std::size_t length) {
    return to_number<int>(std::string_view{text}.substr(from, length)).value_or(-1);
  };
  if (text.size() == 10 && text[4] == '-' && text[7] == '-') {
    const std::chrono::year_month_day day{std::chrono::year{number(0, 4)},
                                          std::chrono::month{static_cast<unsigned>(number(5, 2))},
                                          std::chrono::day{static_cast<unsigned>(number(8, 2))}};
    if (day.ok()) return text;
  }
  throw table.fault(key, "{}: '{}' is not a date; write it as 2026-11-21", key, text);
}

Bytes read_size(const TomlFields& table, std::string_view key, const std::string& text) {
  try {
    const Bytes size = parse_bytes(key, text);
    if (size > 0) return size;
  } catch (const Error& error) {
    throw table.fault(key, error.what());
  }
  throw table.fault(key, "{}: a size of 0 bytes measures nothing", key);
}

std::vector<Bytes> read_range(const TomlFields& range) {
  range.allow_only({"from", "to", "factor"});
  const Bytes from = read_size(range, "from", range.required_text("from"));
  const Bytes to = read_size(range, "to", range.required_text("to"));
  static_cast<void>(range.required("factor"));
  const double factor = range.positive("factor", 0);
  constexpr double kLeast = 1.01;
  if (factor < kLeast) {
    throw range.fault("factor", "factor must be at least {}", kLeast);
  }
  if (to < from) throw range.fault("to", "size: to is less than from");
  std::vector<Bytes> sizes;
  // In whole bytes as the executables step: a fraction of a byte is cut off.
  for (Bytes size = from; size <= to;) {
    sizes.push_back(size);
    const double next = static_cast<double>(size) * factor;
    if (next > static_cast<double>(to)) break;
    size = std::max(size + 1, static_cast<Bytes>(next));
  }
  return sizes;
}

}  // namespace

void Faults::collect(const std::function<void()>& step) {
  try {
    step();
  } catch (const Error& fault) {
    if (fault.status() != Status::Usage) throw;
    add({fault});
  }
}

void Faults::add(const std::vector<Error>& faults) {
  for (const Error& fault : faults) add_new(lines_, one_line(fault.what()));
}

TextPlace place_of(const toml::node& node, std::string_view origin) {
  const toml::source_region& region = node.source();
  TextPlace place{.line = region.begin.line, .column = region.begin.column};
  if (region.path != nullptr && *region.path != origin) place.file = *region.path;
  return place;
}

TextPlace place_of(const TomlFields& table, std::string_view key) {
  const toml::node* found = table.find(key);
  return found == nullptr ? TextPlace{} : place_of(*found, table.origin());
}

std::vector<std::string> one_or_many(const TomlFields& table, std::string_view key) {
  if (!table.required(key).is_array()) return {table.required_text(key)};
  std::vector<std::string> texts = table.words(key);
  if (texts.empty()) throw table.fault(key, "{} is an empty list", key);
  refuse_twice(table, key, texts);
  return texts;
}

void refuse_twice(const TomlFields& table, std::string_view key, std::vector<std::string> texts) {
  std::ranges::sort(texts);
  const auto twice = std::ranges::adjacent_find(texts);
  if (twice != texts.end()) throw table.fault(key, "\"{}\" is twice in {}", *twice, key);
}

void refuse_without(const TomlFields& table, std::string_view key, std::string_view other,
                    std::string_view text) {
  if (!table.has(key)) return;
  throw table.fault(key, "{} is only valid with {} = \"{}\"", key, other, text);
}

FieldReader::FieldReader(const TomlFields& table, const std::vector<std::string>& keys,
                         Faults* faults)
    : table_(table), is_whole_(true), faults_(faults) {
  const std::vector<Error> unknown = table.unknown_keys(keys);
  if (faults == nullptr && !unknown.empty()) throw Error(unknown.front());
  if (faults != nullptr) faults->add(unknown);
  for (const auto& [key, node] : table.entries()) {
    if (!contains(keys, key)) misspelt_.push_back(nearest_word(key, keys));
  }
}

void FieldReader::check_presence(std::string_view key, const FieldCheck& check) const {
  const auto& [other, text] = check.only_with;
  if (contains(misspelt_, key)) return;
  if (!other.empty() && table_.text(other) != text) {
    refuse_without(table_, key, other, text);
  } else if (check.required) {
    static_cast<void>(table_.required(key));
  }
}

void FieldReader::read(std::string_view key, std::string& value, const FieldCheck& check) const {
  if (check.calendar_date) {
    value = read_date(table_, key);
  } else if (check.one_or_many) {
    value = one_line(join(one_or_many(table_, key), " "));
  } else {
    value = table_.required_text(key);
  }
}

void FieldReader::read(std::string_view key, bool& value, const FieldCheck& check) const {
  if (check.if_true.empty()) {
    value = table_.flag(key);
  } else {
    value = table_.one_of(key, {std::string(check.if_false), std::string(check.if_true)}) == 1U;
  }
}

void FieldReader::read(std::string_view key, int& value, const FieldCheck& check) const {
  if (!check.automatic || !table_.required(key).is_string()) {
    value = table_.integer(key, check.least, check.most, 0);
  } else if (table_.text(key) == "auto") {
    value = *check.automatic;
  } else {
    throw table_.fault(key, "{} must be a whole number or \"auto\"", key);
  }
}

void FieldReader::read(std::string_view key, double& value, const FieldCheck& check) const {
  const auto* number = table_.required(key).as_integer();
  if (check.may_be_zero && number != nullptr && number->get() == 0) {
    value = 0;
    return;
  }
  value = table_.positive(key, 0);
  if (check.fraction && value > 1) {
    throw table_.fault(key, "{} is a fraction: 0.02 is 2 %; it must be at most 1", key);
  }
}

void FieldReader::read(std::string_view key, std::vector<std::string>& value,
                       const FieldCheck& check) const {
  if (check.hosts) {
    const TextPlace at = place_of(table_, key);
    const std::string place = fmt::format("{}:{}:{}: {}", table_.origin(), at.line, at.column, key);
    value = expand_hostlist(place, table_.required_text(key));
  } else {
    value = check.one_or_many ? one_or_many(table_, key) : table_.words(key);
  }
  refuse_twice(table_, key, value);
}

void FieldReader::read(std::string_view key, std::vector<Bytes>& value,
                       const FieldCheck& /*check*/) const {
  const toml::node& node = table_.required(key);
  if (node.is_table()) {
    value = read_range({node, table_.origin(), std::string(key)});
    return;
  }
  if (!node.is_string() && !node.is_array()) {
    throw table_.fault(key,
                       "{} must be a text such as \"8MiB\", a list of texts, or {{ from = "
                       "\"1MiB\", to = \"1GiB\", factor = 2 }}",
                       key);
  }
  value.clear();
  for (const std::string& text : one_or_many(table_, key)) {
    const Bytes size = read_size(table_, key, text);
    if (!value.empty() && size <= value.back()) {
      throw table_.fault(key, "the sizes must rise: \"{}\" does not", text);
    }
    value.push_back(size);
  }
}

/// Facts of a fingerprint, each with the values of which a run must have one.
void FieldReader::read(std::string_view key, Fingerprint& value,
                       const FieldCheck& /*check*/) const {
  const TomlFields facts(table_.required(key), table_.origin(), std::string(key));
  facts.allow_only({"gpu", "gpus_per_node", "nics_per_node", "processor", "library", "driver",
                    "transport", "nccl_gpudirect_rdma", "nccl_nvls", "nccl_network"});
  constexpr int kMost = 100'000;
  for (const auto& [fact, node] : facts.entries()) {
    const bool counted = fact.ends_with("_per_node");
    value[fact_key(fact)] = counted
                                ? std::vector{fmt::format("{}", facts.integer(fact, 0, kMost, 0))}
                                : one_or_many(facts, fact);
  }
}

void FieldReader::read(std::string_view key, VariableMap& value,
                       const FieldCheck& /*check*/) const {
  const TomlFields variables(table_.required(key), table_.origin(), std::string(key));
  for (const auto& [name, node] : variables.entries()) {
    const bool is_name = name.find_first_of("= \t") == std::string::npos && !name.empty();
    if (!is_name) throw variables.fault(name, "\"{}\" is not the name of a variable", name);
    value[name] = one_line(variables.required_text(name));
  }
}

}  // namespace busbar::judge
