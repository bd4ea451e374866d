// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/built_in.hpp"

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kFolder = "topo/systems";

}  // namespace

std::vector<std::string> names_of(const SystemText& system) {
  const toml::table table = parse_toml(system.text, system.path);
  const TomlFields fields(table, system.path, "a system file");
  std::vector<std::string> names = fields.words("aliases");
  names.insert(names.begin(), fields.required_text("name"));
  return names;
}

std::vector<SystemText> built_in_texts() {
  std::vector<SystemText> texts;
  for (const EmbeddedText& system : embedded_texts(kFolder)) {
    texts.push_back({.path = std::string(system.path), .text = std::string(system.text)});
  }
  return texts;
}

bool is_system_path(const std::string& text) {
  return text.find('/') != std::string::npos || (text.ends_with(".toml") && text != ".toml");
}

SystemText find_system(const std::string& wanted, std::string_view subject) {
  if (is_system_path(wanted)) {
    if (auto text = read_file(wanted)) return {.path = wanted, .text = *text};
    throw usage_error(fmt::format(
        "{}: this file cannot be read; a name without '/' is one of the built-in systems",
        subject));
  }
  // A file is named as its system, so only an alias needs the others' texts.
  const std::string path = fmt::format("{}/{}.toml", kFolder, lower(wanted));
  if (const auto text = embedded_text(path); !text.empty()) return {path, std::string(text)};
  std::vector<std::string> known;
  for (const SystemText& system : built_in_texts()) {
    const std::vector<std::string> of_this = names_of(system);
    for (const std::string& name : of_this) {
      if (lower(name) == lower(wanted)) return system;
    }
    known.insert(known.end(), of_this.begin(), of_this.end());
  }
  const std::string near = nearest_word(lower(wanted), known);
  throw usage_error(fmt::format(
      "{}: there is no such system; {}; a file's name ends in .toml", subject,
      near.empty() ? "busbar topo --help lists them" : fmt::format("did you mean {}?", near)));
}

}  // namespace busbar::topo
