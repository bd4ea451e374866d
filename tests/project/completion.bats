#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The scripts of `busbar completion`, in the shells themselves.
load ../common

# What is typed, and what is offered for its last word.
CASES=(
  "./allreduce_perf --placement " "both in out"
  "/opt/bin/all_gather_perf --backend " "auto nccl mpi gloo sim"
  "reduce_scatter_perf -o m" "max min"
  "./broadcast_perf --devices " "best worst prefix"
  "./gather_perf -b 8 --pl" "--placement"
  "./gather_perf --backend sim --system dgx-a" "dgx-a100"
  "./gather_perf --seed " ""
  "busbar comp" "compare completion"
  "./busbar topo sa" "save"
  "busbar topo choose --p" "--p2p --policy"
  "busbar topo --system dgx-2 cl" "classes"
  "busbar expect allreduce --nod" "--nodes"
  "busbar plot --format " "svg png"
  "busbar plot --figure=h" "histogram history"
  "busbar completion " "bash zsh"
  "busbar version " ""
)

# bash_offers WORD...: what bash offers for the last word; "+o default" where that is no file.
bash_offers() {
  bash --norc -c 'source "$0"; compopt() { echo "$@"; }; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)); _busbar; printf "%s\n" "${COMPREPLY[@]}"' \
    "$DIR/script" "$@"
}

# as_bash LINE: the words of a line as bash has them in COMP_WORDS, in the array `line`.
as_bash() {
  local text=${1//=/ = }
  read -ra line <<<"$text"
  [[ $1 != *" " ]] || line+=("")
}

# zsh_offers SETUP LINE...: a line for each, "LINE=>offered ...", of a zsh on a terminal of its own.
zsh_offers() {
  cat > "$DIR/driver" <<'END'
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "PROMPT=; autoload -Uz compinit; $1; cd ${2:h}
    compadd() { local -a found; builtin compadd -O found \"\$@\"; print -r -- \"\$BUFFER=>\$found\" >> $2; builtin compadd \"\$@\"; }
    PROMPT='no''w '"
    zpty -r shell seen '*now *'  # what is typed before the editor's prompt may be lost
    for line in "${@:3}"; do
      zpty -w -n shell "$line"$'\t\C-U'
    done
    zpty -w shell exit
    while zpty -r shell; do :; done
END
  : > "$DIR/offered"
  timeout 60 zsh -f "$DIR/driver" "$1" "$DIR/offered" "${@:2}" > "$DIR/terminal"
  cat "$DIR/offered"
}

@test "bash completes programs, commands, their options and values" {
  ./busbar completion bash > "$DIR/script"
  for ((i = 0; i < ${#CASES[@]}; i += 2)); do
    as_bash "${CASES[i]}"
    echo "${CASES[i]}"
    [ "$(bash_offers "${line[@]}" | grep -v "^+o" | paste -sd " ")" = "${CASES[i + 1]}" ]
  done
}

@test "zsh completes the same" {
  command -v zsh > /dev/null || skip "no zsh"
  local typed=()
  ./busbar completion zsh > "$DIR/script"
  for ((i = 0; i < ${#CASES[@]}; i += 2)); do typed+=("${CASES[i]}"); done
  run -0 zsh_offers "compinit -u -D; source $DIR/script" "${typed[@]}"
  for ((i = 0; i < ${#CASES[@]}; i += 2)); do  # zsh asks again where nothing fits
    [ "$(grep -F -- "${CASES[i]}=>" <<<"$output" | sort -u | tail -n 1)" = "${CASES[i]}=>${CASES[i + 1]}" ] || { echo "${CASES[i]}"; return 1; }
  done
}

@test "files are completed where an option or a command takes them, and only there" {
  ./busbar completion bash > "$DIR/script"
  local typed files=("./allreduce_perf --csv so" "./allreduce_perf --csv=so" "./allreduce_perf --system so" "busbar plot so" "busbar topo show --svg so" "busbar facts --json=so")
  for typed in "${files[@]}"; do
    as_bash "$typed"
    run -0 bash_offers "${line[@]}"
    [ -z "$output" ]  # readline completes files
  done
  run -0 bash_offers ./allreduce_perf --seed so
  [ "$output" = "+o default" ]
  command -v zsh > /dev/null || skip "no zsh"
  touch "$DIR/some.csv"
  run -0 zsh_offers "compinit -u -D; source $DIR/script" "${files[@]}" "./allreduce_perf --seed so" "busbar topo so"
  echo "$output"
  [ "$(grep '=>some.csv' <<<"$output" | cut -d'>' -f1 | sort -u)" = "$(printf '%s=\n' "${files[@]}" | sort)" ]
}

@test "zsh finds the script among its functions" {
  command -v zsh > /dev/null || skip "no zsh"
  mkdir "$DIR/functions"
  ./busbar completion zsh > "$DIR/functions/_busbar"
  run -0 zsh_offers "fpath=($DIR/functions \$fpath); compinit -u -D" "busbar completion " "./alltoall_perf --pag"
  [ "$output" = "busbar completion =>bash zsh
./alltoall_perf --pag=>--pages" ]
}

@test "every documented option is offered, by the sub-commands that have it" {
  ./busbar completion bash > "$DIR/script"
  local document command sub
  for document in docs/options.md docs/*-options.md; do
    command=$(basename "${document%-options.md}")
    case $command in
      options.md) command=perf ;;
      busbar) continue ;;
    esac
    for sub in "" $(sed -n "s/^$command [^ ]* arguments [^ ]*//p" "$DIR/script"); do
      if [ "$command" = perf ]; then bash_offers ./allreduce_perf -; else bash_offers busbar "$command" ${sub:+"$sub"} -; fi
    done | grep '^-' | sort -u > "$DIR/offered"
    diff <(grep -oE '^  -[^ ]+(, -[^ ]+)?' "$document" | grep -oE -- '-[A-Za-z0-9_-]*[A-Za-z0-9]' | sort -u) "$DIR/offered"
  done
}

@test "another shell is refused" {
  COMMAND=(./busbar completion)
  refused "'fish'" fish
  refused "bash or zsh"
}
