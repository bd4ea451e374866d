// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "study/compare/comparison_text.hpp"

namespace busbar::study {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json value(const std::optional<T>& optional) {
  return optional ? Json(*optional) : Json(nullptr);
}

Json key_of(const RowKey& key) {
  return {{"collective", key.collective},
          {"type", key.type},
          {"op", key.op},
          {"root", value(key.root)},
          {"ranks", key.ranks},
          {"group", value(key.group)},
          {"sender", value(key.sender)},
          {"receiver", value(key.receiver)},
          {"size_bytes", key.size},
          {"in_place", key.in_place}};
}

Json interval_of(const ComparedRow& row) {
  if (!row.interval) return nullptr;
  return Json::array({row.interval->low, row.interval->high});
}

Json row_of(const ComparedRow& row) {
  Json json = key_of(row.key);
  json["launches_before"] = row.launches_before;
  json["launches_after"] = row.launches_after;
  json["before_us"] = row.before_us;
  json["after_us"] = row.after_us;
  json["before_GBps"] = value(row.before_GBps);
  json["after_GBps"] = value(row.after_GBps);
  json["ratio"] = row.ratio;
  json["interval"] = interval_of(row);
  json["interval_of"] = name(row.kind);
  json["p"] = value(row.p);
  json["verdict"] = name(row.verdict);
  return json;
}

}  // namespace

std::string comparison_json(const GroupComparison& comparison) {
  Json json{{"before", comparison.before},
            {"after", comparison.after},
            {"threshold", comparison.threshold},
            {"warnings", comparison.warnings}};
  for (const std::string& problem : comparison.problems) json["warnings"].push_back(problem);
  json["rows"] = Json::array();
  for (const ComparedRow& row : comparison.rows) json["rows"].push_back(row_of(row));
  json["only_before"] = Json::array();
  for (const RowKey& key : comparison.only_before) json["only_before"].push_back(key_of(key));
  json["only_after"] = Json::array();
  for (const RowKey& key : comparison.only_after) json["only_after"].push_back(key_of(key));
  json["summary"] = {{"faster", comparison.count(Verdict::Faster)},
                     {"slower", comparison.count(Verdict::Slower)},
                     {"same", comparison.count(Verdict::Same)},
                     {"cannot_tell", comparison.count(Verdict::CannotTell)}};
  constexpr int kIndent = 2;
  return json.dump(kIndent, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace busbar::study
