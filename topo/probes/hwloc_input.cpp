// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/hwloc_input.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "topo/probes/bit_words.hpp"
#include "topo/probes/hwloc_facts.hpp"
#include "topo/probes/xml_reader.hpp"

namespace busbar::topo {
namespace {

/// Where an object of hwloc may be.
enum class Family { Normal, Memory, Io, Unwanted };
constexpr std::array<std::pair<std::string_view, Family>, 24> kTypes{
    {{"Machine", Family::Normal},  {"Package", Family::Normal},  {"Socket", Family::Normal},
     {"Die", Family::Normal},      {"Group", Family::Normal},    {"Core", Family::Normal},
     {"PU", Family::Normal},       {"Cache", Family::Normal},    {"L1Cache", Family::Normal},
     {"L2Cache", Family::Normal},  {"L3Cache", Family::Normal},  {"L4Cache", Family::Normal},
     {"L5Cache", Family::Normal},  {"L1iCache", Family::Normal}, {"L2iCache", Family::Normal},
     {"L3iCache", Family::Normal}, {"NUMANode", Family::Memory}, {"Node", Family::Memory},
     {"MemCache", Family::Memory}, {"Bridge", Family::Io},       {"PCIDev", Family::Io},
     {"OSDev", Family::Io},        {"Misc", Family::Unwanted},   {"System", Family::Unwanted}}};
constexpr std::array<const char*, 4> kSets{"cpuset", "complete_cpuset", "nodeset",
                                           "complete_nodeset"};
constexpr std::array<std::string_view, 23> kAttributes{"type",           "os_index",
                                                       "cpuset",         "complete_cpuset",
                                                       "nodeset",        "complete_nodeset",
                                                       "gp_index",       "name",
                                                       "subtype",        "local_memory",
                                                       "depth",          "cache_size",
                                                       "cache_linesize", "cache_associativity",
                                                       "cache_type",     "kind",
                                                       "subkind",        "bridge_type",
                                                       "bridge_pci",     "pci_busid",
                                                       "pci_type",       "pci_link_speed",
                                                       "osdev_type"};
/// Of the machine only: what the job that wrote the file was allowed to use.
constexpr std::array<const char*, 2> kAllowed{"allowed_cpuset", "allowed_nodeset"};
constexpr std::array<const char*, 8> kNumbers{"os_index",   "gp_index",   "local_memory",
                                              "depth",      "cache_size", "cache_linesize",
                                              "cache_type", "osdev_type"};
constexpr long kMostDistances = 1024;

using Sets = std::array<BitWords, kSets.size()>;

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
  void check_device(pugi::xml_node node) const;
  void check_distances(pugi::xml_node node) const;
  [[nodiscard]] Family family(pugi::xml_node node) const;
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

Family Checker::family(pugi::xml_node node) const {
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [&](const auto& type) { return type.first == type_of(node); });
  if (found == kTypes.end()) {
    xml_.fail(node, fmt::format("an object of type '{}', which hwloc does not have",
                                type_of(node).substr(0, 40)));
  }
  return old_format_ && is_numa(node) ? Family::Normal : found->second;
}

void Checker::check(pugi::xml_node topology) {
  xml_.check(topology);
  const pugi::xml_node machine = topology.child("object");
  if (!machine || type_of(machine) != "Machine" || machine.next_sibling("object")) {
    xml_.fail(machine ? machine : topology, "one outermost object of type Machine is wanted");
  }
  nodeless_ = old_format_ && !topology.find_node(is_numa);
  Sets everything;
  everything.fill(BitWords::all());
  check_object(machine, {}, everything);
  check_allowed(machine, kAllowed[0], usable_processors_);
  if (!nodeless_) check_allowed(machine, kAllowed[1], usable_nodes_);
  for (pugi::xml_node child = machine; child;) {
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
  const Family inner = family(node);
  const Family outer = family(parent);
  bool fits = type_of(node) != "Machine";
  if (outer == Family::Normal) fits = fits && (inner == Family::Io || type_of(parent) != "PU");
  if (outer == Family::Memory) {
    fits = type_of(parent) == "MemCache" && inner == Family::Memory;
  }
  if (outer == Family::Io) {
    fits = inner == Family::Io && type_of(parent) != "OSDev" &&
           (type_of(parent) == "Bridge") == (type_of(node) != "OSDev");
  }
  if (!fits) {
    xml_.fail(node, fmt::format("a {} cannot be inside a {}", type_of(node), type_of(parent)));
  }
}

void Checker::check_numbers(pugi::xml_node node) {
  for (const char* attribute : kNumbers) {
    static_cast<void>(xml_.whole(node, attribute, 0, std::numeric_limits<long>::max(), 0));
  }
  for (const char* attribute : {"os_index", "depth"}) {
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
  for (std::size_t i = 0; i < kSets.size(); ++i) {
    const char* const attribute = kSets.at(i);
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
    const bool allowed = type_of(node) == "Machine" && (name == kAllowed[0] || name == kAllowed[1]);
    const bool wanted =
        allowed || std::find(kAttributes.begin(), kAttributes.end(), name) != kAttributes.end();
    if (!wanted) node.remove_attribute(attribute);
    attribute = next;
  }
  for (pugi::xml_node child = node.first_child(); child;) {
    const pugi::xml_node next = child.next_sibling();
    const std::string_view name = child.name();
    const bool wanted = name == "info" || (name == "object" && family(child) != Family::Unwanted);
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

void Checker::check_object(pugi::xml_node node, pugi::xml_node parent, const Sets& around) {
  xml_.check(node);
  check_place(node, parent);
  check_numbers(node);
  drop_unwanted(node);
  Sets sets = around;
  if (family(node) != Family::Io) {
    sets = check_sets(node, around);
    if (type_of(node) == "PU") {
      check_index(node, sets[1], processors_);
      usable_processors_.add(sets[0]);
    } else if (is_numa(node)) {
      check_index(node, sets[3], nodes_);
      usable_nodes_.add(sets[2]);
    }
  } else {
    for (const char* attribute : kSets) node.remove_attribute(attribute);
    check_device(node);
  }
  BitWords taken;
  for (const pugi::xml_node info : node.children("info")) {
    xml_.check(info);
    static_cast<void>(xml_.needed(info, "name"));
    if (!info.attribute("value")) xml_.fail(info, "an <info> without value");
  }
  for (const pugi::xml_node child : node.children("object")) {
    check_object(child, node, sets);
    if (family(child) != Family::Normal) continue;
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
