// SPDX-License-Identifier: BSD-3-Clause
#include "study/published.hpp"

#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"

namespace busbar {
namespace {

constexpr std::string_view kPublishedDocument = "docs/published.md";

/// Short names of sources and what they stand for.
using Sources = std::map<std::string, std::string>;

Sources read_sources(const TomlFields& file) {
  Sources sources;
  const toml::node* found = file.find("source");
  if (found == nullptr) return sources;
  const TomlFields fields(*found, file.origin(), "[source]");
  for (const auto& [key, node] : fields.entries()) sources[key] = fields.required_text(key);
  return sources;
}

std::string source_of(const TomlFields& fields, const Sources& sources) {
  const std::string word = fields.required_text("source");
  const auto found = sources.find(word);
  if (found != sources.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, title] : sources) known.push_back(name);
  throw fields.fault("source", unknown_word("source", word, known));
}

std::vector<int> read_ranks(const TomlFields& fields) {
  static_cast<void>(fields.required("ranks"));
  std::vector<int> ranks;
  for (const toml::node* element : fields.list("ranks")) {
    const auto value = element->value_exact<std::int64_t>();
    const int last = ranks.empty() ? 0 : ranks.back();
    if (!value || *value <= last || *value > std::numeric_limits<int>::max()) {
      throw fault_at(fields.origin(), element->source(),
                     "ranks must be whole numbers above 0 that rise");
    }
    ranks.push_back(static_cast<int>(*value));
  }
  if (ranks.empty()) throw fields.fault("ranks", "ranks is empty");
  return ranks;
}

PublishedRate read_rate(const toml::node& node, std::string_view origin, const Sources& sources) {
  const TomlFields fields(node, origin, "[[rate]]");
  fields.allow_only({"system", "collective", "ranks", "relation", "busbw_GBps", "theoretical_GBps",
                     "condition", "source"});
  static_cast<void>(fields.required("theoretical_GBps"));
  std::vector<std::string> names;
  for (const Relation relation : all_values<Relation>()) names.emplace_back(name(relation));
  PublishedRate rate{
      .system = fields.required_text("system"),
      .collective = fields.required_text("collective"),
      .ranks = read_ranks(fields),
      .relation = all_values<Relation>().at(fields.one_of("relation", names).value_or(0)),
      .theoretical_GBps = fields.positive("theoretical_GBps", 0),
      .condition = fields.required_text("condition"),
      .source = source_of(fields, sources)};
  if (fields.has("busbw_GBps")) rate.busbw_GBps = fields.positive("busbw_GBps", 0);
  return rate;
}

PublishedRatio read_ratio(const toml::node& node, std::string_view origin, const Sources& sources) {
  const TomlFields fields(node, origin, "[[ratio]]");
  fields.allow_only({"model", "group", "system", "over", "ranks", "percent", "source"});
  PublishedRatio ratio{.model = fields.required_text("model"),
                       .group = fields.text("group"),
                       .system = fields.required_text("system"),
                       .over = fields.required_text("over"),
                       .ranks = read_ranks(fields),
                       .source = source_of(fields, sources)};
  for (const toml::node* element : fields.list("percent")) {
    const auto value = element->is_number() ? element->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value <= 0) {
      throw fault_at(origin, element->source(), "percent must be numbers above 0");
    }
    ratio.percent.push_back(*value);
  }
  if (ratio.percent.size() != ratio.ranks.size()) {
    throw fields.fault("percent", fmt::format("percent has {} numbers, and ranks has {}",
                                              ratio.percent.size(), ratio.ranks.size()));
  }
  return ratio;
}

}  // namespace

Published parse_published(std::string_view text, std::string_view origin) {
  const toml::table table = parse_toml(text, origin, kPublishedDocument);
  const TomlFields fields(table, origin, "the file");
  fields.allow_only({"source", "rate", "ratio"});
  const Sources sources = read_sources(fields);
  Published published;
  for (const toml::node* element : fields.list("rate")) {
    published.rates.push_back(read_rate(*element, origin, sources));
  }
  for (const toml::node* element : fields.list("ratio")) {
    published.ratios.push_back(read_ratio(*element, origin, sources));
  }
  return published;
}

Published read_published(const std::string& path) {
  const auto text = read_file(path);
  if (!text) {
    throw usage_error(fmt::format("{}: this file of published figures cannot be read", path));
  }
  return parse_published(*text, path);
}

}  // namespace busbar
