// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/xml.hpp"

#include <algorithm>
#include <charconv>
#include <set>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

constexpr int kDeepest = 128;

/// What pugixml finds wrong, in words.
std::string_view fault(pugi::xml_parse_status status) {
  switch (status) {
    case pugi::status_no_document_element: return "no XML element";
    case pugi::status_bad_pi: return "an XML declaration that does not end";
    case pugi::status_bad_comment: return "a comment that does not end";
    case pugi::status_bad_cdata: return "a CDATA section that does not end";
    case pugi::status_bad_doctype: return "a damaged DOCTYPE";
    case pugi::status_bad_pcdata: return "damaged text";
    case pugi::status_bad_attribute: return "a damaged attribute";
    case pugi::status_end_element_mismatch:
      return "an element that is not closed, or a closing tag that fits none";
    case pugi::status_unrecognized_tag: return "no XML tag";
    default: return "a damaged tag";
  }
}

/// pugixml is content with less than a whole document: with text around elements, several roots,
/// or a zero byte as the end.
void check_before(const std::string& text, const std::string& origin, std::string_view remedy) {
  const std::size_t zero = text.find('\0');
  if (zero != std::string::npos) {
    throw usage_error(fmt::format("{}: a zero byte, which XML cannot have; {}",
                                  place_in(text, origin, zero), remedy));
  }
  const std::size_t entity = text.find("<!ENTITY");
  if (entity != std::string::npos) {
    throw usage_error(fmt::format("{}: entities of its own are not read; {}",
                                  place_in(text, origin, entity), remedy));
  }
  if (trim(text).empty()) {
    throw usage_error(fmt::format("{}: nothing but blanks; {}", place_in(text, origin, 0), remedy));
  }
}

/// Both this program and hwloc walk through a document by recursion.
void check_depth(pugi::xml_node root, const std::string& text, const std::string& origin,
                 std::string_view remedy) {
  int depth = 1;
  for (pugi::xml_node node = root; node;) {
    if (depth > kDeepest) {
      throw usage_error(fmt::format(
          "{}: more elements in one another than any machine has; {}",
          place_in(text, origin, static_cast<std::size_t>(node.offset_debug())), remedy));
    }
    if (!node.first_child().empty()) {
      node = node.first_child();
      ++depth;
      continue;
    }
    while (node != root && node.next_sibling().empty()) {
      node = node.parent();
      --depth;
    }
    if (node == root) return;
    node = node.next_sibling();
  }
}

pugi::xml_node only_root(const pugi::xml_document& document, const std::string& text,
                         const std::string& origin, std::string_view remedy) {
  pugi::xml_node root;
  for (const pugi::xml_node child : document.children()) {
    const bool stray = child.type() != pugi::node_element;
    if (!stray && root.empty()) {
      root = child;
      continue;
    }
    throw usage_error(fmt::format(
        "{}: {}; {}", place_in(text, origin, static_cast<std::size_t>(child.offset_debug())),
        stray ? "text outside the document" : "a second outermost element", remedy));
  }
  return root;
}

}  // namespace

std::string place_in(std::string_view text, const std::string& origin, std::size_t offset) {
  const std::string_view before = text.substr(0, std::min(offset, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("{}:{}:{}", origin, line, column);
}

XmlRoot check_xml(const std::string& text, const std::string& origin, std::string_view remedy) {
  check_before(text, origin, remedy);
  pugi::xml_document document;
  const pugi::xml_parse_result result = document.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!result) {
    const auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
    throw usage_error(fmt::format("{}: {}: the file is damaged or cut short; {}",
                                  place_in(text, origin, offset), fault(result.status), remedy));
  }
  const pugi::xml_node root = only_root(document, text, origin, remedy);
  if (!root) {
    throw usage_error(
        fmt::format("{}: no XML element; {}", place_in(text, origin, text.size()), remedy));
  }
  check_depth(root, text, origin, remedy);
  return {.name = root.name(),
          .version = root.attribute("version").value(),
          .offset = static_cast<std::size_t>(root.offset_debug())};
}

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
