// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/xml.hpp"

#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

/// "FILE:LINE:COLUMN" of an offset into the text, counted in bytes.
std::string place_in(std::string_view text, const std::string& origin, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::ranges::count(before, '\n');
  // npos + 1 is 0: the first line has no line end before it.
  return fmt::format("{}:{}:{}", origin, line, before.size() - (before.rfind('\n') + 1) + 1);
}

bool attribute_at(std::string_view text, std::size_t at, std::string_view attribute) {
  constexpr std::string_view kBefore = " \t\r\n";
  if (at == 0 || kBefore.find(text[at - 1]) == std::string_view::npos) return false;
  return trim(text.substr(at + attribute.size())).starts_with('=');
}

}  // namespace

XmlFile::XmlFile(const std::string& text, const std::string& origin, std::string_view remedy)
    : text_(text), origin_(origin), remedy_(remedy) {
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) throw fault(zero, "a zero byte, which XML cannot have", remedy);
  const std::size_t entity = text.find("<!ENTITY");
  if (entity != std::string::npos) throw fault(entity, "entities of its own are not read", remedy);
  // pugixml accepts less than a whole document: text around elements, and several roots.
  const pugi::xml_parse_result result = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!result) {
    throw fault(static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0)),
                fmt::format("{}: the file is damaged or cut short", result.description()), remedy);
  }
  for (const pugi::xml_node child : document_.children()) {
    if (child.type() != pugi::node_element) fail(child, "text outside the document");
    if (child != root()) fail(child, "a second outermost element");
  }
  if (!root()) throw fault(text.size(), "no XML element", remedy);
  // Both this program and hwloc walk through a document by recursion.
  constexpr int kDeepest = 128;
  check_depth(root(), kDeepest);
}

void XmlFile::check_depth(pugi::xml_node node, int most) const {
  if (most == 0) fail(node, "more elements in one another than any machine has");
  for (const pugi::xml_node child : node.children()) check_depth(child, most - 1);
}

Error XmlFile::fault(std::size_t offset, std::string_view what, std::string_view remedy) const {
  return usage_error("{}: {}; {}", place_in(text_, origin_, offset), one_line(what), remedy);
}

std::string XmlFile::place(pugi::xml_node node) const {
  return place_in(text_, origin_, offset_of(node));
}

/// pugixml does not keep the place of an attribute: it is looked for behind its element's name.
std::size_t XmlFile::offset_of(pugi::xml_node node, std::string_view attribute) const {
  std::size_t at = text_.find(attribute, offset_of(node));
  while (at != std::string::npos && !attribute_at(text_, at, attribute)) {
    at = text_.find(attribute, at + 1);
  }
  return at == std::string::npos ? offset_of(node) : at;
}

void XmlFile::want(pugi::xml_node node, const char* attribute, std::string_view wanted) const {
  const std::string_view value = node.attribute(attribute).value();
  fail_at(node, attribute, "{}='{}': expected {}", attribute, value.substr(0, 40), wanted);
}

void XmlFile::check(pugi::xml_node node) const {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node.attributes()) {
    if (seen.insert(attribute.name()).second) continue;
    fail(node, "<{}> has the attribute '{}' twice", node.name(),
         std::string_view(attribute.name()).substr(0, 40));
  }
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) fail(child, "text between the elements");
  }
}

int XmlFile::whole(pugi::xml_node node, const char* attribute, int low, int high,
                   int otherwise) const {
  if (!node.attribute(attribute)) return otherwise;
  const auto value = to_number<int>(node.attribute(attribute).value());
  if (value && *value >= low && *value <= high) return *value;
  want(node, attribute, fmt::format("a whole number from {} to {}", low, high));
}

unsigned XmlFile::hex(pugi::xml_node node, const char* attribute) const {
  std::string_view text = node.attribute(attribute).value();
  if (text.empty()) return 0;
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto value = to_number<unsigned>(text, 16);
  if (value && *value <= 0xffffff) return *value;
  want(node, attribute, "a hexadecimal number");
}

std::string XmlFile::needed(pugi::xml_node node, const char* attribute) const {
  std::string text = node.attribute(attribute).value();
  if (text.empty()) fail(node, "<{}> has no {}", node.name(), attribute);
  return text;
}

std::string XmlFile::bus_id(pugi::xml_node node, const char* attribute) const {
  std::string id = normal_bus_id(needed(node, attribute));
  if (id.empty()) want(node, attribute, "a PCI address such as 0000:06:00.0");
  return id;
}

}  // namespace busbar::topo
