// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "judge/spec/reader_parts.hpp"

namespace busbar::judge {
namespace {

constexpr std::string_view kForms =
    R"(a text such as "8MiB", a list of texts, or { from = "1MiB", to = "1GiB", factor = 2 })";

Bytes size_of(const TomlFields& table, std::string_view key, const std::string& text) {
  try {
    const Bytes size = parse_bytes(key, text);
    if (size > 0) return size;
  } catch (const Error& error) {
    throw table.fault(key, error.what());
  }
  throw table.fault(key, fmt::format("{}: a size of 0 bytes measures nothing", key));
}

double factor_of(const TomlFields& range) {
  static_cast<void>(range.required("factor"));
  const double factor = range.positive("factor", 0);
  constexpr double kLeast = 1.01;
  if (factor >= kLeast) return factor;
  throw range.fault("factor", fmt::format("factor must be at least {}", kLeast));
}

std::vector<Bytes> read_range(const TomlFields& rule) {
  const TomlFields range(rule.required("size"), rule.origin(), "size");
  range.allow_only({"from", "to", "factor"});
  const Bytes from = size_of(range, "from", range.required_text("from"));
  const Bytes to = size_of(range, "to", range.required_text("to"));
  const double factor = factor_of(range);
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

std::vector<Bytes> read_sizes(const TomlFields& rule) {
  const toml::node& node = rule.required("size");
  if (node.is_table()) return read_range(rule);
  if (!node.is_string() && !node.is_array()) {
    throw rule.fault("size", fmt::format("size must be {}", kForms));
  }
  std::vector<Bytes> sizes;
  for (const std::string& text : one_or_many(rule, "size")) {
    const Bytes size = size_of(rule, "size", text);
    if (!sizes.empty() && size <= sizes.back()) {
      throw rule.fault("size", fmt::format("the sizes must rise: \"{}\" does not", text));
    }
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace busbar::judge
