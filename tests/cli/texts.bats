#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# tools/embed-texts: files as C++ literals.
load ../common

@test "embed-texts writes files by path, byte for byte" {
  mkdir -p "$DIR/a"
  printf 'back\\slash "quotes" )"\n\nno end' > "$DIR/a/b.txt"
  printf 'first\n' > "$DIR/a-c.txt"
  cat > "$DIR/main.cpp" <<'EOF'
#include <cstdio>
#include "base/embedded_text.hpp"
int main() {
  for (const auto& known : busbar::all_embedded_texts()) {
    std::printf("[%.*s]%.*s", int(known.path.size()), known.path.data(), int(known.text.size()), known.text.data());
  }
}
EOF
  (cd "$DIR" && "$ROOT/tools/embed-texts" a/b.txt a-c.txt > texts.cpp)
  g++ -std=c++20 -Isrc -o "$DIR/main" "$DIR/main.cpp" "$DIR/texts.cpp"
  cmp <("$DIR/main") <(printf '[a-c.txt]first\n[a/b.txt]back\\slash "quotes" )"\n\nno end')
}
@test "embed-texts refuses a file that would end its literal" {
  printf 'x )BUSBAR" y\n' > "$DIR/x.txt"
  run -1 --separate-stderr tools/embed-texts "$DIR/x.txt"
  [[ $stderr == *"x.txt has"* ]]
}
