// SPDX-License-Identifier: BSD-3-Clause
#include "format/markup_text.hpp"

#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

/// The first character of a text: its code point, 0 for what is none, and its bytes.
struct Character {
  unsigned point = 0;
  std::size_t bytes = 1;
};

Character first_character(std::string_view text) {
  constexpr std::array<unsigned, 5> kLeast{0, 0, 0x80U, 0x800U, 0x10000U};
  const unsigned first = static_cast<unsigned char>(text.front());
  if (first < 0x80U) return {.point = first};
  const std::size_t bytes = first < 0xC0U ? 1 : first < 0xE0U ? 2 : first < 0xF0U ? 3 : 4;
  if (bytes == 1 || bytes > text.size()) return {};
  unsigned point = first & (0x7FU >> bytes);
  for (const char c : text.substr(1, bytes - 1)) {
    const unsigned next = static_cast<unsigned char>(c);
    if ((next & 0xC0U) != 0x80U) return {};
    point = point << 6U | (next & 0x3FU);
  }
  if (point < kLeast.at(bytes)) return {};  // a long form
  return {.point = point, .bytes = bytes};
}

/// Whether XML has this character, and a browser shows it.
bool is_character(unsigned point) {
  if (point < 0x20U) return point == '\t' || point == '\n';
  if (point >= 0x7FU && point < 0xA0U) return false;
  if (point >= 0xD800U && point < 0xE000U) return false;
  return point < 0xFFFEU || (point >= 0x10000U && point < 0x110000U);
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const Character next = first_character(text);
    clean += is_character(next.point) ? text.substr(0, next.bytes) : "\xEF\xBF\xBD";  // U+FFFD
    text.remove_prefix(next.bytes);
  }
  return clean;
}

std::string markup_text(std::string_view text) {
  std::string result;
  for (const char c : clean_text(text)) {
    switch (c) {
      case '&': result += "&amp;"; break;
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '"': result += "&quot;"; break;
      case '\'': result += "&#39;"; break;
      default: result += c;
    }
  }
  return result;
}

std::string markdown_text(std::string_view text) {
  std::string result;
  for (const char c : clean_text(one_line(text))) {
    if (c == '&' || c == '<') {
      result += c == '&' ? "&amp;" : "&lt;";
      continue;
    }
    if (std::string_view("\\`*_{}[]|#!~>").find(c) != std::string_view::npos) result += '\\';
    result += c;
  }
  return result;
}

std::string url_path(std::string_view path) {
  constexpr std::string_view kPlain = "-._~/";
  std::string url;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain =
        (byte < 0x80U && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos;
    url += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return url;
}

std::string svg_element(const std::string& width, const std::string& height, std::string_view title,
                        std::string_view body) {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, sans-serif\">\n"
      "<title>{2}</title>\n{3}</svg>",
      width, height, markup_text(title), body);
}

std::string markup_id(std::string_view text) {
  std::string id;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80U && std::isalnum(byte) != 0) {
      id += static_cast<char>(std::tolower(byte));
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id.empty() ? "part" : id;
}

}  // namespace busbar
