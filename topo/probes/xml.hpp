// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <pugixml.hpp>

namespace busbar::topo {

/// The outermost element of an XML text.
struct XmlRoot {
  std::string name{};
  std::string version{};   ///< its attribute; empty where it has none
  std::size_t offset = 0;  ///< of its name in the text
};

/// Checks that a text is one whole, well-formed XML document without entities of its own. Throws
/// Error (Usage) with FILE:LINE:COLUMN where it is not; `remedy` says how to write the file again.
[[nodiscard]] XmlRoot check_xml(const std::string& text, const std::string& origin,
                                std::string_view remedy);

/// "FILE:LINE:COLUMN" of an offset into the text, counted in bytes from 1.
[[nodiscard]] std::string place_in(std::string_view text, const std::string& origin,
                                   std::size_t offset);

/// Reads attributes of elements of an XML text and says where one is wrong. What it throws is
/// Error (Usage) with FILE:LINE:COLUMN.
class XmlReader {
 public:
  /// Keeps references: the text, its name, and how to write the file again.
  XmlReader(const std::string& text, const std::string& origin, std::string_view remedy)
      : text_(text), origin_(origin), remedy_(remedy) {}

  /// The whole text, once check_xml is content with it.
  [[nodiscard]] pugi::xml_document document() const;

  [[noreturn]] void fail(pugi::xml_node node, const std::string& what) const;
  [[noreturn]] void fail(pugi::xml_node node, const char* attribute, const std::string& what) const;
  [[nodiscard]] std::string place(pugi::xml_node node) const;

  /// No attribute twice, and no text between the elements inside.
  void check(pugi::xml_node node) const;

  /// A decimal number within [low, high], or `otherwise` where there is no such attribute.
  [[nodiscard]] long whole(pugi::xml_node node, const char* attribute, long low, long high,
                           long otherwise) const;
  /// A hexadecimal number of up to 24 bits, with or without 0x; 0 where it is absent or empty.
  [[nodiscard]] unsigned hex(pugi::xml_node node, const char* attribute) const;
  /// An attribute that must be there and not empty.
  [[nodiscard]] std::string needed(pugi::xml_node node, const char* attribute) const;
  /// A PCI address that must be there, as normal_bus_id writes it.
  [[nodiscard]] std::string bus_id(pugi::xml_node node, const char* attribute) const;

 private:
  const std::string& text_;
  const std::string& origin_;
  std::string_view remedy_;
};

}  // namespace busbar::topo
