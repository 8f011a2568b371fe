# SPDX-License-Identifier: MIT
# Bash completion for posenc. All words come from the program itself.

_posenc_words() {
  case $1 in
  commands) posenc --help | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' ;;
  options) posenc ${2:+"$2"} --help | sed -n 's/^  \(-[a-zA-Z], \)\{0,1\}\(--[a-z-]*\).*/\2/p' ;;
  encodings) posenc list --encodings | sed -n 's/^\([a-z-]*\): .*/\1/p' ;;
  kernels) posenc list --names "${@:2}" ;;
  esac 2>/dev/null
}

_posenc() {
  # With no words, -o default completes file names.
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command='' words
  ((COMP_CWORD > 1)) && command=${COMP_WORDS[1]}
  local plugins=() i
  for ((i = 2; i < COMP_CWORD; i++)); do
    [[ ${COMP_WORDS[i - 1]} == --plugin ]] && plugins+=(--plugin "${COMP_WORDS[i]}")
  done
  COMPREPLY=()
  case $before in
  --kernel) words=$(_posenc_words kernels "${plugins[@]}") ;;
  --encoding) words=$(_posenc_words encodings) ;;
  --layout) words='interleaved interleaved-cs split split-cs duplicated' ;;
  --part) words='cos sin' ;;
  --dtype) words='f32 f64 f16 bf16' ;;
  --op)
    words='table rope-cache'
    [[ $command == write ]] || words+=' add rope'
    ;;
  --scaling) words='linear dynamic yarn llama3 longrope' ;;
  --odd) words='refuse pad ceil' ;;
  --isa) words='generic avx2 avx512 -avx2 -avx512' ;;
  --stores) words='auto regular streaming' ;;
  --format)
    case $command in
    write) words='npy safetensors' ;;
    choose) words='text json' ;;
    compare) words='text markdown json' ;;
    check) words='text tap junit json' ;;
    identify) words='text json' ;;
    *) words='tap junit json' ;;
    esac
    ;;
  --mode) words='hot cold fresh first row plan' ;;
  check | diff | compare | merge) [[ $word == -* ]] && words=$(_posenc_words options "$command") ;; # a file comes first
  *) [[ -n $command && ($word == -* || $before == "$command") ]] && words=$(_posenc_words options "$command") ;;
  esac
  [[ -z $command ]] && words="$(_posenc_words commands) $(_posenc_words options)"
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o default -F _posenc posenc
