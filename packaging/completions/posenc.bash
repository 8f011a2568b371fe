# SPDX-License-Identifier: MIT
# Bash completion for posenc. All words come from the program itself.

_posenc_words() {
  case $1 in
  commands) posenc --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' ;;
  # A line has an option with what it does, or names of those that posenc help problem explains.
  options) posenc ${2:+"$2"} --help | sed -n 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z -]*\).*/\2/p' |
    sed 's/ \{1,\}[^- ].*//' ;;
  # The words of an option that takes one of several: "--dtype f32|f64" in the help.
  values) { posenc "$2" --help && posenc help problem; } | sed -n "s/^  $3 \([a-z0-9-]*|[a-z0-9|-]*\).*/\1/p" |
    head -n 1 | tr '|' ' ' ;;
  encodings) posenc list --encodings | sed -n 's/^\([a-z-]*\): .*/\1/p' ;;
  kernels) posenc list --format names "${@:2}" ;;
  esac 2>/dev/null
}

_posenc() {
  # With no words, -o default completes file names.
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' words=''
  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
  local plugins=() i
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i - 1]} == --plugin ]] && plugins+=(--plugin "${COMP_WORDS[i]}")
  done
  case $before in
  --kernel) words=$(_posenc_words kernels "${plugins[@]}") ;;
  --encoding) words=$(_posenc_words encodings) ;;
  --*) words=$(_posenc_words values "$command" "$before") ;;
  check | diff | compare | history | identify | merge) ;; # a file comes first
  "$command") words=$(_posenc_words options "$command") ;;
  esac
  [[ -z $words && -n $command && $word == -* ]] && words=$(_posenc_words options "$command")
  [[ -z $command ]] && words="$(_posenc_words commands) $(_posenc_words options)"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _posenc posenc
