// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc_input.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "topo/probes/bit_words.hpp"
#include "topo/probes/hwloc_facts.hpp"
#include "topo/probes/hwloc_schema.hpp"
#include "topo/probes/xml_reader.hpp"

namespace busbar::topo {
namespace {

constexpr long kMostDistances = 1024;

using Sets = std::array<BitWords, kHwlocSets.size()>;

class Checker {
 public:
  Checker(const XmlReader& xml, bool old_format) : xml_(xml), old_format_(old_format) {}

  void check(pugi::xml_node topology);

 private:
  void check_object(pugi::xml_node node, pugi::xml_node parent, const Sets& around);
  void check_allowed(pugi::xml_node machine, const char* attribute, const BitWords& usable) const;
  void check_place(pugi::xml_node node, pugi::xml_node parent) const;
  void check_numbers(pugi::xml_node node);
  [[nodiscard]] Sets check_sets(pugi::xml_node node, const Sets& around) const;
  void check_index(pugi::xml_node node, const BitWords& set, std::set<long>& seen) const;
  void check_infos(pugi::xml_node node) const;
  void check_device(pugi::xml_node node) const;
  void check_distances(pugi::xml_node node) const;
  [[nodiscard]] HwlocFamily family(pugi::xml_node node) const;
  void drop_unwanted(pugi::xml_node node) const;

  const XmlReader& xml_;
  bool old_format_;        ///< of hwloc 1
  bool nodeless_ = false;  ///< hwloc 1 did not show the node of a machine that has but one
  std::set<long> processors_{};
  std::set<long> nodes_{};
  std::set<long> numbers_{};  ///< gp_index
  BitWords usable_processors_{};
  BitWords usable_nodes_{};
};

std::string_view type_of(pugi::xml_node node) { return node.attribute("type").value(); }

bool is_numa(pugi::xml_node node) { return type_of(node) == "NUMANode" || type_of(node) == "Node"; }

HwlocFamily Checker::family(pugi::xml_node node) const {
  const auto* const found =
      std::find_if(kHwlocTypes.begin(), kHwlocTypes.end(),
                   [&](const auto& type) { return type.first == type_of(node); });
  if (found == kHwlocTypes.end()) {
    xml_.fail(node, fmt::format("an object of type '{}', which hwloc does not have",
                                type_of(node).substr(0, 40)));
  }
  return old_format_ && is_numa(node) ? HwlocFamily::Normal : found->second;
}

void Checker::check(pugi::xml_node topology) {
  xml_.check(topology);
  const pugi::xml_node machine = topology.child("object");
  if (!machine || type_of(machine) != "Machine" || !machine.next_sibling("object").empty()) {
    xml_.fail(machine ? machine : topology, "one outermost object of type Machine is wanted");
  }
  nodeless_ = old_format_ && topology.find_node(is_numa).empty();
  Sets everything;
  everything.fill(BitWords::all());
  check_object(machine, {}, everything);
  check_allowed(machine, kHwlocAllowed[0], usable_processors_);
  if (!nodeless_) check_allowed(machine, kHwlocAllowed[1], usable_nodes_);
  for (pugi::xml_node child = topology.first_child(); child;) {
    const pugi::xml_node next = child.next_sibling();
    const std::string_view name = child.name();
    const bool distances = name.starts_with("distances2") &&
                           std::string_view(child.attribute("name").value()) == "NVLinkBandwidth";
    if (distances) check_distances(child);
    if (!distances && name != "object") topology.remove_child(child);
    child = next;
  }
}

/// hwloc drops what is not allowed, and cannot bear a machine of which nothing is left.
void Checker::check_allowed(pugi::xml_node machine, const char* attribute,
                            const BitWords& usable) const {
  const std::string_view text = machine.attribute(attribute).value();
  const std::optional<BitWords> allowed = text.empty() ? BitWords::all() : BitWords::parse(text);
  if (allowed && usable.meets(*allowed)) {
    if (!text.empty()) machine.attribute(attribute).set_value(allowed->text().c_str());
    return;
  }
  xml_.fail(
      machine, attribute,
      fmt::format("{}: no processor (PU) or no NUMANode of this machine is in it", attribute));
}

void Checker::check_place(pugi::xml_node node, pugi::xml_node parent) const {
  if (!parent) return;
  const HwlocFamily inner = family(node);
  const HwlocFamily outer = family(parent);
  bool fits = type_of(node) != "Machine";
  if (outer == HwlocFamily::Normal) {
    fits = fits && (inner == HwlocFamily::Io || type_of(parent) != "PU");
  }
  if (outer == HwlocFamily::Memory) {
    fits = type_of(parent) == "MemCache" && inner == HwlocFamily::Memory;
  }
  if (outer == HwlocFamily::Io) {
    fits = inner == HwlocFamily::Io && type_of(parent) != "OSDev" &&
           (type_of(parent) == "Bridge") == (type_of(node) != "OSDev");
  }
  if (!fits) {
    xml_.fail(node, fmt::format("a {} cannot be inside a {}", type_of(node), type_of(parent)));
  }
}

void Checker::check_numbers(pugi::xml_node node) {
  for (const char* attribute : kHwlocNumbers) {
    static_cast<void>(xml_.whole(node, attribute, 0, std::numeric_limits<long>::max(), 0));
  }
  for (const char* attribute : kHwlocSmallNumbers) {
    static_cast<void>(xml_.whole(node, attribute, 0, std::numeric_limits<int>::max(), 0));
  }
  const long number = xml_.whole(node, "gp_index", 1, std::numeric_limits<long>::max(), 0);
  if (number != 0 && !numbers_.insert(number).second) {
    xml_.fail(node, "gp_index", fmt::format("gp_index='{}' is there twice", number));
  }
  if (!old_format_ && number == 0) xml_.fail(node, "an object without gp_index");
}

Sets Checker::check_sets(pugi::xml_node node, const Sets& around) const {
  Sets sets = around;
  for (std::size_t i = 0; i < kHwlocSets.size(); ++i) {
    const char* const attribute = kHwlocSets.at(i);
    if (nodeless_ && i >= 2) {
      node.remove_attribute(attribute);
      continue;
    }
    const std::string_view text = node.attribute(attribute).value();
    const std::optional<BitWords> set = BitWords::parse(text);
    if (!set) {
      xml_.fail(node, attribute,
                fmt::format("{}='{}': hexadecimal words with commas between are wanted", attribute,
                            text.substr(0, 40)));
    }
    sets.at(i) = *set;
    // hwloc fails an assertion on some masks that are odd, but clear.
    node.attribute(attribute).set_value(set->text().c_str());
    if (sets.at(i).within(around.at(i))) continue;
    xml_.fail(node, attribute,
              fmt::format("{} is not within that of the object around", attribute));
  }
  if (!sets[0].within(sets[1]) || !sets[2].within(sets[3])) {
    xml_.fail(node, "the complete set lacks what is in the set");
  }
  return sets;
}

void Checker::check_index(pugi::xml_node node, const BitWords& set, std::set<long>& seen) const {
  const long index = xml_.whole(node, "os_index", 0, BitWords::kMost - 1, -1);
  if (index < 0) xml_.fail(node, fmt::format("a {} without os_index", type_of(node)));
  if (set != BitWords::one(index)) {
    xml_.fail(node, fmt::format("the set of {} {} is not itself", type_of(node), index));
  }
  if (!seen.insert(index).second) {
    xml_.fail(node, fmt::format("{} {} is there twice", type_of(node), index));
  }
}

void Checker::drop_unwanted(pugi::xml_node node) const {
  for (pugi::xml_attribute attribute = node.first_attribute(); attribute;) {
    const pugi::xml_attribute next = attribute.next_attribute();
    const std::string_view name = attribute.name();
    const bool allowed =
        type_of(node) == "Machine" && (name == kHwlocAllowed[0] || name == kHwlocAllowed[1]);
    const bool wanted = allowed || std::find(kHwlocAttributes.begin(), kHwlocAttributes.end(),
                                             name) != kHwlocAttributes.end();
    if (!wanted) node.remove_attribute(attribute);
    attribute = next;
  }
  for (pugi::xml_node child = node.first_child(); child;) {
    const pugi::xml_node next = child.next_sibling();
    const std::string_view name = child.name();
    const bool wanted =
        name == "info" || (name == "object" && family(child) != HwlocFamily::Unwanted);
    if (!wanted) node.remove_child(child);
    child = next;
  }
}

/// hwloc fails assertions on bridges of other types than these.
void Checker::check_device(pugi::xml_node node) const {
  if (type_of(node) == "OSDev") {
    static_cast<void>(xml_.needed(node, "name"));
    static_cast<void>(xml_.whole(node, "osdev_type", 0, 6, 0));
    return;
  }
  const bool bridge = type_of(node) == "Bridge";
  const std::string kind = bridge ? xml_.needed(node, "bridge_type") : "";
  if (bridge && kind != "0-1" && kind != "1-1") {
    xml_.fail(node, "bridge_type",
              fmt::format("bridge_type='{}': 0-1 or 1-1 is wanted", kind.substr(0, 40)));
  }
  if (bridge) static_cast<void>(xml_.needed(node, "bridge_pci"));
  if (kind == "0-1") return;
  static_cast<void>(xml_.bus_id(node, "pci_busid"));
  static_cast<void>(xml_.needed(node, "pci_type"));
}

void Checker::check_infos(pugi::xml_node node) const {
  for (const pugi::xml_node info : node.children("info")) {
    xml_.check(info);
    static_cast<void>(xml_.needed(info, "name"));
    if (!info.attribute("value")) xml_.fail(info, "an <info> without value");
  }
}

void Checker::check_object(pugi::xml_node node, pugi::xml_node parent, const Sets& around) {
  xml_.check(node);
  check_place(node, parent);
  check_numbers(node);
  drop_unwanted(node);
  check_infos(node);
  Sets sets = around;
  if (family(node) != HwlocFamily::Io) {
    sets = check_sets(node, around);
    if (type_of(node) == "PU") {
      check_index(node, sets[1], processors_);
      usable_processors_.add(sets[0]);
    } else if (is_numa(node)) {
      check_index(node, sets[3], nodes_);
      usable_nodes_.add(sets[2]);
    }
  } else {
    for (const char* attribute : kHwlocSets) node.remove_attribute(attribute);
    check_device(node);
  }
  BitWords taken;
  for (const pugi::xml_node child : node.children("object")) {
    check_object(child, node, sets);
    if (family(child) != HwlocFamily::Normal) continue;
    const std::optional<BitWords> own = BitWords::parse(child.attribute("complete_cpuset").value());
    if (own && taken.meets(*own)) xml_.fail(child, "its processors are in another object too");
    if (own) taken.add(*own);
  }
}

void Checker::check_distances(pugi::xml_node node) const {
  static_cast<void>(xml_.needed(node, "nbobjs"));
  static_cast<void>(xml_.whole(node, "nbobjs", 2, kMostDistances, 0));
  static_cast<void>(xml_.whole(node, "kind", 0, 1 << 16, 0));
}

}  // namespace

std::string hwloc_input(const std::string& text, const std::string& origin) {
  const bool old_format = check_hwloc_xml(text, origin) < 2;
  const XmlReader xml(text, origin, kHwlocRemedy);
  const pugi::xml_document document = xml.document();
  Checker(xml, old_format).check(document.document_element());
  std::ostringstream written;
  written << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          << "<!DOCTYPE topology SYSTEM \"" << (old_format ? "hwloc" : "hwloc2") << ".dtd\">\n";
  document.document_element().print(written, "", pugi::format_raw, pugi::encoding_utf8);
  return written.str();
}

}  // namespace busbar::topo
