// SPDX-License-Identifier: BSD-3-Clause
#include "base/embedded_text.hpp"

#include "base/text.hpp"

namespace busbar {

std::string_view embedded_text(std::string_view path) {
  const auto all = all_embedded_texts();
  const EmbeddedText* found = find_by(all, path, &EmbeddedText::path);
  return found == nullptr ? std::string_view() : found->text;
}

std::vector<EmbeddedText> embedded_texts(std::string_view folder) {
  return filtered(all_embedded_texts(), [&](const EmbeddedText& known) {
    return known.path.rfind('/') == folder.size() && known.path.starts_with(folder);
  });
}

std::string_view version() { return trim(embedded_text("VERSION")); }

}  // namespace busbar
