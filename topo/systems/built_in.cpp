// SPDX-License-Identifier: BSD-3-Clause
// The systems that are compiled in; system_file.hpp declares load_system and built_in_systems.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kFolder = "topo/systems";

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Name and aliases of a file, the name first.
std::vector<std::string> names_of(const EmbeddedText& system) {
  const toml::table table = parse_toml(system.text, system.path);
  const TomlFields fields(table, system.path, "a system file");
  std::vector<std::string> names = fields.words("aliases");
  names.insert(names.begin(), fields.required_text("name"));
  return names;
}

bool is_path(const std::string& text) {
  constexpr std::string_view kEnding = ".toml";
  return text.find('/') != std::string::npos ||
         (text.size() > kEnding.size() &&
          text.compare(text.size() - kEnding.size(), kEnding.size(), kEnding) == 0);
}

std::string read_file(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) {
    throw usage_error(
        fmt::format("--system {}: this file cannot be read; a name without '/' is one "
                    "of the built-in systems",
                    path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Error unknown_system(const std::string& wanted, const std::vector<std::string>& known,
                     const std::vector<std::string>& names) {
  const std::string near = nearest_word(lower(wanted), known);
  return usage_error(fmt::format(
      "--system {}: there is no such system{}; built in: {}; a file's name ends in .toml", wanted,
      near.empty() ? "" : fmt::format(" (did you mean {}?)", near), join(names, ", ")));
}

struct Found {
  std::string text;
  std::string origin;
};

Found find_system(const std::string& name_or_path) {
  if (is_path(name_or_path)) return {read_file(name_or_path), name_or_path};
  std::vector<std::string> known;
  std::vector<std::string> names;
  for (const EmbeddedText& system : embedded_texts(kFolder)) {
    const std::vector<std::string> of_this = names_of(system);
    for (const std::string& name : of_this) {
      if (lower(name) == lower(name_or_path)) {
        return {std::string(system.text), std::string(system.path)};
      }
    }
    names.push_back(of_this.front());
    known.insert(known.end(), of_this.begin(), of_this.end());
  }
  std::sort(names.begin(), names.end());
  throw unknown_system(name_or_path, known, names);
}

}  // namespace

Graph load_system(const std::string& name_or_path) {
  const Found found = find_system(name_or_path);
  return parse_system(found.text, found.origin);
}

EqualHosts load_machine(const std::string& name_or_path) {
  const Found found = find_system(name_or_path);
  return parse_machine(found.text, found.origin);
}

std::vector<SystemSummary> built_in_systems() {
  std::vector<SystemSummary> systems;
  for (const EmbeddedText& system : embedded_texts(kFolder)) {
    const Graph graph = parse_system(system.text, system.path);
    std::vector<std::string> aliases = names_of(system);
    aliases.erase(aliases.begin());
    systems.push_back({.name = graph.name,
                       .aliases = std::move(aliases),
                       .title = graph.title,
                       .source = graph.source,
                       .devices = device_count(graph)});
  }
  // Files are in the order of their paths, where "-" comes before ".".
  std::sort(systems.begin(), systems.end(),
            [](const SystemSummary& a, const SystemSummary& b) { return a.name < b.name; });
  return systems;
}

}  // namespace busbar::topo
