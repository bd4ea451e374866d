// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_fields.hpp"
#include "study/expect/expect.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kPublishedDocument = "results/reference/README.md";

/// Short names of sources and what they stand for.
using SourceNames = std::map<std::string, std::string>;

SourceNames read_sources(const TomlFields& file) {
  SourceNames sources;
  const toml::node* found = file.find("source");
  if (found == nullptr) return sources;
  const TomlFields fields(*found, file.origin(), "[source]");
  for (const auto& [key, node] : fields.entries()) sources[key] = fields.required_text(key);
  return sources;
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

/// The figures of a [[rate]], numbers above 0: one for all its ranks and sizes, or one for each
/// element of `other`; nothing where the source has none.
std::vector<std::optional<double>> read_figures(const TomlFields& fields, std::string_view key,
                                                std::string_view other, std::size_t wanted) {
  const toml::node* found = fields.find(key);
  std::vector<std::optional<double>> figures;
  if (found == nullptr || !found->is_array()) {
    figures.resize(wanted,
                   found == nullptr ? std::nullopt : std::optional(fields.positive(key, 0)));
    return figures;
  }
  for (const toml::node* element : fields.list(key)) {
    const auto value = element->is_number() ? element->value<double>() : std::nullopt;
    if (!value || !std::isfinite(*value) || *value <= 0) {
      throw fault_at(fields.origin(), element->source(),
                     fmt::format("{} must be numbers above 0", key));
    }
    figures.push_back(value);
  }
  if (figures.size() == wanted) return figures;
  throw fields.fault(key, "{} has {} numbers, and {} has {}", key, figures.size(), other, wanted);
}

/// The sizes of `size` or `sizes`; one without a value if the source does not state it.
std::vector<std::optional<Bytes>> read_sizes(const TomlFields& fields) {
  const auto size_of = [&](const toml::node& node) {
    try {
      return parse_bytes("size", node.value<std::string>().value_or(""));
    } catch (const Error& error) {
      throw fault_at(fields.origin(), node.source(), error.what());
    }
  };
  std::vector<std::optional<Bytes>> sizes;
  for (const toml::node* element : fields.list("sizes")) sizes.emplace_back(size_of(*element));
  if (fields.has("sizes") && (sizes.empty() || fields.has("size"))) {
    throw fields.fault("sizes", "sizes must be a list that is not empty, in place of size");
  }
  if (const toml::node* size = fields.find("size")) sizes.emplace_back(size_of(*size));
  if (sizes.empty()) sizes.emplace_back();
  return sizes;
}

/// Adds a rate for each number of ranks and each size.
void read_rate(const toml::node& node, std::string_view origin, const SourceNames& sources,
               std::vector<PublishedRate>& rates) {
  const TomlFields fields(node, origin, "[[rate]]");
  fields.allow_only({"system", "instance", "nodes", "collective", "ranks", "size", "sizes",
                     "placement", "relation", "busbw_GBps", "time_us", "theoretical_GBps",
                     "evidence", "unusual", "condition", "source"});
  constexpr int kMostNodes = 1 << 20;
  PublishedRate rate{.system = fields.required_text("system"),
                     .instance = fields.text("instance"),
                     .nodes = fields.integer("nodes", 1, kMostNodes, 1),
                     .collective = fields.required_text("collective"),
                     .evidence = fields.value<RateEvidence>("evidence").value_or(RateEvidence{}),
                     .usual = !fields.flag("unusual"),
                     .condition = fields.text("condition"),
                     .source = fields.value("source", sources)};
  if (const auto place = fields.one_of("placement", {"out", "in"})) rate.in_place = *place == 1;
  const std::vector<int> ranks = read_ranks(fields);
  const std::vector<std::optional<Bytes>> sizes = read_sizes(fields);
  const bool by_size = fields.has("sizes");  // else by ranks
  const char* other = by_size ? "sizes" : "ranks";
  const std::size_t count = by_size ? sizes.size() : ranks.size();
  const auto busbw = read_figures(fields, "busbw_GBps", other, count);
  const auto time = read_figures(fields, "time_us", other, count);
  if (fields.has("theoretical_GBps")) {
    rate.theoretical_GBps = fields.positive("theoretical_GBps", 0);
  }
  if (!busbw.front() && !time.front() && !rate.theoretical_GBps) {
    throw fields.fault("busbw_GBps", "[[rate]] needs busbw_GBps, time_us or theoretical_GBps");
  }
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (std::size_t s = 0; s < sizes.size(); ++s) {
      rate.ranks = ranks[r];
      rate.size = sizes[s];
      rate.busbw_GBps = busbw[by_size ? s : r];
      rate.time_us = time[by_size ? s : r];
      rates.push_back(rate);
    }
  }
}

}  // namespace

PublishedRates parse_published(std::string_view text, std::string_view origin) {
  const toml::table table = parse_toml(text, origin, kPublishedDocument);
  const TomlFields fields(table, origin, "the file");
  fields.allow_only({"source", "rate", "ratio"});
  const SourceNames sources = read_sources(fields);
  PublishedRates published;
  for (const toml::node* element : fields.list("rate")) {
    read_rate(*element, origin, sources, published);
  }
  return published;
}

PublishedRates kept_published() {
  return parse_published(embedded_text(kPublishedFile), kPublishedFile);
}

}  // namespace busbar::study
