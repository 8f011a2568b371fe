#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the posenc command: bad input gives one line, exit status 2, and no file; help and lists; files of posenc write.
# It takes 20 s: 276 calls of the command, some with timings.
# shellcheck disable=SC2016,SC2086,SC2094
. "${srcdir:-.}/tests/command.sh"
unset POSENC_ISA

# ---- bad input ----

refused() { check "refused: $(shift && echo "$*")" refused_unwritten "$@"; } # PATTERN ARGUMENT...

mkdir empty
f=empty/table.npy
refused_table() { # TEXT OPTION...: of posenc write; --len and --dim may be given again
  text=$1
  shift
  refused "$text" write --len 8 --dim 4 "$@" -o $f
}
refused_table '--dim 7: .*even' --dim 7
for dim in 0 -4; do refused_table "--dim $dim: " --dim $dim; done
refused_table '--len -1: ' --len -1
refused_table '--len 9223372036854775807: .*overflow' --len 9223372036854775807
refused_table '--len 9223372036854775808: .*64 bits' --len 9223372036854775808
refused_table '--offset 9223372036854775807: .*overflow' --offset 9223372036854775807
refused '--len 4294967296: .*overflow' write --len 4294967296 --dim 4294967296 -o $f
for base in 0 -1 -0.0; do refused_table "--base $base: .*positive" --base $base; done
for base in nan NaN inf -inf 1e400; do refused_table "--base $base: not finite" --base $base; done
for base in 1e 12x 0x10 ' 2' 1,5; do refused_table "--base $base: not a number" --base "$base"; done
refused_table "--base '': not a number" --base ''
for shift in 2 nan; do refused_table "--shift $shift: " --shift $shift; done
for ulp in 0 -1; do refused_table "--max-ulp $ulp: not above 0" --max-ulp $ulp; done
for ulp in inf nan 1e400; do refused_table "--max-ulp $ulp: not finite" --max-ulp $ulp; done
refused_table '--max-ulp half: not a number' --max-ulp half
refused_table '--max-ulp 0.25: no kernel' --max-ulp 0.25
refused_table '--max-ulp 1: no kernel' --max-ulp 1 --base 3e12
refused_table '--max-ulp 1: cannot be combined with --kernel' --max-ulp 1 --kernel rotation-portable
for len in 12x 1e3 0x10 ' 1' 1.0 - +; do refused_table "--len $len: not an integer" --len "$len"; done
refused_table "--len '': not an integer" --len ''
refused_table '--len 1?2: not an integer' --len '1
2'
for option in dim offset padding threads; do refused_table "--$option 12x: not an integer" --$option 12x; done
refused_table '--threads -1: ' --threads -1
refused_table '--layout spilt: ' --layout spilt
refused_table '--dtype f17: ' --dtype f17
refused_table "--kernel rotation-portible: no such kernel; did you mean 'rotation-portable'?" --kernel rotation-portible
refused_table "--kernel '': no such kernel" --kernel ''
refused_table '--kernel rotation-portable: .*masked' --kernel rotation-portable --isa avx2
refused_table '--kernel recurrence: ' --kernel recurrence --offset 1099511627776
refused_table '--isa sse9: ' --isa sse9
renamed() { # OLD NEW: an old name, alone and in a list, selects that kernel with a note
  posenc write --len 1 --dim 2 --kernel "$1" -o renamed.npy
  grep -qx "posenc write: kernel '$1' is now called '$2'" err || return 1
  posenc verify --kernel "naive,$1" --len 4 --dim 4 --brief --search 0
  [ $status -eq 0 ] && [ "$(cat err)" = "posenc verify: kernel '$1' is now called '$2'" ] && grep -q " $2 " out
}
check "'rotation' is rotation-portable" renamed rotation rotation-portable
check "'openmp' is rotation-threads" renamed openmp rotation-threads
check "'cr-openmp' is cr-threads" renamed cr-openmp cr-threads
check "'avx512' is rotation-avx512" renamed avx512 rotation-avx512
refused_table '--isa avx2,-avx2: ' --isa avx2,-avx2
refused_table '--format pickle: not npy or safetensors' --format pickle
refused_table "extra operand 'more'" more
refused_table "unrecognized option '--lenn'" --lenn 3
refused '--output is missing' write --len 8 --dim 4
refused '--len and --dim are missing' write -o $f
refused '--len 8: needs --dim' write --len 8 -o $f
refused '--base 5: needs --len and --dim' verify --base 5
refused '--output no/such/folder/x.npy: No such file' write --len 8 --dim 4 -o no/such/folder/x.npy
refused '--output empty: Is a directory' write --len 8 --dim 4 -o empty
if [ -c /dev/full ]; then
  refused '--output /dev/full: No space' write --len 8 --dim 4 -o /dev/full
  refused '--output /dev/full: No space' verify --kernel naive --len 8 --dim 4 -o /dev/full
  for subcommand in 'list' 'list --format json' '--help' 'write --help' '--version' 'write --len 8 --dim 4 -o -'; do
    "$POSENC" $subcommand >/dev/full 2>err
    status=$?
    : >out
    check "full standard output: $subcommand" one_line ''
  done
else
  skip 'full output' 'no /dev/full here'
fi
(ulimit -f 8 && exec "$POSENC" write --len 10000 --dim 512 -o $f) >out 2>err
status=$?
check 'a full disk amid the table' one_line ''
check 'a full disk leaves nothing' nothing_written

if sanitized || emulated; then
  skip 'memory that runs out' 'a sanitizer or an emulator, which takes more of it'
else
  # 2 million values of JSON take 80 MB, and so many numbers 400 MB.
  { printf '{"benchmarks":[' && yes 0, | head -c 6000000 | tr -d '\n' && printf '0]}'; } >many.json
  printf "\\223NUMPY\\1\\0v\\0%-117s\\n" "{'descr': '|i1', 'fortran_order': False, 'shape': (50000000,), }" >many.npy
  truncate -s 50000128 many.npy
  short() {
    (ulimit -v 100000 && exec "$POSENC" "$@") >out 2>err
    status=$?
  }
  short compare many.json many.json
  check 'no memory for JSON' one_line '^posenc compare: out of memory$'
  short write --positions @many.npy --dim 4 -o $f
  check 'no memory for numbers' one_line '^posenc write: out of memory$'
  check 'no memory leaves nothing' nothing_written
fi

refused 'a command is missing'
refused "wriet: no such command; did you mean 'write'?" wriet
refused "unrecognized option '--frobnicate'" --frobnicate
refused "extra operand 'more'" list naive more
refused '--format json: cannot be combined with --problems' list --problems --format json
refused "--problems: extra operand 'naive'" list naive --problems
refused "--encodings: extra operand 'naive'" list naive --encodings
refused "help: extra operand 'doctor'" help list doctor
refused '--output -: --save writes it, too' verify --save -
refused "--kernel zz\*: no such kernel" verify --kernel 'zz*'
refused '--format xml: ' verify --format xml
refused '--budget 0: ' verify --budget 0
refused '--seed x: ' verify --seed x
refused '--search -1: ' verify --search -1
refused '--search many: not an integer' verify --search many
refused '--kernel rotation-portable: .*masked' verify --kernel rotation-portable --isa avx2
lines_of() { "$POSENC" "$@" | wc -l; }
check 'the help of verify fits a page' test "$(lines_of help verify)" -le 50
commands=$("$POSENC" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
long_help() { for each in $commands; do [ "$(lines_of "$each" --help)" -le 55 ] || echo "$each"; done; }
check 'no help has more than 55 lines' test -z "$(long_help)"
# A short text stands alone: none is the condition, or the first example, that a longer one begins with.
cut_texts() {
  for each in $commands; do "$POSENC" "$each" --help; done |
    awk '/^  -/ { head = 1 } head { text = $0; if (sub(/^  -.*  +|^   +/, "", text)) { head = 0; print text } }' >texts
  [ "$(wc -l <texts)" -gt 170 ] || echo 'few texts'
  grep -E '^((for|with|without|of) |[0-9]|.{0,5}$)' texts
}
check 'short texts say what an option does' test -z "$(cut_texts)"
has_statuses() { # COMMAND TEXT: what its help says in short
  "$POSENC" "$1" --help | awk '/^Exit status: / { on = 1 } /^Examples:$/ { exit } on' | paste -sd ' ' | tr -s ' ' >out
  [ "$(cat out)" = "Exit status: $2" ]
}
check 'exit statuses in short' has_statuses verify '0 if every promise was kept, 1 if one was broken, 2 on bad input'
check 'of several lines' has_statuses identify \
  '0 if it is a sinusoidal positional encoding, 1 if it is not, 2 on bad input'
check 'a fourth one' has_statuses compare \
  '0 if nothing is worse, 1 if something is, 2 on bad input, 3 with --fail-undecided'
all_have() { # PATTERN: a line of all help
  "$POSENC" help problem | grep -q "$1" || return 1
  for each in $commands; do
    for page in --help --manual; do "$POSENC" "$each" $page | grep -q "$1" || return 1; done
  done
}
check 'all help tells what brackets are' all_have '^Defaults are in brackets, at the end\.$'
check 'but where there are none' eval '! "$POSENC" --help | grep "^Defaults"'
apart() { # the description is apart from the options
  for each in $commands; do
    "$POSENC" "$each" --help | grep -B 1 '^Defaults are' | head -n 1 | grep -qx '' || return 1
    ! "$POSENC" "$each" --help | grep '^ *or:' | grep -v '^  or:  posenc' || return 1
  done
}
check 'in paragraphs of the same form' apart
check 'what --config is for identify and check is told with what goes with it' eval 'for each in identify check; do
  "$POSENC" $each --help | sed -n "/^A model/,/^[A-Z].*:$/p" | grep -c "^  --\(config FILE\|layer-type\|context\) "
done | grep -c "^3$" | grep -qx 2'
check 'the manual has the rest' test "$(lines_of verify --manual)" -gt 100
named() { # OPTION...: is on the page of the problem, and only named by the help and the manual of verify
  for option; do
    "$POSENC" help problem | grep -q "^  $option " || return 1
    for page in --help --manual; do
      "$POSENC" verify $page | grep -q "^  --.* $option\( --.*\)*$" || return 1
      ! "$POSENC" verify $page | grep -q "^  $option [^-]" || return 1
    done
  done
}
check 'options of the problem have a page of their own' named --len --dtype --scaling --grid --op
check 'but what is another thing for a command is there' \
  eval '"$POSENC" write --help | grep -q "^  --op table|add|rope|rope-cache$"'
grouped() { # every option line of a page is below a heading
  "$POSENC" $1 | awk '/^[A-Z].*:$/ { heading = 1 } /^  -/ && !heading { exit 1 } /^$/ { heading = 0 }'
}
check 'options are in groups with headings' eval 'grouped "verify --help" && grouped "help problem"'
"$POSENC" help write >helped && "$POSENC" write --help >out
check 'help COMMAND is COMMAND --help' cmp helped out
wide_help() { # lines of more than 80 columns
  "$POSENC" help problem | awk 'length > 80'
  for each in $commands; do
    "$POSENC" help "$each" && "$POSENC" "$each" --manual
  done | awk 'length > 80'
}
check 'help has 80 columns' eval 'wide_help >out && [ ! -s out ]'
"$POSENC" help >helped && "$POSENC" --help >out
check 'help is --help' cmp helped out
asks() { # PAGE ARGUMENT...: prints what posenc PAGE prints
  "$POSENC" $1 >wanted
  shift
  "$POSENC" "$@" >out 2>err && cmp -s wanted out
}
for way in --manual -h 'help help' 'help --help' 'help -h' 'help help --manual'; do
  check "posenc $way is --help" asks --help $way
done
for way in problem 'problem --help' 'problem -h' 'problem --manual' 'help problem --manual' 'help problem --help'; do
  check "posenc $way is help problem" asks 'help problem' $way
done
check 'help COMMAND --manual is its manual' asks 'write --manual' help write --manual
check '--help names the page' eval '"$POSENC" --help | grep -q "^  problem  *[a-z]"'
refused "problem: extra operand 'x'" problem x
refused "help: extra operand 'x'" help problem x
refused "help: extra operand 'x'" help problem --manual x
refused "problme: no such command; did you mean 'problem'?" problme
for way in help ''; do refused 'zzzzzzzz: no such command; posenc --help lists them$' $way zzzzzzzz; done
refused "'': no such command; posenc --help" ''
refused '--kernel xqzv: no such kernel; posenc list prints them$' verify --kernel xqzv
refused "--kernel '': no such kernel; posenc list prints them$" verify --kernel ''
refused "--kernel hf-rope: no such kernel; did you mean 'recipe/hf-rope'?" verify --kernel hf-rope
for kernel in div-term libmvec-f32 sleef-f32-u10; do
  "$POSENC" verify --kernel $kernel --len 8 --dim 8 --brief --scale 6.3e-30 >out 2>&1
  if grep -q "was built without" out; then
    skip "$kernel and a tiny scale" 'it is not built'
  else
    check "$kernel and a tiny scale" says "it needs a scale.* of 2^-96 and more"
  fi
done
"$POSENC" verify --kernel div-term --len 8 --dim 8 --brief --scale 1.3e-29 >out 2>err
check 'a larger one' test $? -eq 0
"$POSENC" verify --kernel div-term --len 8 --dim 8 --brief --dtype bf16 >out
check 'rows that are rounded again have no stages' says 'stages .* # SKIP .*, and stages are of rows of f32$'
for row in 'recipe/hf-rope:of f32, which the library rounds to 16 bits' \
  'naive:of f32, which the library rounds to 16 bits and multiplies by attention factors' \
  'cr-portable:of the dtype that is asked for' \
  'rotation-portable:of the dtype that is asked for, or of f64, which the library multiplies by attention factors'; do
  "$POSENC" list "${row%%:*}" >out
  check "rows of ${row%%:*}" says "^  rows  *${row#*:}\$"
done
refused '--encoding foo: no such encoding; posenc list --encodings prints them$' verify --encoding foo
for kernel in rotation-portabl naive,rotation-portabl; do
  refused "--kernel rotation-portabl: no such kernel; did you mean 'rotation-portable'?" bench --kernel $kernel
done
refused "--kernel '': no such kernel" bench --kernel naive,
refused '--batch 0: not within 1' bench --batch 0
refused '--batch 2: cannot be combined with --op table' bench --batch 2 --len 8 --dim 4
refused '--repetitions 2: ' bench --repetitions 2
refused '--min-time 0: ' bench --min-time 0
for subcommand in bench verify 'write --len 8 --dim 4 -o empty/table.npy'; do
  for way in '' stream both; do # shellcheck disable=SC2086
    refused "--stores ${way:-''}: not auto, regular or streaming" $subcommand --stores "$way"
  done
done
refused '--min-time 1s: not a number' bench --min-time 1s
for modes in warm '' , hot, hot,,cold ho hott 'hot cold'; do
  refused "--mode ${modes:-''}: not of hot" bench --mode "$modes"
done
refused "extra operand 'more'" bench -- more
export POSENC_ISA=sse9
refused 'POSENC_ISA sse9: ' write --len 8 --dim 4 -o $f
POSENC_ISA=-generic
refused '--kernel rotation-portable: .*masked' write --len 8 --dim 4 --kernel rotation-portable -o $f
unset POSENC_ISA

# ---- help ----

# ---- man pages
page_of() { # COMMAND: prints its man page, if there is one
  cat "$abs_top_builddir/cli/posenc${1:+-$1}.1" 2>/dev/null || cat "$srcdir/cli/posenc${1:+-$1}.1" 2>/dev/null
}
plain_roff() { sed -e 's/\\-/-/g' -e 's/\\e/\\/g' -e 's/^\\&//'; }
pastes() { # COMMAND: the examples of its man page are the lines of its help
  "$POSENC" $1 "${2:---help}" | sed -n '/^Examples:/,$s/^  //p' >wanted
  page_of "$1" | sed -n '/^\.SH EXAMPLES/,/^\.fi/p' | sed '/^\./d' | plain_roff >found
  [ -s wanted ] && cmp -s wanted found
}
states_status() { # COMMAND
  page_of "$1" | grep -qx '\.SH "EXIT STATUS"'
}
refers_to_others() { # COMMAND: and not to itself
  page_of "$1" | sed -n '/^\.SH "SEE ALSO"/,$p' | plain_roff | tr -d ' ' | tr ',' '\n' >found
  [ "$(grep -c -x 'posenc[a-z-]*([17])' found)" -eq $((others + 1)) ] && ! grep -qxF "posenc${1:+-$1}(1)" found
}
names_problem() { # COMMAND: refers to the page of the problem, with the names in the same paragraph
  page_of "$1" | sed 's/\\f[BR]//g' | plain_roff | sed -n '/^Problem, see posenc-problem(7):$/,/^\./p' >found
  [ "$(sed '1d;$d' found | tr ' ' '\n' | grep -c '^--[a-z-]*$')" -gt 10 ]
}
others=$(echo "$commands" | wc -l)
if [ -n "$(page_of '')" ]; then
  for name in '' $commands; do
    check "man page of posenc $name: examples as in --manual" pastes "$name" "${name:+--manual}"
    check "man page of posenc $name: EXIT STATUS is a section" states_status "$name"
    check "man page of posenc $name: SEE ALSO names all others" refers_to_others "$name"
  done
  check 'man page of posenc verify: the options of a problem' names_problem verify
else
  skip 'man pages' 'no help2man'
fi

# help2man requires two spaces, or a new line, between an option and its description.
one_space() { grep -hE '^  -[^ ]+,? [^ ]+( [A-Z]+)? [a-z]' help.*; }

for subcommand in '' list write check diff verify bench report; do
  for option in --help -h; do
    posenc $subcommand $option
    check "posenc $subcommand $option" grep -q "^Usage: posenc ${subcommand:-COMMAND}" out
    cp out "help.$subcommand"
  done
  for option in --version -V; do
    posenc $subcommand $option
    check "posenc $subcommand $option" grep -q "^posenc${subcommand:+-$subcommand} (posenc) [0-9]*\.[0-9]*\.[0-9]*$" out
  done
done

check 'options stand apart from what they do' test -z "$(one_space)"
completes() { # WORDS ARGUMENT...: bash completes the last argument to the words
  words=$1
  shift
  bash -c '. "$0"; COMP_WORDS=(posenc "$@"); COMP_CWORD=$#; PATH=${POSENC%/*}:$PATH; _posenc; echo "${COMPREPLY[*]}"' \
    "$root/packaging/completions/posenc.bash" "$@" >out 2>err
  [ "$(cat out)" = "$words" ]
}
export POSENC
check 'completion: the words of an option' completes 'f32 f64 f16 bf16' verify --dtype ''
check 'completion: those of the subcommand' completes 'table add rope rope-cache' write --op ''
check 'completion: of several words' completes 'fresh first' bench --mode f
check 'completion: options' completes '--scale --scaling' check --sca
check 'completion: an option of the problem' completes '--padding' verify --padd
check 'completion: its words' completes 'interleaved interleaved-cs' bench --layout inter
check 'completion: a file' completes '' check ''

if command -v fish >/dev/null; then
  by_fish() { # WORD TEXT: whether fish completes the word to the text
    HOME=$work PATH=${POSENC%/*}:$PATH \
      fish -c "source '$root/packaging/completions/posenc.fish'; complete -C '$2'" >out 2>err
    grep -q "^$1\($(printf '\t')\|$\)" out
  }
  check 'fish: a command' by_fish verify 'posenc ver'
  check 'fish: an option' by_fish --dtype 'posenc verify --dt'
  check 'fish: the words of an option' by_fish bf16 'posenc verify --dtype b'
  check 'fish: kernels' by_fish cr-portable 'posenc bench --kernel cr-'
else
  skip 'completion in fish' 'no fish here'
fi
if command -v zsh >/dev/null; then
  check 'zsh: its completion can be read' zsh -n "$root/packaging/completions/_posenc"
else
  skip 'zsh: its completion can be read' 'no zsh here'
fi

# ---- list ----

posenc list
cp out all
lines=$(sed -n '2,/^$/p' all | grep -c '^[^ ]*  *\(no bound\|[^ ]* ulp[^a-z]*\|[^ ]* ulp, grows\)  *\(yes\|no\)  *[^ ]')
check 'list has a line for each kernel' test "$lines" -eq "$("$POSENC" list --format names | wc -l)"
check 'with error, whether it runs, and what it is' grep -q '^cr-portable  *0\.5 ulp  *yes  *[a-z]' all
check 'the recipes come last' test "$(sed -n '/^recipe/,/^$/p' all | grep -vc '^recipe/\|^$')" -eq 0
posenc list --isa generic -o listed
check 'list says what does not run' eval 'grep -q "^cr-avx2 .*  no  *" listed && [ ! -s out ]'
posenc list cr-portable
check 'list KERNEL says whether it runs here' grep -q '^  runs here     yes$' out
contract_lines() {
  for line in algorithm provenance ISA bound basis reproducible threads; do
    grep -q "^  $line  *[^ ]" out || return 1
  done
}
check 'and prints the whole contract' contract_lines
check 'of that one alone' test "$(grep -c '^[a-z]' out)" -eq 1
posenc list 'cr-avx2,naive*' --isa generic
check 'of several, and why not' test "$(grep -c '^[a-z]' out)$(grep -c '^  runs here     no: ' out)" = 31
check 'an old name is known' eval '"$POSENC" list cr-openmp >out 2>err && grep -q "^cr-threads: " out'
refused "cr-avx3: no such kernel; did you mean 'cr-avx2'?" list cr-avx3
posenc list --format names
cp out names
check 'list --format names is names' test "$(grep -c '^[a-z0-9-]*$' names)" -ge 7
posenc list --format json
if has_perl_json; then
  parse 'print "$_->{name}\n" for @$j; exit !$j->[0]{bound}{derived}' <out >json.names
  check 'list --format json has the same names' cmp -s names json.names
else
  skip 'list --format json has the same names' 'perl has no JSON::PP'
fi

# ---- doctor ----

posenc doctor
check 'doctor ends with a verdict' eval 'tail -n 1 out | grep -qx "Fit to publish times: \(yes\|no\)"'
check 'which is its status' test $status -eq "$(tail -n 1 out | grep -c ' no$')"
check 'and that of its checks' test $status -eq "$(grep -q '^NO ' out && echo 1 || echo 0)"
check 'it says of each whether it is so' test "$(grep -c '^\(ok \|NO \) [a-z]' out)" -eq 9
posenc doctor --format json -o doctor.json
check 'doctor --format json -o FILE' eval '[ $status -le 1 ] && [ ! -s out ] && grep -q "\"fit\": [a-z]*" doctor.json'
loops=''
for _ in $(seq "$(nproc)"); do
  (while :; do :; done) &
  loops="$loops $!"
done
posenc doctor
# shellcheck disable=SC2086 # process numbers
kill $loops
check 'on a busy machine it is not fit' eval '[ $status -eq 1 ] && grep -q "^NO  other processes " out'

# ---- output as text and as data ----

"$POSENC" verify --kernel naive,cr-portable --len 64 --dim 16 --format text >out
lines=$(grep -c '^\(naive\|cr-portable\)  *1  *[0-9][0-9]*  *0  *[0-9]*  [0-9.e-]* at p = [0-9]* of 64x16$' out)
check 'verify --format text has a line for each kernel' test "$lines" -eq 2
check 'and a sum' eval 'tail -n 1 out | grep -q "^[0-9]* passed, 0 failed, [0-9]* skipped$"'
"$POSENC" verify --kernel naive --len 64 --dim 16 >out
check 'no terminal gets TAP' grep -q '^1\.\.' out
if command -v script >/dev/null && script -qec true /dev/null >/dev/null 2>&1; then
  script -qec "'$POSENC' verify --kernel naive --len 64 --dim 16" /dev/null >out 2>&1 </dev/null
  check 'a terminal gets text' eval 'grep -q "^naive  *1 " out && ! grep -q "^1\.\." out'
  script -qec "'$POSENC' verify --kernel naive --len 64 --dim 16 --format tap" /dev/null >out 2>&1 </dev/null
  check 'and TAP on demand' grep -q '^1\.\.' out
else
  skip 'a terminal gets text' 'no script(1) here'
fi
"$POSENC" write --len 8 --dim 4 -o a.npy && "$POSENC" write --len 8 --dim 4 --base 5 -o b.npy
"$POSENC" diff a.npy b.npy >out
"$POSENC" diff a.npy b.npy -o told
status=$?
check 'diff -o' eval '[ $status -eq 1 ] && cmp -s out told'
"$POSENC" verify --kernel naive --len 8 --dim 4 --format json -o one.json
printf '1\n2\n' >list.txt
cp one.json two.json
kept() { # FILE REASON ARGUMENT...: an input that -o would replace
  cp "$1" before
  file=$1 reason=$2
  shift 2
  refused "--output $file: $reason$" "$@" -o "$file"
  check 'and is kept' cmp -s "$file" before
}
kept b.npy 'it is the file to diff' diff a.npy b.npy
kept two.json 'it is the file to compare' compare one.json two.json
kept two.json '--baseline reads it' verify --kernel naive --len 8 --dim 4 --baseline two.json
kept list.txt '--positions reads it' write --positions list.txt --dim 4
kept list.txt '--cases reads it' verify --cases list.txt
refused '--output new: --save writes it, too$' verify --kernel naive --len 8 --dim 4 --save new -o new
"$POSENC" compare one.json one.json >out && "$POSENC" compare one.json one.json -o told
check 'compare -o' cmp out told
"$POSENC" list --problems >out && "$POSENC" list --problems -o told >rest
check 'list --problems -o' eval 'cmp -s out told && [ ! -s rest ]'
check 'it lists the tables with a certificate' grep -qx '  --base 500000 --scaling llama3 --dim 128' out
for one in "diff a.npy b.npy" "compare one.json one.json" list doctor; do
  # shellcheck disable=SC2086 # words
  refused '--output no/such/x: No such file' $one -o no/such/x
done

# ---- write: every element against awk's sin and cos ----

# Reads the .npy by its specification, and prints one element per line.
elements() { # FILE TYPE LEN DIM
  [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 934e554d50590100 ] || return 1
  bytes=$((${2#f} / 8))
  length=$(od -An -tu2 -j8 -N2 "$1" | tr -d ' ')
  [ $(((length + 10) % 64)) -eq 0 ] || return 1
  head -c $((length + 10)) "$1" | tail -c "$length" |
    grep -q "^{'descr': '<f$bytes', 'fortran_order': False, 'shape': ($3, $4), } *$" || return 1
  od -An -v -w$bytes -tf$bytes -j $((length + 10)) "$1"
}
exact() { # LEN DIM BASE OFFSET SHIFT PADDING LAYOUT
  awk -v len="$1" -v dim="$2" -v base="$3" -v first="$4" -v shift="$5" -v padding="$6" -v layout="$7" 'BEGIN {
    half = dim / 2
    for (p = first; p < first + len; p++)
      for (c = 0; c < dim; c++) {
        if (layout ~ /split/) { i = c % half; second = c >= half } else { i = int(c / 2); second = c % 2 }
        cosine = (layout ~ /cs$/) ? !second : second
        angle = p * exp(-i / (half - shift) * log(base))
        printf "%.17g\n", p "" == padding ? 0 : cosine ? cos(angle) : sin(angle)
      }
  }'
}
same() { # TYPE TOLERANCE: compares the files got and exact
  [ "$(wc -l <got)" -eq "$(wc -l <exact)" ] &&
    paste got exact | awk -v tolerance="$2" '{ d = $1 - $2; if (!(d <= tolerance && -d <= tolerance)) exit 1 }'
}
written() { # NAME TYPE TOLERANCE LEN DIM BASE OFFSET SHIFT PADDING LAYOUT OPTION...
  name=$1 type=$2 tolerance=$3 len=$4 dim=$5
  shift 3
  exact "$1" "$2" "$3" "$4" "$5" "$6" "$7" >exact
  shift 7
  posenc write --len "$len" --dim "$dim" --dtype "$type" "$@" -o table.npy
  if [ $status -eq 0 ] && elements table.npy "$type" "$len" "$dim" >got && same "$type" "$tolerance"; then
    point ok "write: $name"
  else
    diagnose
    point 'not ok' "write: $name"
  fi
}
written 'the paper' f32 1e-7 50 64 10000 0 0 none interleaved
peer=$("$POSENC" list | sed -n '/^[a-z]/{s/:.*//;h;}; /^  runs here     yes/{g;p;}' |
  grep -m 1 -e '^sleef-f32' -e '^libmvec-f32')
if [ -n "$peer" ]; then
  written "$peer" f32 1e-5 50 64 10000 0 0 none interleaved --kernel "$peer"
else
  skip 'write: a competitor' 'none in this build'
fi
written 'doubles' f64 1e-12 50 64 10000 0 0 none interleaved
written 'everything at once' f32 1e-7 20 10 500000 5 1 7 split-cs \
  --base 5e5 --offset 5 --shift 1 --padding 7 --layout split-cs
written 'negative positions' f32 1e-7 20 6 10000 -10 0 none interleaved --offset -10
for layout in interleaved-cs split split-cs; do
  written "$layout" f32 1e-7 9 6 10000 0 0 none $layout --layout $layout
done
written 'several blocks' f32 1e-7 3000 400 10000 0 0 none interleaved
written 'an empty table' f32 0 0 64 10000 0 0 none interleaved
grep -v / names >selected # recipes have errors, and tests, of their own
while read -r kernel; do
  if "$POSENC" write --len 1 --dim 2 --kernel "$kernel" -o one.npy 2>/dev/null; then
    written "kernel $kernel" f32 2e-5 50 64 10000 0 0 none interleaved --kernel "$kernel"
  else
    skip "kernel $kernel" 'does not run here'
  fi
done <selected
size='--len 50 --dim 64'
"$POSENC" write $size -o a.npy && "$POSENC" write $size -o - >b.npy
check 'standard output gets the same bytes' cmp -s a.npy b.npy
"$POSENC" write $size -o a.safetensors && "$POSENC" write $size -o - --format safetensors >b.safetensors
check 'and those of a safetensors file' cmp -s a.safetensors b.safetensors
"$POSENC" write $size -o c.npy --format safetensors
check 'a format that is asked for is not that of the name' cmp -s a.safetensors c.npy
safetensors_as_specified() { # the length of the header, a JSON object with trailing spaces, then the elements
  length=$(od -An -tu8 -N8 "$1" | tr -d ' ') && [ $(((length + 8) % 64)) -eq 0 ] &&
    head -c $((length + 8)) "$1" | tail -c "$length" |
    grep -q '^{.*"pe":{"dtype":"F32","shape":\[50,64\],"data_offsets":\[0,12800\]}} *$' &&
    tail -c +$((length + 9)) "$1" >elements && tail -c 12800 a.npy | cmp -s - elements
}
check 'as the format is specified' safetensors_as_specified a.safetensors
"$POSENC" write --len 7 --dim 4 --base 5e5 --offset -3 --padding 1 --shift 0.25 --layout split -o a.safetensors
for word in '"base":"500000"' '"first":"-3"' '"padding":"1"' '"shift":"0.25"' '"layout":"split"' \
  '"options":"--len 7 --dim 4 --base 500000 --offset -3 --shift 0.25 --padding 1 --layout split"'; do
  check "its metadata tell $word" grep -q -a -F -e "$word" a.safetensors
done
if "$POSENC" write --len 3000 --dim 512 --kernel rotation-threads --threads 1 -o one.npy 2>/dev/null; then
  "$POSENC" write --len 3000 --dim 512 --kernel rotation-threads --threads 3 -o three.npy
  check 'threads change no bit' cmp -s one.npy three.npy
else
  skip 'threads change no bit' 'rotation-threads does not run here'
fi

"$POSENC" write $size --kernel cr-portable -o one.npy && "$POSENC" write $size --max-ulp 0.5 -o two.npy
check 'within half an ulp it is correctly rounded' cmp -s one.npy two.npy

"$POSENC" write --len 3000 --dim 512 --stores regular -o one.npy &&
  "$POSENC" write --len 3000 --dim 512 --stores streaming -o two.npy
check 'stores change no bit' cmp -s one.npy two.npy
"$POSENC" verify --kernel cr-portable --len 64 --dim 64 --stores streaming >out
check 'verify takes --stores' test $? -eq 0

mkdir links
ln -s links/first link
ln -s second links/first
"$POSENC" write --len 50 --dim 64 -o link
check 'a link is followed, though there is nothing at its end' test -L link -a -L links/first -a -f links/second
check 'and the table is there' cmp -s a.npy links/second
"$POSENC" write --len 5 --dim 64 -o link
check 'a link to a file stays one' test -L link -a "$(wc -c <links/second)" -lt "$(wc -c <a.npy)"
ln -s circle circle
refused '--output circle: ' write --len 5 --dim 64 -o circle

if script -qec true /dev/null >out 2>&1 </dev/null; then
  script -qec "'$POSENC' write --len 1 --dim 2 -o -" /dev/null >out 2>&1 </dev/null
  status=$?
  check 'no table on a terminal' test $status -eq 2
  check 'which is told in a line' grep -q 'output -: .*terminal' out
else
  skip 'no table on a terminal' 'no script(1) here'
fi

# A write that is interrupted, on a terminal of that width, prints lines of progress.
slow='--len 2000000 --dim 512 --kernel naive-f64'
progress() { # COLUMNS
  slow_write="'$POSENC' write $slow -o /dev/null"
  for seconds in 3 30; do # the pace is told from the first second on
    TERM=xterm script -qec "stty cols $1; timeout $seconds $slow_write" /dev/null </dev/null 2>&1 |
      tr '\r' '\n' | sed "s/$(printf '\033')\[K//g" | grep '^write: ' >lines
    ! grep -q ' left$' lines || break
  done
}
figures='[0-9]*\.[0-9]/1\.0 G elements, [0-9.]* [kM]/s, [0-9]*:[0-9][0-9] left$'
if script -qec 'stty cols 100' /dev/null >out 2>&1 </dev/null; then
  progress 100
  check 'progress: a bar, elements, pace and time left' grep -q "^write: /dev/null \[#*-*\] $figures" lines
  check 'no wider than the terminal' test "$(awk 'length > 99' lines | wc -l)" -eq 0
  progress 52
  check 'without a bar where there is no room for it' grep -q "^write: [a-z/]* $figures" lines
  check 'and no wider, either' test "$(awk 'length > 51' lines | wc -l)" -eq 0
else
  skip 'progress on a terminal' 'no script(1) or stty(1) here'
fi

goes_on() { # ARGUMENT...: the elements that are done never become fewer within a stage
  TERM=xterm script -qec "'$POSENC' $*" /dev/null </dev/null 2>&1 | tr '\r' '\n' |
    sed -n "s|.*\(verify[a-z: ]*\):.* \([0-9.]*\)/\([0-9.]*\) [kMG]* *elements.*|\1 \3 \2|p" >lines
  [ -s lines ] && awk '$0 !~ /^verify/ || ($1 $2 $3 == stage && $NF < done) { exit 1 } { stage = $1 $2 $3; done = $NF }' lines
}
if script -qec 'stty cols 100' /dev/null >out 2>&1 </dev/null; then
  check 'progress never runs backwards' goes_on verify --kernel naive,naive-f64,cr-portable --len 40000 --dim 128
  check 'nor where errors are measured before' goes_on verify --kernel naive --len 20000 --dim 128 --propose-bound
else
  skip 'progress never runs backwards' 'no script(1) or stty(1) here'
fi

find_numpy
if [ -n "${numpy:-}" ]; then
  "$POSENC" write --len 5 --dim 6 --dtype f64 -o a.npy
  check 'numpy.load reads it' "$numpy" -c '
import numpy as n
t = n.load("a.npy")
p, i = n.arange(5)[:, None], n.arange(3)[None, :]
a = p * 10000.0 ** (-2 * i / 6)
assert t.dtype == n.float64 and t.shape == (5, 6)
assert n.allclose(t[:, 0::2], n.sin(a), rtol=0, atol=1e-14) and n.allclose(t[:, 1::2], n.cos(a), rtol=0, atol=1e-14)'
  "$POSENC" write --len 50 --dim 6 --dtype f16 -o a.npy
  "$POSENC" write --len 50 --dim 6 --dtype f64 -o b.npy
  check 'f16 too, rounded as numpy rounds' "$numpy" -c '
import numpy as n
t = n.load("a.npy")
assert t.dtype == n.float16 and (t == n.load("b.npy").astype(n.float16)).all()'
  "$POSENC" write --len 50 --dim 6 --dtype bf16 -o a.npy
  check 'and bf16, as raw data: the upper half of an f32' "$numpy" -c '
import numpy as n
t = n.load("a.npy")
assert t.dtype == n.dtype("V2") and t.shape == (50, 6)
wide = (t.view(n.uint16).astype(n.uint32) << 16).view(n.float32)
assert n.allclose(wide, n.load("b.npy"), rtol=2.0**-8, atol=0)'
else
  skip 'numpy.load reads it' 'no numpy here'
  skip 'f16 too, rounded as numpy rounds' 'no numpy here'
  skip 'and bf16, as raw data: the upper half of an f32' 'no numpy here'
fi

# ---- interrupts ----

# Runs a command in the foreground, because shells let commands in the background ignore SIGINT. Sends the signal when
# the condition is true. Sets $status.
interrupt() { # SIGNAL CONDITION COMMAND...
  signal=$1 condition=$2
  shift 2
  rm -f pid
  (
    until [ -s pid ]; do sleep 0.01; done
    until eval "$condition"; do
      kill -0 "$(cat pid)" 2>/dev/null || exit
      sleep 0.01
    done
    kill -s "$signal" "$(cat pid)"
  ) &
  sh -c 'echo $$ >pid; exec "$@"' sh "$@" >out 2>err
  status=$?
  wait
}
# ---- files to read: opening a pipe with a name waits for its writer

mkfifo fifo
echo '{}' >record.json
not_awaited() { # ARGUMENT...
  timeout 60 "$POSENC" "$@" >out 2>err
  status=$?
  one_line 'fifo: it is no regular file$'
}
for command in 'check fifo' 'merge fifo fifo' 'compare record.json fifo' 'compare fifo record.json' \
  'report --from fifo -o page' 'report fifo fifo -o page' 'verify --kernel naive --len 8 --dim 8 --baseline fifo' \
  'verify --kernel naive --len 8 --dim 8 --format json --shard 1/2 -o fifo --resume'; do
  check "a pipe is refused: $command" not_awaited $command
done
for command in 'write --positions fifo --dim 4 -o table.npy' 'check --positions fifo table.npy' \
  'verify --kernel naive --cases fifo' 'choose --len 8 --dim 4 --keep fifo'; do
  case $command in choose*) if emulated || "$POSENC" bench --kernel naive --len 8 --dim 4 2>&1 |
    grep -q 'without Google Benchmark'; then continue; fi ;; esac
  check "likewise: $command" not_awaited $command
done
rm fifo record.json

mkdir kept
# Whether a new file in that folder, under its temporary name, is larger.
has_written() { # FOLDER BYTES
  [ -n "$(find "$1" -name '.*.npy.*' -size +"$2"c 2>/dev/null)" ]
}
interrupted() { # SIGNAL
  interrupt "$1" 'has_written empty 100000' "$POSENC" write $slow -o $f
  [ $status -gt 128 ] && nothing_written
}
# A program started by nohup or in the background has signals ignored, and so have its commands.
heeded() { ! sh -c 'kill -s "$1" $$' sh "$1" 2>/dev/null; } # SIGNAL
for signal in INT TERM HUP; do
  if heeded $signal; then
    check "SIG$signal leaves no file" interrupted $signal
  else
    skip "SIG$signal leaves no file" 'it is ignored here'
  fi
done
echo old >kept/old.npy
interrupt TERM 'has_written kept 100000' "$POSENC" write $slow -o kept/old.npy
check 'an interrupt leaves the old file' \
  test $status -gt 128 -a "$(cat kept/old.npy)" = old -a "$(ls -A kept)" = old.npy
check 'no progress in a pipe' test "$(grep -c elements err)" -eq 0

plan
