// SPDX-License-Identifier: BSD-3-Clause
#include "judge/spec/reader.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

void check_schema(const TomlFields& file) {
  const auto* schema = file.required("schema").as_integer();
  if (schema == nullptr || schema->get() != 1) {
    throw file.fault("schema", "schema must be 1: no other is known");
  }
}

}  // namespace

Specification parse_specification(std::string_view text, const std::string& origin,
                                  const std::string& profile,
                                  const std::vector<std::string>& rules) {
  const toml::table table = parse_toml(text, origin, kSpecificationDocument);
  const TomlFields file(table, origin, "the specification");
  file.allow_only({"schema", "system", "ceiling", "run", "noise", "baseline", "device_set",
                   "expect", "profile"});
  check_schema(file);
  Specification specification{.file = origin,
                              .system = read_system(file),
                              .ceiling = read_ceiling(file),
                              .run = read_run(file),
                              .noise = read_noise(file),
                              .baseline = read_baseline(file)};
  specification.device_sets = read_device_sets(file, specification.system);
  specification.expectations = read_expectations(file, specification);
  return with_profile(file, specification, profile, rules);
}

Specification load_specification(const std::string& path, const std::string& profile) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path, error)) {
    throw usage_error(fmt::format("{}: this specification cannot be read", path));
  }
  std::ostringstream text;
  text << file.rdbuf();
  return parse_specification(text.str(), path, profile);
}

}  // namespace busbar::judge
