// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <sstream>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/text.hpp"
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "report/markup_text.hpp"

namespace busbar::judge {
namespace {

using Cases = std::vector<const CheckResult*>;

/// pugixml escapes markup, but would write control characters as references that XML forbids.
void set(pugi::xml_node node, const char* attribute, std::string_view value) {
  node.append_attribute(attribute).set_value(clean_text(value).c_str());
}

void add_text(pugi::xml_node parent, const char* element, std::string_view text) {
  parent.append_child(element).text().set(clean_text(text).c_str());
}

void add_property(pugi::xml_node properties, std::string_view key, std::string_view value) {
  pugi::xml_node property = properties.append_child("property");
  set(property, "name", key);
  set(property, "value", value);
}

/// "value=12.3 unit=GB/s ratio=0.98 ...": without what has no value.
std::string numbers_of(const CheckResult& verdict) {
  std::vector<std::string> words{fmt::format("verdict={}", name(verdict.outcome))};
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) words.push_back(fmt::format("{}={}", key, value));
  };
  add("value", exact(verdict.value));
  add("unit", std::string(unit(verdict.metric)));
  add("reference", exact(verdict.reference));
  add("ratio", exact(verdict.ratio));
  add("fail_below", exact(verdict.bounds.fail_below));
  add("fail_above", exact(verdict.bounds.fail_above));
  add("cv", exact(verdict.cv));
  add("launches", fmt::format("{}", verdict.values.size()));
  add("attempts", fmt::format("{}", verdict.attempts));
  return join(words, " ");
}

std::string sentence(const CheckResult& verdict) {
  std::string text = std::string(name(verdict.outcome));
  if (finite(verdict.value)) {
    text += fmt::format(" {} {}", figure(verdict.value), unit(verdict.metric));
  }
  const std::string bound = bound_words(verdict);
  if (!bound.empty()) text += fmt::format(" (bound {})", bound);
  return verdict.reason.empty() ? text : text + ": " + one_line(verdict.reason);
}

void add_outcome(pugi::xml_node test, const char* element, Outcome outcome,
                 std::string_view message) {
  pugi::xml_node node = test.append_child(element);
  set(node, "type", name(outcome));
  set(node, "message", message);
}

void add_outcome(pugi::xml_node test, const CheckResult& verdict) {
  const std::string message = sentence(verdict);
  switch (verdict.outcome) {
    case Outcome::Pass: return;
    case Outcome::Warn: return add_text(test, "system-out", message);
    case Outcome::Fail: return add_outcome(test, "failure", verdict.outcome, message);
    case Outcome::Error:
    case Outcome::Inconclusive: return add_outcome(test, "error", verdict.outcome, message);
    case Outcome::Known:
    case Outcome::Skip: return add_outcome(test, "skipped", verdict.outcome, message);
  }
}

/// How often one of these words occurs.
std::string count(const Cases& cases, std::initializer_list<Outcome> words) {
  const auto is_one = [&](const CheckResult* verdict) {
    return std::find(words.begin(), words.end(), verdict->outcome) != words.end();
  };
  return fmt::format("{}", std::count_if(cases.begin(), cases.end(), is_one));
}

void add_suite(pugi::xml_node suites, const Acceptance& acceptance,
               const Specification& specification, const Cases& cases) {
  const std::string& id = cases.front()->device_set;
  pugi::xml_node suite = suites.append_child("testsuite");
  set(suite, "name", id);
  set(suite, "tests", fmt::format("{}", cases.size()));
  set(suite, "failures", count(cases, {Outcome::Fail}));
  set(suite, "errors", count(cases, {Outcome::Error, Outcome::Inconclusive}));
  set(suite, "skipped", count(cases, {Outcome::Skip, Outcome::Known}));
  std::string stamp = acceptance.head.judged_at;
  std::replace(stamp.begin(), stamp.end(), ' ', 'T');
  set(suite, "timestamp", stamp);
  pugi::xml_node properties = suite.append_child("properties");
  add_property(properties, "system", system_name(specification));
  add_property(properties, "specification", specification.file);
  add_property(properties, "profile", specification.profile);
  add_property(properties, "busbar", acceptance.head.version);
  for (const CheckResult* verdict : cases) {
    add_property(properties, case_name(*verdict), numbers_of(*verdict));
  }
  for (const CheckResult* verdict : cases) {
    pugi::xml_node test = suite.append_child("testcase");
    set(test, "classname", "accept." + id);
    set(test, "name", case_name(*verdict));
    add_outcome(test, *verdict);
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
        fmt::format("ERROR: {}; missing: {}", accounting.headline(), join(accounting.missing, " "));
  }
  if (what.empty()) return;
  pugi::xml_node suite = suites.append_child("testsuite");
  set(suite, "name", "accept");
  set(suite, "tests", "1");
  set(suite, "failures", "0");
  set(suite, "errors", "1");
  set(suite, "skipped", "0");
  pugi::xml_node test = suite.append_child("testcase");
  set(test, "classname", "accept");
  set(test, "name", "all nodes and rules are accounted for");
  add_outcome(test, "error", Outcome::Error, what);
}

std::vector<Cases> suites_of(const Acceptance& acceptance) {
  std::vector<Cases> suites;
  for (const CheckResult& verdict : acceptance.verdicts) {
    const auto found = std::find_if(suites.begin(), suites.end(), [&](const Cases& cases) {
      return cases.front()->device_set == verdict.device_set;
    });
    if (found == suites.end()) {
      suites.push_back({&verdict});
    } else {
      found->push_back(&verdict);
    }
  }
  return suites;
}

}  // namespace

std::string verdict_junit(const Acceptance& acceptance, const Specification& specification) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node suites = document.append_child("testsuites");
  set(suites, "name", fmt::format("busbar accept {}", system_name(specification)));
  for (const Cases& cases : suites_of(acceptance)) {
    add_suite(suites, acceptance, specification, cases);
  }
  add_gaps(suites, acceptance, specification);
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
}

}  // namespace busbar::judge
