// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/xml_reader.hpp"

#include <charconv>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/graph/graph.hpp"
#include "topo/probes/xml_check.hpp"

namespace busbar::topo {
namespace {

std::size_t offset_of(pugi::xml_node node) { return static_cast<std::size_t>(node.offset_debug()); }

/// Whether an attribute's name begins at an offset of the text.
bool attribute_at(std::string_view text, std::size_t at, std::string_view attribute) {
  constexpr std::string_view kBlanks = " \t\r\n";
  if (at == 0 || kBlanks.find(text[at - 1]) == std::string_view::npos) return false;
  return trim(text.substr(at + attribute.size())).starts_with('=');
}

}  // namespace

pugi::xml_document XmlReader::document() const {
  pugi::xml_document document;
  static_cast<void>(
      document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8));
  return document;
}

std::string XmlReader::place(pugi::xml_node node) const {
  return place_in(text_, origin_, offset_of(node));
}

void XmlReader::fail(pugi::xml_node node, const std::string& what) const {
  throw usage_error(fmt::format("{}: {}; {}", place(node), one_line(what), remedy_));
}

/// pugixml does not keep the place of an attribute: it is looked for behind its element's name.
void XmlReader::fail(pugi::xml_node node, const char* attribute, const std::string& what) const {
  for (std::size_t at = text_.find(attribute, offset_of(node)); at != std::string::npos;
       at = text_.find(attribute, at + 1)) {
    if (!attribute_at(text_, at, attribute)) continue;
    throw usage_error(
        fmt::format("{}: {}; {}", place_in(text_, origin_, at), one_line(what), remedy_));
  }
  fail(node, what);
}

void XmlReader::check(pugi::xml_node node) const {
  std::set<std::string_view> seen;
  for (const pugi::xml_attribute attribute : node.attributes()) {
    if (seen.insert(attribute.name()).second) continue;
    fail(node, fmt::format("<{}> has the attribute '{}' twice", node.name(),
                           std::string_view(attribute.name()).substr(0, 40)));
  }
  for (const pugi::xml_node child : node.children()) {
    if (child.type() != pugi::node_element) fail(child, "text between the elements");
  }
}

long XmlReader::whole(pugi::xml_node node, const char* attribute, long low, long high,
                      long otherwise) const {
  const pugi::xml_attribute found = node.attribute(attribute);
  if (!found) return otherwise;
  const std::string_view text = found.value();
  long value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    fail(node, attribute,
         fmt::format("{}='{}': a whole number from {} to {} is wanted", attribute,
                     text.substr(0, 40), low, high));
  }
  return value;
}

unsigned XmlReader::hex(pugi::xml_node node, const char* attribute) const {
  std::string_view text = node.attribute(attribute).value();
  if (text.empty()) return 0;
  const std::string_view whole_text = text;
  if (text.starts_with("0x")) text.remove_prefix(2);
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size() || value > 0xffffff) {
    fail(node, attribute,
         fmt::format("{}='{}': a hexadecimal number is wanted", attribute,
                     whole_text.substr(0, 40)));
  }
  return value;
}

std::string XmlReader::needed(pugi::xml_node node, const char* attribute) const {
  std::string text = node.attribute(attribute).value();
  if (text.empty()) fail(node, fmt::format("<{}> has no {}", node.name(), attribute));
  return text;
}

std::string XmlReader::bus_id(pugi::xml_node node, const char* attribute) const {
  const std::string text = needed(node, attribute);
  std::string id = normal_bus_id(text);
  if (id.empty()) {
    fail(node, attribute,
         fmt::format("{}='{}': a PCI address such as 0000:06:00.0 is wanted", attribute,
                     text.substr(0, 40)));
  }
  return id;
}

}  // namespace busbar::topo
