// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "judge/spec/reader.hpp"

namespace busbar::judge {
namespace {

void add_missing_keys(toml::table& table, toml::table&& base) {
  for (auto&& [key, value] : base) {
    if (!table.contains(key)) table.insert(key, std::move(value));
  }
}

std::optional<std::string> id_of(toml::node& entry) {
  return toml::node_view{entry}["id"].value<std::string>();
}

/// The list says which entries there are; each takes what it lacks from the base's of the same id.
void complete_entries(toml::array& entries, toml::array& base) {
  for (toml::node& entry : entries) {
    const auto id = id_of(entry);  // without one it is a fault that the reader reports
    const auto same = [&](toml::node& other) { return id && id_of(other) == id; };
    const auto found = std::find_if(base.begin(), base.end(), same);
    if (found != base.end()) add_missing_keys(*entry.as_table(), std::move(*found->as_table()));
  }
}

void complete_value(const toml::key& key, toml::node& value, toml::node& base) {
  toml::table* table = value.as_table();
  toml::table* base_table = base.as_table();
  if (toml::array* entries = value.as_array(); entries != nullptr && base.is_array()) {
    complete_entries(*entries, *base.as_array());
  } else if (table == nullptr || base_table == nullptr || key == "ceiling" || key == "baseline") {
    return;  // whole
  } else if (key == "profile") {
    for (auto&& [name, profile] : *base_table) {
      toml::table* own = table->get_as<toml::table>(name.str());
      if (own == nullptr) {
        table->insert(name, std::move(profile));
      } else if (profile.is_table()) {
        add_missing_keys(*own, std::move(*profile.as_table()));
      }
    }
  } else {
    add_missing_keys(*table, std::move(*base_table));
  }
}

void check_schema(const TomlFields& file) {
  const auto* schema = file.required("schema").as_integer();
  if (schema == nullptr || schema->get() != 1) {
    throw file.fault("schema", "schema must be 1: no other is known");
  }
}

SpecificationSource base_of(const TomlFields& file, const std::string& name) {
  const bool is_path = name.find('/') != std::string::npos || name.ends_with(".toml");
  try {
    return find_specification(is_path ? beside(file.origin(), name) : name);
  } catch (const Error& error) {
    throw file.fault("based_on", error.what());
  }
}

}  // namespace

bool is_ready_made(const std::string& name) {
  return !embedded_text(fmt::format("results/expect/{}.toml", name)).empty();
}

SpecificationSource find_specification(const std::string& name) {
  std::error_code error;
  if (std::filesystem::is_regular_file(name, error)) {
    const auto text = read_file(name);
    if (!text) throw usage_error("cannot read {}", name);
    return {.path = name, .text = *text};
  }
  for (const char* folder : {"results/expect", "results/expect/shared"}) {
    std::string path = fmt::format("{}/{}.toml", folder, name);
    const std::string_view text = embedded_text(path);
    if (!text.empty()) return {.path = std::move(path), .text = std::string(text)};
  }
  throw usage_error(
      "{}: there is no such file, and no ready-made specification of that name; see busbar accept "
      "list",
      name);
}

toml::table complete_table(std::string_view text, const std::string& origin, int depth) {
  constexpr int kDeepest = 8;
  toml::table table = parse_toml(text, origin, kSpecificationDocument);
  const TomlFields file(table, origin, "the specification");
  check_schema(file);
  if (!file.has("based_on")) return table;
  const std::string name = file.required_text("based_on");
  if (depth == kDeepest) {
    throw file.fault("based_on", "based_on is more than {} files deep; is it based on itself?",
                     kDeepest);
  }
  const SpecificationSource source = base_of(file, name);
  toml::table base = complete_table(source.text, source.path, depth + 1);
  table.erase("based_on");
  for (auto&& [key, value] : base) {
    if (toml::node* own = table.get(key.str()); own != nullptr) {
      complete_value(key, *own, value);
    } else {
      table.insert(key, std::move(value));
    }
  }
  return table;
}

std::string complete_text(const SpecificationSource& source) {
  const toml::table own = parse_toml(source.text, source.path, kSpecificationDocument);
  if (!own.contains("based_on")) return source.text;
  std::ostringstream text;
  text << toml::toml_formatter(complete_table(source.text, source.path)) << "\n";
  return text.str();
}

}  // namespace busbar::judge
