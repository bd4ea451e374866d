# SPDX-License-Identifier: BSD-3-Clause
# Completes the programs above in bash and zsh. A row above: COMMAND (perf: every measuring program), SUB-COMMANDS that
# it is for, NAMES of the option, what follows it (flag: nothing; =value, =file: only after '='), and the values that it may have.
# The row "arguments" has what else follows the command, its default sub-command and all sub-commands.

# shellcheck disable=SC2154,SC2206 # rows are printed above, and split into words

# Sets kind and values to those of an option of $command.
_busbar_find() { # NAME
  local of names
  while read -r of only names kind values; do
    [[ $of != "$command" || ,$names, != *",$1,"* ]] || return 0
  done <<< "$_busbar_rows"
  kind='' values=''
}

# Adds the options of $command that $sub, or its default $only, may have to the candidates.
_busbar_options() {
  local of with names rest sub_command=${sub:-$only}
  while read -r of with names rest; do
    [[ $of == "$command" && $names != arguments ]] || continue
    [[ $with != - && $sub_command != - && ,$with, != *",$sub_command,"* ]] || candidates+=(${names//,/ })
  done <<< "$_busbar_rows"
}

# Sets the candidates for CURRENT behind these words, and takes to "file" where it may be a file's name.
_busbar_candidates() { # CURRENT PROGRAM WORDS...
  [[ -z ${ZSH_VERSION-} ]] || emulate -L sh
  local current=$1 command=perf sub='' option='' pending='' only kind values word
  [[ ${2##*/} != busbar ]] || command=busbar
  shift 2
  for word; do
    if [[ $word == = ]]; then
      pending=$option
    elif [[ -n $pending ]]; then
      pending=''
    elif [[ $word == -- ]]; then
      takes="file"
      return
    elif [[ $word == -* ]]; then
      option=$word
      _busbar_find "$word"
      [[ $kind != file && $kind != value ]] || pending=$word
    elif [[ $command == busbar ]]; then
      command=$word
    else
      sub=${sub:-$word}
    fi
  done
  _busbar_find "${pending:-arguments}"
  takes=${kind#=} candidates=($values)
  [[ -z $pending ]] || return 0
  if [[ -n $sub ]]; then candidates=(); fi
  if [[ ${#candidates[@]} -gt 0 ]]; then takes=none; fi
  if [[ $current == -* || $takes == none && ${#candidates[@]} == 0 ]]; then
    candidates=()
    _busbar_options
  fi
}

if [[ -n ${ZSH_VERSION-} ]]; then
  _busbar() {
    local current=$PREFIX takes=none result=1
    local -a before candidates=()
    before=("${words[@]:0:$((CURRENT - 1))}")
    if [[ $current == --*=* ]]; then
      before+=("${current%%=*}" '=')
      compset -P '*='
    fi
    _busbar_candidates "$current" "${before[@]}"
    compadd -a candidates && result=0
    if [[ $takes == file ]]; then _files && result=0; fi
    return $result
  }
  # As a file of fpath this is the body of the function, called for the first time.
  if [[ ${funcstack[1]-} == _busbar ]]; then _busbar "$@"; else compdef _busbar "${_busbar_programs[@]}"; fi
else
  _busbar() {
    local current=${COMP_WORDS[COMP_CWORD]} takes=none
    local -a before=("${COMP_WORDS[@]:0:COMP_CWORD}") candidates=()
    if [[ $current == = ]]; then
      before+=('=')
      current=''
    fi
    _busbar_candidates "$current" "${before[@]}"
    mapfile -t COMPREPLY < <(compgen -W "${candidates[*]}" -- "$current")
    [[ $takes == file ]] || compopt +o default
  }
  complete -o default -F _busbar "${_busbar_programs[@]}"
fi
