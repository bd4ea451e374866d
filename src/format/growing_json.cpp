// SPDX-License-Identifier: BSD-3-Clause
#include "format/growing_json.hpp"

#include <filesystem>
#include <fstream>

namespace busbar {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTail = "\n  ]\n}\n";

std::string on_one_line(const Json& json) { return json_text(json, -1); }

/// Each on a line of its own, without the braces around them.
std::string member_lines(const Json& members) {
  std::string text;
  for (const auto& [key, value] : members.items()) {
    text += (text.empty() ? "  " : ",\n  ") + on_one_line(key) + ": " + on_one_line(value);
  }
  return text;
}

}  // namespace

GrowingJson::GrowingJson(const std::string& path, bool resume, std::string_view opening) {
  file_.emplace(path, "-J", resume ? OutputFile::Mode::Continue : OutputFile::Mode::New);
  if (file_->size() == 0) {
    // A link and what is no file stay what they are.
    std::error_code error;
    is_made_later_ =
        fs::is_regular_file(fs::symlink_status(path, error)) && fs::remove(path, error);
    return;
  }
  std::string begin(opening.size(), '\0');
  std::ifstream(path).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  if (begin == opening) return;
  throw usage_error("-J: {} is not a JSON of an earlier run of busbar; give another name", path);
}

void GrowingJson::begin(const Json& head, std::string_view list) {
  std::string text = fmt::format("{{\n{},\n  \"{}\": [", member_lines(head), list);
  list_end_ = text.size();
  if (file_->size() == 0 && !is_made_later_) return file_->append(text.append(kTail));
  const std::string path = file_->path();
  if (is_made_later_) check_new(path, "-J");
  replace_file(path, text.append(kTail), "-J");
  file_.emplace(path, "-J", OutputFile::Mode::Continue);
}

void GrowingJson::add(const Json& element) {
  const std::string text = std::string(any_ ? "," : "") + "\n    " + on_one_line(element);
  replace_tail(text + std::string(kTail));
  list_end_ += text.size();
  any_ = true;
}

void GrowingJson::end(const Json& members) {
  replace_tail("\n  ],\n" + member_lines(members) + "\n}\n");
}

void GrowingJson::replace_tail(const std::string& text) {
  try {
    file_->write_at(list_end_, text);
  } catch (const Error&) {
    // On a full disk the place of the tail before is still there.
    file_->write_at(list_end_, kTail);
    file_->truncate(list_end_ + kTail.size());
    throw;
  }
}

}  // namespace busbar
