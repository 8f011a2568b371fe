#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the documentation's examples: runs the lines of its "sh" blocks in order, those of each document in a new
# folder, and the examples of all help; compiles its C. Hidden comments before a block give it a role:
#
#   <!-- file NAME -->       it is that file
#   <!-- slow -->            its lines take long: they run with POSENC_TEST_SLOW=1; without it their options are parsed
#   <!-- elsewhere WHERE --> its lines cannot run here; WHERE names the test that runs them
#   <!-- declares            the lines up to --> are declarations that the document's C needs
#   <!-- stands for          the lines up to --> run in the block's place: they make the files that a reader has
#
# A line whose comment ends with "exit status N" must have that status. Where lines begin with "$ ", the lines after
# them are their output: each is a line of it, compared up to a … at its end. Commands that this build lacks are
# skipped, with the lines that need their files.
# It takes more than a minute: the examples verify, time and report for real; but without POSENC_TEST_SLOW=1, bench and
# choose with three repetitions, the least that they take. DOCUMENTS='doc/accuracy.md … help' runs these documents, or
# all help, alone, and PREFIX with what is installed there.
# shellcheck disable=SC2046,SC2086 # CC, CFLAGS and what pkg-config prints are lists of words
# shellcheck disable=SC2016,SC2059 # backquotes of Markdown; bytes in octal
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
[ -z "${PREFIX-}" ] || POSENC=$PREFIX/bin/posenc
: "${POSENC:=$abs_top_builddir/posenc}"
[ -x "$POSENC" ] || { echo "Bail out! no posenc command at $POSENC"; exit 1; }
[ -n "${PREFIX-}" ] || [ -e "$abs_top_builddir/.libs/libposenc.so" ] || skip_all 'no shared library'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
diagnose() { tail -n 20 "$work/out" "$work/err" | sed 's/^/# /'; }

# ---- posenc as if it were installed, or as it is ----

mkdir "$work/bin"
if [ -z "${PREFIX-}" ]; then
  PATH=$work/bin:${POSENC%/*}:$PATH
  printf '#!/bin/sh\nexec %s %s "$@"\n' "$CC" "$CFLAGS" >"$work/bin/cc"
  chmod +x "$work/bin/cc"
  sed -e "s|^includedir=.*|includedir=$srcdir/include|" -e "s|^libdir=.*|libdir=$abs_top_builddir/.libs|" \
    "$abs_top_builddir/posenc.pc" >"$work/bin/posenc.pc"
  PKG_CONFIG_PATH=$work/bin
  LD_LIBRARY_PATH=$abs_top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
export PATH PKG_CONFIG_PATH LD_LIBRARY_PATH srcdir

# ---- lines of shell ----

# Prints number, mode and text of the lines of a document's "sh" blocks. Its files and its C are left in the folder.
lines_of() { # DOCUMENT FOLDER
  awk -v folder="$2" '
    /^-->$/ { hidden = ""; next }
    hidden == "declares" { print >(folder "/declarations.h"); next }
    hidden == "stands for" { print NR "\trun\t" $0; next }
    !inside && /^<!-- (declares|stands for)$/ { hidden = substr($0, 6); next }
    !inside && /^<!-- file [^ ]* -->$/ { file = $3; next }
    !inside && /^<!-- (slow|elsewhere .*) -->$/ { mode = substr($0, 6, length($0) - 9); next }
    /^ *```/ && !inside { inside = 1; kind = $1; next }
    /^ *```/ { inside = prompt = 0; file = mode = ""; next }
    !inside { if (/^    +(posenc|make|\.\/)/) print NR "\tstray\t" $0; next }
    file != "" { print >(folder "/" file); next }
    kind == "```c" { print >(folder "/lines.c"); next }
    kind == "```python" { print >(folder "/lines.py"); next }
    kind == "```sh" {
      if (/^\$ /) prompt = 1 # and what has none is output
      if (prompt && !sub(/^\$ /, "")) {
        print NR "\toutput\t" $0
        next
      }
      if (text == "") start = NR
      text = text $0
      if (sub(/\\$/, "", text)) next
      print start "\t" (mode == "" ? "run" : mode) "\t" text
      text = ""
      next
    }
    /^ *(\$ )?(posenc|make|\.\/)/ { print NR "\tstray\t" $0 }' "$1"
}

# A command's help ends with examples. As help has no hidden comments, examples that take long are listed here.
long_examples='posenc verify
posenc choose --len 4096 --dim 128 --op rope --heads 32 --max-ulp 0.5
posenc choose --len 131072 --dim 1024 --threads 2 --memory fresh --plot front.svg
posenc report -o posenc-report'
# A comparison of programs needs two programs, and times of a machine are no test.
examples_of() { # ARGUMENTS: of the help
  posenc $1 | awk -v long="$long_examples" '
    BEGIN { for (i = split(long, lines, "\n"); i > 0; i--) slow[lines[i]] }
    /^Examples:$/ { inside = 1; next }
    inside && sub(/^  (\$ |  +)/, "") {
      text = text $0
      if (sub(/\\$/, "", text)) next
      mode = text in slow ? "slow" : text ~ /^posenc compare --run / ? "elsewhere tests/compare-run.sh" : "run"
      print NR "\t" mode "\t" text
      text = ""
    }'
}

runs() { # TEXT
  wanted=$(echo "$1" | sed -n 's/.*#.*exit status \([0-9]*\)$/\1/p')
  least='s/^posenc \(bench\|choose\) /&--repetitions 3 /' # before what the line itself says, which counts
  [ "${POSENC_TEST_SLOW:-}" != 1 ] || least=''
  sh -c "$(printf '%s\n' "$1" | sed -e "$least" -e "s|&& \./|\&\& ${EMULATOR-} ./|")" \
    >"$work/out" 2>"$work/err" </dev/null
  status=$?
  case $1 in 'posenc doctor'*) wanted=$((status <= 1 ? status : 0)) ;; esac # other tests use the machine
  [ $status -eq "${wanted:-0}" ] || { echo "exit status $status" >>"$work/err"; return 1; }
}

# getopt reads options in order: it names the first unknown one, which is --the-end if it knows those before it.
parses() { # TEXT
  sh -c "${1%%  #*} --the-end" >"$work/out" 2>"$work/err" </dev/null
  [ $? -eq 2 ] && grep -q "unrecognized option.*the-end" "$work/err"
}

no_timings='' no_pages=''
posenc bench --kernel naive --len 8 --dim 4 2>&1 | grep -q 'without Google Benchmark' &&
  no_timings='no Google Benchmark here'
posenc report -o /dev/null/none 2>&1 | grep -q gnuplot && no_pages='no gnuplot here' # before it looks at the folder
unkept='' no_git=''
command -v git >"$work/out" || no_git='no git here'
! emulated || no_pages='times of an emulator are not published' unkept='times of an emulator are not kept'

unmade='' # files and folders of skipped lines
lacks() { # TEXT: prints why it cannot run, if so
  case $1 in
  'posenc choose '*--keep*) why=${no_timings:-$unkept} ;;
  'posenc bench '* | 'posenc choose '*) why=$no_timings ;;
  'posenc report '*) why=$no_pages ;;
  *git\ * | *clone*) why=$no_git ;;
  *) why='' ;;
  esac
  for word in $1; do
    folder=${word%%/*}
    case " $unmade " in *" $word "* | *" ${folder:-$word} "*) why="$word was not made" ;; esac
  done
  [ -n "$why" ]
}
made_by() { # TEXT
  echo "$1" | sed -n 's/.* \(-o\|--keep\|--plot\) \([^ ]*\).*/\2/p'
}

runs_here() { # PLACE TEXT
  if lacks "$2"; then
    unmade="$unmade $(made_by "$2")"
    skip "$1: $2" "$why"
  else
    held=true
    runs "$2" || held=false
    if [ $held = false ] && unbuilt=$(grep -o 'posenc was built without .*' "$work/err"); then
      skip "$1: $2" "$unbuilt"
    else
      check "$1: $2" $held
    fi
    case $no_timings:$2 in ?*:'posenc report '*) unmade="$unmade $(made_by "$2")/bench.json" ;; esac
  fi
}

is_target() { # TEXT: without make -n, which runs lines with $(MAKE)
  for word in $1; do
    case $word in make | *=*) continue ;; esac
    grep -q -E "^([a-z-]+ )*$word( [a-z-]+)*:" "$abs_top_builddir/Makefile" ||
      { echo "no target $word" >"$work/err"; return 1; }
  done
}

quickstart_takes() { # TEXT
  sh "$srcdir/quickstart" --help >"$work/out" 2>"$work/err" && grep -q "^Usage: ./quickstart .*${2:-}" "$work/out"
}

printed() { # TEXT
  case $1 in
  *…) grep -qF -e "${1%…}" "$work/out" ;;
  *) grep -qxF -e "$1" "$work/out" ;;
  esac
}

line() { # PLACE MODE TEXT, in the document's folder
  case $2:$3 in
  output:*) check "$1: is printed: $3" printed "$3" ;;
  stray:*) check "$1: is in a block of sh: $3" false ;;
  elsewhere*) skip "$1: $3" "run by ${2#elsewhere }" ;;
  *:make*) check "$1: ${3%%  #*} is a target" is_target "${3%%  #*}" ;;
  *:./quickstart*) check "$1: ${3%%  #*} is told by its help" quickstart_takes ${3%%  #*} ;;
  slow:*) if [ "${POSENC_TEST_SLOW:-}" = 1 ]; then
    runs_here "$1" "$3"
  else
    check "$1: its options are parsed: $3" parses "$3"
    skip "$1: $3" 'takes long: POSENC_TEST_SLOW=1'
  fi ;;
  *) runs_here "$1" "$3" ;;
  esac
}

lines() { # NAME FILE
  tab=$(printf '\t')
  while IFS=$tab read -r number mode text; do line "$1:$number" "$mode" "$text"; done <"$2"
}

# ---- words ----

# Prints the commands, options and targets in a document's text: every option is one of its command, or of any command.
words_of() { # DOCUMENT
  awk '/^ *```/ { inside = !inside; next } !inside' "$1" | grep -o '`[^`]*`' | tr -d '`' | sort -u
}
words_are_known() { # DOCUMENT
  : >"$work/unknown"
  words_of "$1" | while read -r first rest; do
    case $first in
    posenc)
      [ "$rest" != 'help problem' ] || continue # a page, not a command
      known=$work/help.${rest%% *}
      ;;
    --*) known="$work/help.all" rest="$first $rest" ;;
    make) is_target "$rest" || echo "$first $rest"; continue ;;
    *) continue ;;
    esac
    [ -e "$known" ] || { echo "$first $rest"; continue; }
    echo "$rest" | grep -o -e '--[a-z][a-z0-9-]*' | while read -r option; do
      grep -q -e "$option\([^a-z0-9-]\|$\)" "$known" || echo "$option of $first $rest"
    done
  done >"$work/err"
  [ ! -s "$work/err" ]
}

# Prints the anchors of a document's headings, as GitHub makes them.
anchors_of() { # DOCUMENT
  sed -n 's/^##* //p' "$1" | tr '[:upper:] ' '[:lower:]-' | sed 's/[^[:alnum:]_-]//g'
}
# Tests links to files, and to sections of documents.
links_resolve() { # DOCUMENT
  grep -o '](\(<[^>]*>\|[^)]*\))' "$1" | sed 's/^](//; s/)$//' | grep -v -e '^https*:' |
    while IFS='#' read -r link anchor; do
      target=${link:+$(dirname "$1")/$link}
      target=${target:-$1}
      [ -e "$target" ] || echo "$link"
      case $target:$anchor in
      *.md:?*) anchors_of "$target" | grep -qx -e "$anchor" || echo "$link#$anchor" ;;
      esac
    done >"$work/err"
  [ ! -s "$work/err" ]
}

# Tests the sources that a document names: `FOLDER/FILE`, `FOLDER/PROGRAM`, and `FOLDER/FILE:FUNCTION`, which the file
# defines or declares.
sources_exist() { # DOCUMENT
  grep -o '`[a-z][a-z]*/[A-Za-z0-9/._:-]*`' "$1" | tr -d '`' | sort -u | while IFS=: read -r file function; do
    [ -d "$srcdir/${file%%/*}" ] || continue
    case $file in # made for each row
    tests/cross-*.sh) ! grep -q "^$(basename "${file#*-}" .sh) " "$srcdir/tests/hosts.def" || continue ;;
    esac
    if [ ! -e "$srcdir/$file" ] && [ ! -e "$srcdir/$file.c" ]; then
      echo "no $file"
    elif [ -n "$function" ]; then
      grep -Eq "^([A-Za-z].*[ *])?$function\(" "$srcdir/$file" || echo "no $function in $file"
    fi
  done >"$work/err"
  [ ! -s "$work/err" ]
}

# ---- C ----

compiles() { # in the document's folder, with all lines as the body of one function
  {
    printf '#include <posenc.h>\n'
    [ ! -e declarations.h ] || cat declarations.h
    printf 'int main(void) {\n'
    cat lines.c
    printf '  return 0;\n}\n'
  } >all.c
  sh -c 'cc all.c -Wall -Wextra -Werror -o all $(pkg-config --cflags --libs posenc) && ${EMULATOR-} ./all' \
    >"$work/out" 2>"$work/err"
}

is_python() { python3 -c 'import ast; ast.parse(open("lines.py").read())' >"$work/out" 2>"$work/err"; }

# ---- all documents ----

commands=$(posenc --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
posenc --help >"$work/help."
for command in $commands; do
  { posenc "$command" --manual && posenc help problem; } >"$work/help.$command"
done
cat "$work"/help.* "$srcdir/quickstart" >"$work/help.all"
"$srcdir/configure" --help >>"$work/help.all"

documents=${DOCUMENTS:-$(cd "$srcdir" && echo README.md doc/*.md help)}
for document in $documents; do
  [ "$document" != help ] || continue
  document=$srcdir/$document
  name=${document#"$srcdir/"}
  mkdir "$work/document" && cd "$work/document" || exit 99
  unmade=''
  lines_of "$document" . >"$work/lines"
  lines "$name" "$work/lines"
  check "$name: its options and targets are known" words_are_known "$document"
  check "$name: its links resolve" links_resolve "$document"
  check "$name: the sources that it names exist" sources_exist "$document"
  if [ "$name" != README.md ]; then
    check "$name: README.md links to it" grep -q "($name)" "$srcdir/README.md"
    check "$name: the tarball has it" grep -qw "$name" "$srcdir/doc/Makefile.inc"
  fi
  [ ! -e lines.c ] || check "$name: its C compiles and runs" compiles
  if [ -e lines.py ] && command -v python3 >"$work/out"; then
    check "$name: its Python can be read" is_python
  elif [ -e lines.py ]; then
    skip "$name: its Python can be read" 'no python3 here'
  fi
  cd "$work" && rm -r document || exit 99
done

case " $documents " in *' help '*) ;; *)
  plan
  exit "$tap_failed"
  ;;
esac

# Files for the examples of --help: a plugin, a model's table, folders of the source, records of two days, and two
# reports.
mkdir "$work/help" && cd "$work/help" || exit 99
ln -s "$srcdir/reference" "$srcdir/tests" .
sed 's/"long-double"/"mine"/' "$srcdir/examples/plugin/kernel.c" >mine.c &&
  cc mine.c -shared -fPIC -o mine.so $(pkg-config --cflags --libs posenc) -lm
posenc write --len 5000 --dim 512 -o other.npy
model='{"pos_encoder.pe":{"dtype":"F32","shape":[5000,512],"data_offsets":[0,10240000]}}'
{
  printf "\\$(printf %o ${#model})\\0\\0\\0\\0\\0\\0\\0" && printf %s "$model" && tail -c 10240000 other.npy
} >model.safetensors
posenc write --positions "$(yes 0 | head -300 | paste -s -d , -)" --dim 16 --layout interleaved-cs -o q.npy
posenc write --len 300 --dim 16 --layout interleaved-cs -o turned.npy
both='{"q":{"dtype":"F32","shape":[300,16],"data_offsets":[0,19200]},"turned":{"dtype":"F32","shape":[300,16],'
both=$both'"data_offsets":[19200,38400]}}'
{
  printf "\\$(printf %o ${#both})\\0\\0\\0\\0\\0\\0\\0" && printf %s "$both" && tail -c 19200 q.npy &&
    tail -c 19200 turned.npy
} >both.safetensors
echo '{"model_type": "llama", "head_dim": 64, "num_hidden_layers": 4, "rope_theta": 1e4}' >config.json
mkdir before
posenc verify --kernel naive --len 64 --dim 16 --format json -o before/accuracy.json
unmade=''
if [ -n "$no_timings" ]; then
  unmade='before/bench.json after/bench.json'
else
  posenc bench --kernel naive --len 64 --dim 16 --format json -o before/bench.json >out
fi
cp -r before after
times=''
[ ! -e before/bench.json ] || times='--from before/bench.json'
if [ -n "$no_pages" ]; then
  unmade="$unmade here there"
else
  posenc report --from before/accuracy.json $times -o here >out
  mkdir there
  sed 's/"cpu":"/&other /' here/report.json >there/report.json
fi
for page in --help 'help problem' $(echo "$commands" | sed 's/$/:--manual/'); do
  page=$(echo "$page" | tr : ' ')
  examples_of "$page" >"$work/lines"
  check "posenc $page has examples" test -s "$work/lines"
  lines "posenc $page" "$work/lines"
done
plan
exit "$tap_failed"
