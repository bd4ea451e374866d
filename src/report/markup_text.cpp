// SPDX-License-Identifier: BSD-3-Clause
#include "report/markup_text.hpp"

#include <array>
#include <cctype>

#include "base/text.hpp"

namespace busbar {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Bytes of a sequence that begins so; 0 for what cannot begin one.
std::size_t sequence_length(unsigned first) {
  if (first < 0x80U) return 1;
  if (first >= 0xC2U && first < 0xE0U) return 2;
  if (first >= 0xE0U && first < 0xF0U) return 3;
  return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

/// The code point of a whole, shortest sequence; 0 for any other.
unsigned code_point(std::string_view text, std::size_t at, std::size_t length) {
  constexpr std::array<unsigned, 5> kMasks{0, 0x7FU, 0x1FU, 0x0FU, 0x07U};
  constexpr std::array<unsigned, 5> kLeast{0, 1, 0x80U, 0x800U, 0x10000U};
  if (length == 0 || at + length > text.size()) return 0;
  unsigned value = byte_at(text, at) & kMasks.at(length);
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned next = byte_at(text, at + i);
    if ((next & 0xC0U) != 0x80U) return 0;
    value = (value << 6U) | (next & 0x3FU);
  }
  return value < kLeast.at(length) ? 0 : value;
}

/// Whether XML has this character, and a browser shows it.
bool is_character(unsigned point) {
  if (point < 0x20U) return point == '\t' || point == '\n';
  if (point >= 0x7FU && point < 0xA0U) return false;
  if (point >= 0xD800U && point < 0xE000U) return false;
  return point < 0xFFFEU || (point >= 0x10000U && point < 0x110000U);
}

/// Calls `add` with each character's bytes; with U+FFFD for what is none.
template <class Add>
void each_character(std::string_view text, Add add) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = sequence_length(byte_at(text, at));
    const unsigned point = code_point(text, at, length);
    if (point == 0 || !is_character(point)) {
      add(kReplacement);
      at += point == 0 ? 1 : length;
    } else {
      add(text.substr(at, length));
      at += length;
    }
  }
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string clean;
  each_character(text, [&](std::string_view character) { clean += character; });
  return clean;
}

std::string markup_text(std::string_view text) {
  std::string result;
  each_character(text, [&](std::string_view character) {
    if (character == "&") {
      result += "&amp;";
    } else if (character == "<") {
      result += "&lt;";
    } else if (character == ">") {
      result += "&gt;";
    } else if (character == "\"") {
      result += "&quot;";
    } else if (character == "'") {
      result += "&#39;";
    } else {
      result += character;
    }
  });
  return result;
}

std::string markdown_text(std::string_view text) {
  std::string result;
  each_character(one_line(text), [&](std::string_view character) {
    if (character == "&") {
      result += "&amp;";
    } else if (character == "<") {
      result += "&lt;";
    } else {
      if (character.size() == 1 &&
          std::string_view("\\`*_{}[]|#!~>").find(character) != std::string_view::npos) {
        result += '\\';
      }
      result += character;
    }
  });
  return result;
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
