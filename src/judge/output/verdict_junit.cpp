// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text.hpp"
#include "format/markup_text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"

namespace busbar::judge {
namespace {

/// pugixml escapes markup, but would write control characters as references that XML forbids.
void set(pugi::xml_node node, const char* attribute, std::string_view value) {
  node.append_attribute(attribute).set_value(clean_text(value).c_str());
}

void add_property(pugi::xml_node properties, std::string_view key, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", key);
  set(property, "value", value);
}

/// "pair-floor h1+h2 alltoall 16 MiB": the same in every run of a specification.
std::string case_name(const CheckResult& result) {
  const std::string size = size_text(result.size);
  return fmt::format("{} {} {}{}{}", result.rule, result.instance, result.collective,
                     size.empty() ? "" : " ", size);
}

/// "verdict=FAIL value=12.3 unit=GB/s ratio=0.98 ...": without what has no value.
std::string numbers_of(const CheckResult& result) {
  std::string text;
  for (const Column<CheckResult>& column :
       select_columns(result_columns(),
                      "verdict value unit reference ratio fail_below fail_above cv "
                      "launches=n_launches attempts")) {
    const std::string value = cell_text(column.get(result), exact);
    const bool is_rate = column.name == "value" || column.name == "unit" || column.name == "ratio";
    if (value.empty() || (is_rate && result.decided_by == DecidedBy::WrongData)) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", column.name, value);
  }
  return text;
}

std::string message_of(const CheckResult& result) {
  std::string text(name(result.outcome));
  // The rate of wrong data is not what failed.
  const bool wrong = result.decided_by == DecidedBy::WrongData;
  if (finite(result.value) && !wrong) {
    text += fmt::format(" {} {}", figure(result.value), unit(result.metric));
  }
  const std::string bound = bound_text(result);
  if (!bound.empty() && !wrong) text += fmt::format(" (bound {})", bound);
  return result.reason.empty() ? text : text + ": " + one_line(result.reason);
}

pugi::xml_node add_suite(pugi::xml_node suites, std::string_view id, std::size_t tests,
                         std::map<std::string_view, int> counts) {
  pugi::xml_node suite = suites.append_child("testsuite");
  set(suite, "name", id);
  set(suite, "tests", fmt::format("{}", tests));
  for (const auto& [attribute, element] :
       {std::pair{"failures", "failure"}, {"errors", "error"}, {"skipped", "skipped"}}) {
    set(suite, attribute, fmt::format("{}", counts[element]));
  }
  return suite;
}

void add_case(pugi::xml_node suite, std::string_view class_name, std::string_view case_name,
              Outcome outcome, std::string_view message) {
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "classname", class_name);
  set(test, "name", case_name);
  if (outcome == Outcome::Warn) {
    test.append_child("system-out").text().set(clean_text(message).c_str());
  } else if (outcome != Outcome::Pass) {
    pugi::xml_node node = test.append_child(look_of(outcome).junit);
    set(node, "type", name(outcome));
    set(node, "message", message);
  }
}

void add_set(pugi::xml_node suites, const Acceptance& acceptance,
             const Specification& specification, const Results& results) {
  const std::string& id = results.front()->device_set;
  constexpr std::size_t kMostCases = 500;
  const Results own = worst_results(results, kMostCases);
  std::map<Outcome, int> others;
  for (const CheckResult* result : results) ++others[result->outcome];
  std::map<std::string_view, int> counts;
  for (const CheckResult* result : own) {
    ++counts[look_of(result->outcome).junit];
    if (--others[result->outcome] == 0) others.erase(result->outcome);
  }
  for (const auto& [outcome, count] : others) ++counts[look_of(outcome).junit];
  pugi::xml_node suite = add_suite(suites, id, own.size() + others.size(), counts);
  std::string stamp = acceptance.head.judged_at;
  std::ranges::replace(stamp, ' ', 'T');
  set(suite, "timestamp", stamp);
  pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "system", system_name(specification));
  add_property(properties, "specification", specification.file);
  add_property(properties, "profile", specification.profile);
  add_property(properties, "busbar", acceptance.head.version);
  for (const CheckResult* result : own) {
    add_property(properties, case_name(*result), numbers_of(*result));
  }
  for (const CheckResult* result : own) {
    add_case(suite, "accept." + id, case_name(*result), result->outcome, message_of(*result));
  }
  for (const auto& [outcome, count] : others) {
    add_case(suite, "accept." + id, fmt::format("{} more {}", count, name(outcome)), outcome, "");
  }
}

/// A file without cases would look like success: what no case reports becomes one.
void add_gaps(pugi::xml_node suites, const Acceptance& acceptance,
              const Specification& specification) {
  const Accounting accounting = account_for(acceptance, specification);
  std::string what;
  if (acceptance.verdicts.empty()) what = "ERROR: no rule was judged";
  if (!accounting.missing.empty()) {
    what =
        fmt::format("ERROR: {}; missing: {}", accounting.headline, join(accounting.missing, " "));
  }
  if (what.empty()) return;
  add_case(add_suite(suites, "accept", 1, {{"error", 1}}), "accept",
           "all nodes and rules are accounted for", Outcome::Error, what);
}

}  // namespace

std::string verdict_junit(const Acceptance& acceptance, const Specification& specification) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node suites = document.append_child("testsuites");
  set(suites, "name", fmt::format("busbar accept {}", system_name(specification)));
  const auto set_of = [](const CheckResult& result) { return result.device_set; };
  for (const Results& results : group_results(acceptance, set_of)) {
    add_set(suites, acceptance, specification, results);
  }
  add_gaps(suites, acceptance, specification);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace busbar::judge
