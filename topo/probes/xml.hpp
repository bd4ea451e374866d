// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "base/error.hpp"

namespace busbar::topo {

/// One whole, well-formed XML document without entities of its own. What it throws is Error (Usage)
/// "FILE:LINE:COLUMN: what; how to write the file again", lines and columns from 1.
class XmlFile {
 public:
  /// Keeps references: the text, its name, and how to write the file again. Throws where the text
  /// is not such a document, or its elements are deeper in one another than any machine's.
  XmlFile(const std::string& text, const std::string& origin, std::string_view remedy);

  [[nodiscard]] pugi::xml_node root() const { return document_.document_element(); }
  /// "FILE:LINE:COLUMN" of a node.
  [[nodiscard]] std::string place(pugi::xml_node node) const;

  template <class... Args>
  [[noreturn]] void fail(pugi::xml_node node, fmt::format_string<Args...> what,
                         Args&&... args) const {
    fail_with(node, remedy_, what, std::forward<Args>(args)...);
  }
  /// With a remedy of its own.
  template <class... Args>
  [[noreturn]] void fail_with(pugi::xml_node node, std::string_view remedy,
                              fmt::format_string<Args...> what, Args&&... args) const {
    throw fault(offset_of(node), fmt::format(what, std::forward<Args>(args)...), remedy);
  }
  /// At an attribute.
  template <class... Args>
  [[noreturn]] void fail_at(pugi::xml_node node, const char* attribute,
                            fmt::format_string<Args...> what, Args&&... args) const {
    throw fault(offset_of(node, attribute), fmt::format(what, std::forward<Args>(args)...),
                remedy_);
  }

  /// No attribute twice, and no text between the elements inside.
  void check(pugi::xml_node node) const;

  /// A decimal number within [low, high], or `otherwise` where there is no such attribute.
  [[nodiscard]] int whole(pugi::xml_node node, const char* attribute, int low, int high,
                          int otherwise) const;
  /// A hexadecimal number of up to 24 bits, with or without 0x; 0 where it is absent or empty.
  [[nodiscard]] unsigned hex(pugi::xml_node node, const char* attribute) const;
  /// An attribute that must be there and not empty.
  [[nodiscard]] std::string needed(pugi::xml_node node, const char* attribute) const;
  /// A PCI address that must be there, as normal_bus_id writes it.
  [[nodiscard]] std::string bus_id(pugi::xml_node node, const char* attribute) const;

 private:
  [[nodiscard]] static std::size_t offset_of(pugi::xml_node node) {
    return static_cast<std::size_t>(node.offset_debug());
  }
  [[nodiscard]] std::size_t offset_of(pugi::xml_node node, std::string_view attribute) const;
  [[nodiscard]] Error fault(std::size_t offset, std::string_view what,
                            std::string_view remedy) const;
  void check_depth(pugi::xml_node node, int most) const;
  /// Throws: "ATTRIBUTE='VALUE': such a value is wanted".
  [[noreturn]] void want(pugi::xml_node node, const char* attribute, std::string_view wanted) const;

  const std::string& text_;
  const std::string& origin_;
  std::string_view remedy_;
  pugi::xml_document document_{};
};

}  // namespace busbar::topo
