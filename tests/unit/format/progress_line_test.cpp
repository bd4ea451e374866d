// SPDX-License-Identifier: BSD-3-Clause
#include "format/progress_line.hpp"

#include <pty.h>
#include <unistd.h>

namespace busbar {
namespace {

/// Puts something else in stderr's place.
class RedirectedStderr {
 public:
  explicit RedirectedStderr(int descriptor) : saved_(dup(STDERR_FILENO)) {
    dup2(descriptor, STDERR_FILENO);
  }
  RedirectedStderr(const RedirectedStderr&) = delete;
  RedirectedStderr& operator=(const RedirectedStderr&) = delete;
  ~RedirectedStderr() {
    dup2(saved_, STDERR_FILENO);
    close(saved_);
  }

 private:
  int saved_;
};

TEST(ProgressLine, IsRewrittenOnATerminalAndRemovedOnce) {
  int terminal = -1;
  int other_end = -1;
  ASSERT_EQ(openpty(&terminal, &other_end, nullptr, nullptr, nullptr), 0);
  {
    const RedirectedStderr redirected(other_end);
    ProgressLine line;
    EXPECT_TRUE(line.enabled());
    line.clear();  // nothing was shown: nothing is written
    line.show("one");
    line.show("two");
    line.clear();
    line.clear();
  }
  close(other_end);
  // A terminal hands over its text in pieces, and an error at its end.
  std::string text;
  std::array<char, 256> piece{};
  for (ssize_t size = 0; (size = read(terminal, piece.data(), piece.size())) > 0;) {
    text.append(piece.data(), static_cast<std::size_t>(size));
  }
  EXPECT_EQ(text, "\r\x1b[Kone\r\x1b[Ktwo\r\x1b[K");
  close(terminal);
}

}  // namespace
}  // namespace busbar
