#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What `make install` writes, and the manual pages.
load ../common

make_here() { BUSBAR_NO_INSTALL=1 make --no-print-directory "$@" < /dev/null; }

# files FOLDER: what is not a folder, by its path in it.
files() { (cd "$1" && find . ! -type d | sort); }

@test "what make install writes works, and make uninstall removes it and nothing else" {
  local target=$DIR/a\ folder name
  run -0 make_here install DESTDIR="$target" PREFIX=/opt/busbar
  cd "$target/opt/busbar"
  for name in $ALL alltoallv; do
    [ -x "bin/${name}_perf" ] && [ -e "share/man/man1/${name}_perf.1" ] && [ -e "share/bash-completion/completions/${name}_perf" ]
  done
  [ "$(bin/busbar version)" = "$(bin/all_reduce_perf --version)" ]
  diff <(files share/doc/busbar) <(cd "$ROOT" && printf '%s\n' docs/*.md README.md CHANGELOG.md LICENSE THIRD-PARTY | sed 's|.*/||; s|^|./|' | sort)
  diff -r share/busbar/schemas "$ROOT/docs/schemas"
  [[ $(head -n 1 share/zsh/site-functions/_busbar) == "#compdef busbar "*"reduce_scatter_perf "* ]]
  run -0 bash --norc -c '. share/bash-completion/completions/reduce_scatter_perf; complete -p reduce_scatter_perf busbar'
  [ "$(grep -c -- "-F _busbar" <<<"$output")" -eq 2 ]
  [ -z "$(find . -type l ! -exec test -e {} \; -print)" ]

  touch bin/other share/doc/other
  cd "$ROOT"
  run -0 make_here uninstall DESTDIR="$target" PREFIX=/opt/busbar
  [ "$(files "$target" | xargs)" = "./opt/busbar/bin/other ./opt/busbar/share/doc/other" ]
  [ ! -e "$target/opt/busbar/share/doc/busbar" ] && [ ! -e "$target/opt/busbar/share/busbar" ]
}

@test "another busbar can be what prints the completion" {
  run -0 make_here -n -W "${BUILD:-build}/bin/busbar" "${BUILD:-build}/completion/_busbar" BUSBAR_RUN="emulator /opt/busbar"
  [[ $output == *"emulator /opt/busbar completion zsh"* ]]
}

@test "every help document is a manual page with its options, which tools find nothing wrong with" {
  command -v man lexgrog mandoc > /dev/null || skip "no man, lexgrog or mandoc"
  local document name title pages=${BUILD:-build}/man
  run -0 make_here man
  for document in docs/*options.md; do
    name=$(basename "$document" -options.md)
    case $name in
      options.md) title=allreduce_perf ;;
      busbar) title=busbar ;;
      *) title=busbar-$name ;;
    esac
    echo "$title"
    [[ $(lexgrog "$pages/$title.1") == *"\"$title - "* ]]
    [ -z "$(man --warnings -E UTF-8 -l -Tutf8 -Z "$pages/$title.1" 2>&1 > /dev/null)" ]
    run ! grep -v STYLE <(mandoc -T lint "$pages/$title.1")
    diff <(grep -oE '^  -[^ ]+(, -[^ ]+)?' "$document" | sort) \
      <(grep --no-group-separator -A 1 '^\.TP' "$pages/$title.1" | sed 's/\\f[BIR]//g; s/\\-/-/g' | grep -oE '^-[^ ]+(, -[^ ]+)?' | sed 's/^/  /' | sort)
  done
}

@test "a manual page has synopsis, lists in lists, examples, exit codes and a date that can be given" {
  SOURCE_DATE_EPOCH=0 tools/make-man docs/plot-options.md busbar-plot > "$DIR/plot.1"
  grep -q '^\.TH BUSBAR\\-PLOT 1 1970-01-01 "busbar '"$(cat VERSION)" "$DIR/plot.1"
  command -v man > /dev/null || skip "no man"
  run -0 env MANWIDTH=80 man -l "$DIR/plot.1"
  [[ $output == *SYNOPSIS*"
       --figure NAME
              "*"
              histogram
                     "*EXAMPLES*"EXIT STATUS"*"
       3      "*"SEE ALSO"*"busbar(1), allreduce_perf(1)"* ]]
}
