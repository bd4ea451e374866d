// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/toml_characters.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::topo {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

/// Walks over a text and knows where it is: in quotes, in a comment, or neither.
class CharacterWalk {
 public:
  CharacterWalk(std::string_view text, std::string_view origin) : text_(text), origin_(origin) {}

  void walk() {
    if (text_.substr(0, kByteOrderMark.size()) == kByteOrderMark) at_ = kByteOrderMark.size();
    // A line end within quotes is an error that the parser tells, and it reads no further.
    for (; at_ < text_.size() && !(in_quotes() && text_[at_] == '\n'); ++at_) {
      if (inside_ == kNothing) {
        enter();
      } else {
        stay_or_leave();
      }
      count();
    }
  }

 private:
  [[nodiscard]] bool in_quotes() const { return inside_ == '"' || inside_ == '\''; }

  /// Outside of everything: what begins here?
  void enter() {
    const char c = text_[at_];
    if (static_cast<unsigned char>(c) >= 0x80) {
      throw fault("characters beyond ASCII belong into quotes or comments");
    }
    if (c == '#' || c == '"' || c == '\'') inside_ = c;
    if (in_quotes() && text_.substr(at_, 3) == std::string(3, c)) {
      throw fault("texts over several lines are not for system files");
    }
  }

  void stay_or_leave() {
    const char c = text_[at_];
    const char end = inside_ == '#' ? '\n' : inside_;
    if (escaped_) {
      escaped_ = false;
    } else if (c == end) {
      inside_ = kNothing;
    } else {
      escaped_ = inside_ == '"' && c == '\\';
    }
  }

  /// Columns count characters: what continues one in UTF-8 does not.
  void count() {
    const auto byte = static_cast<unsigned char>(text_[at_]);
    if (byte == '\n') {
      ++line_;
      column_ = 1;
    } else if ((byte & 0xC0U) != 0x80U) {
      ++column_;
    }
  }

  [[nodiscard]] Error fault(std::string_view what) const {
    return usage_error(fmt::format("{}:{}:{}: {}", origin_, line_, column_, what));
  }

  static constexpr char kNothing = '\0';
  std::string_view text_;
  std::string_view origin_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  std::size_t column_ = 1;
  char inside_ = kNothing;  ///< the character that began it: " ' #
  bool escaped_ = false;
};

}  // namespace

void check_toml_characters(std::string_view text, std::string_view origin) {
  CharacterWalk(text, origin).walk();
}

}  // namespace busbar::topo
