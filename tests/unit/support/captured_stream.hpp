// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/text.hpp"

namespace busbar::test {

/// A stream whose text can be read back.
class CapturedStream {
 public:
  CapturedStream() : stream_(open_memstream(&text_, &size_)) {}
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;
  ~CapturedStream() {
    std::fclose(stream_);
    std::free(text_);  // NOLINT: open_memstream's own memory
  }

  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }
  /// Lines without their line ends.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines = split(text(), '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

}  // namespace busbar::test
