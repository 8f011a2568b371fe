#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the command for WebAssembly, which "make wasm" builds, in node and in Chromium: what it prints, its exit status
# and the files that it writes are those of the command, for what other tests ask: more than 300 questions, or with
# POSENC_TEST_SLOW=1 all. Malformed files are no more than an error line. The page answers for files that are dropped on
# it, one of 1 GiB too, and asks nobody. tests/wasm.js asks, all of one program and in one page, as starts are dear.
# Touched by: doc/site/wasm inspect cli/identify.c cli/check.c cli/identified.c verify/row-exam.c verify/table-exam.c
# Touched by: tests/wasm.js
# shellcheck disable=SC2012,SC2016,SC2034,SC2097,SC2098,SC2154 # the environment comes from make; some texts are for another shell
command=
. "${srcdir:-.}/tests/command.sh"
top=${abs_top_builddir:-$PWD}
page=$top/doc/site/compute.html
command -v node >/dev/null || skip_all 'no node here'
{ [ -f "$top/wasm/posenc.wasm" ] && [ -f "$page" ]; } || skip_all 'make wasm has not been run'
! emulated || skip_all 'the command of another processor is tested by its own suite'
for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do
  [ -n "$browser" ] && command -v "$browser" >/dev/null && break
done
by_node() { # WORD FOLDER [BROWSER]: for tests/wasm.js, whose lines are then in `facts`
  timeout 3000 node "$root/tests/wasm.js" "$1" "$root" "$top" "$work/$2" ${3:+"$3"} >facts 2>log
}
fact() { sed -n "s/^fact $1 //p" facts; }
diagnose() { { grep '^bad' facts; tail -5 log; } | cut -c1-300 | sed 's/^/# /'; }

# ---- the questions of other tests ----

# Runs instead of the command in tests, and records one of STEP questions: its words, what is printed, and the files
# that the words name, before and after.
cat >record <<'END'
#!/bin/sh
native() { taskset -c 0 "$NATIVE" "$@"; } # of several processors, more than one thread is used
# Not there: kernels of this processor, plugins, pipes, links, other processes' memory, a test's input ("-"), words that
# are no UTF-8, and columns of more than 64 MiB.
is_asked() {
  for word; do
    [ ! -p "$word" ] && [ ! -h "$word" ] || return 1
    [ ! -f "$word" ] || [ -z "$(find "$word" -links +1 -o -size +64M)" ] || return 1
  done
  printf '%s\n' "$*" | iconv -f utf-8 -t utf-8 >/dev/null 2>&1 || return 1
  case "$1 $* " in
    *' --plugin '* | *' - '* | *' --isa '*) false ;;
    check* | identify* | diff* | write* | list*' --config '* | list*' --problems '*) [ -z "$POSENC_ARRAYS" ] ;;
    *) false ;;
  esac
}
is_asked "$@" || { native "$@"; exit; }
number=$(($(cat "$NOTES/number") + 1))
echo $number >"$NOTES/number"
[ $((number % STEP)) -eq 0 ] || { native "$@"; exit; }
note=$NOTES/asked/$TEST-$number
mkdir -p "$note/before" "$note/after"
printf '%s\0' "$@" >"$note/words"
pwd >"$note/folder"
keep() { # FOLDER WORD...: copies the files that differ from those before
  to=$note/$1
  shift
  for word; do
    case $word in /*) ;; *) word=$PWD/$word ;; esac
    [ ! -f "$word" ] || cmp -s "$word" "$note/before$word" || cp --parents "$word" "$to"
  done
}
keep before "$@"
native "$@" >"$note/out" 2>"$note/err"
status=$?
echo $status >"$note/status"
keep after "$@"
cat "$note/out"
cat "$note/err" >&2
exit $status
END
chmod +x record && mkdir -p notes/asked || exit 99

# WebAssembly has neither tiers nor a fused multiply-add, with which glibc's sines have other bits in places.
record_of() { # TEST STEP
  echo 0 >notes/number
  (
    cd "$top" && NATIVE=$POSENC NOTES=$work/notes TEST=$1 STEP=$2 POSENC=$work/record \
      POSENC_ISA=generic GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA sh "$root/tests/$1.sh"
  ) >"$1.log" 2>&1
}
case ${POSENC_TEST_SLOW:-0} in
  1) tests='check:1 config:1 diff:1 identify-command:1 stored:1 causes:1 mistakes:1' ;;
  *) tests='check:3 config:4 diff:1 identify-command:1' ;;
esac
for each in $tests; do record_of "${each%:*}" "${each#*:}"; done
count=$(ls notes/asked | wc -l)
check "at least 300 questions ($count)" test "$count" -ge 300
answers_in() { by_node questions notes/asked "${2-}" && [ "$(fact "$1:")" = "$count answers are the command's" ]; }
check 'node answers as the command does' answers_in node
if [ -n "$browser" ]; then
  check "so does $browser" answers_in Chromium "$browser"
else
  skip 'the browser' 'no chromium here'
fi

# ---- malformed files: the fuzzers' seeds, mutations of them, and what "make fuzz" has found on the way ----

mkdir broken && "$top/tests/fuzz/drive" broken 2000 || exit 99
find "$top/fuzz/corpus" -type f 2>/dev/null | head -1000 | xargs -r -I'{}' cp '{}' broken/
check 'malformed files are no more than a line' by_node malformed broken
sed -n 's/^fact/#/p' facts
check 'they are more than 2000' test "$(ls broken | wc -l)" -gt 2000

# ---- the page ----

check "it is small: $(($(wc -c <"$page") / 1000)) kB" test "$(wc -c <"$page")" -le 3000000
mkdir files && cd files || exit 99
"$POSENC" write --len 4096 --dim 128 --kernel recipe/annotated -o theirs.npy
"$POSENC" write --len 300 --dim 64 --base 777 --layout split -o other.safetensors
"$POSENC" write --len 300 --dim 64 --base 777 --layout interleaved -o "a 'b.npy"
echo '{"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "rope_theta": 500000}' >config.json
head -c 1000 theirs.npy >cut.npy
# More than the 64 MiB that are read at once, of which the tensor lies behind another.
"$POSENC" write --len 140000 --dim 128 --op rope-cache -o large.safetensors
head -c 70000000 large.safetensors >short.safetensors
"$POSENC" write --len 4194304 --dim 64 -o giga.npy
cat >cases.json <<'END'
[[["theirs.npy"], ""], [["other.safetensors", "a 'b.npy"], ""], [["other.safetensors", "config.json"], ""],
 [["config.json"], ""], [["cut.npy"], ""], [["other.safetensors"], "--base 777 --layout split --max-ulp 0.4"],
 [[], "--dim 6 --layout split-cs"], [[], "--dim x"],
 [["large.safetensors"], "--tensor sin --part sin --max-ulp 0.51"], [["short.safetensors"], "--tensor sin"],
 [["giga.npy"], "--max-ulp 0.51"]]
END
cd ..
if [ -z "$browser" ] || { by_node page files "$browser"; [ $? -eq 77 ]; }; then
  skip 'the page' 'no chromium runs here'
  plan
  exit "$tap_failed"
fi
check 'it is used to the end' test -n "$(fact seen)"
check 'nothing is wrong' lacks facts 'bad '
cd files || exit 99
posenc() { "$POSENC" "$@"; }
export POSENC_ISA=generic GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA
grep '^\$ posenc' ../facts | while IFS= read -r line; do # says what the page says, by the command lines that it shows
  echo "$line"
  (eval "${line#\$ }") >out 2>err || :
  if [ -s out ]; then cat out; else cat err; fi
done >../expected
cd .. && sed '/^fact/d; /^heard/d; /^bad/d' facts >answers
check 'all cases have answers' test "$(grep -c '^\$ posenc' answers)" -eq 23
check 'among them that of 1 GiB' contains answers 'elements        268435456, each compared with the exact value'
diagnose() { diff expected answers | head -20 | sed 's/^/# /'; }
check 'the page says what the command says' cmp -s expected answers
diagnose() { grep -e '^fact' -e '^bad' -e '^heard' facts | cut -c1-200 | sed 's/^/# /'; }
is() { [ "$(fact "$1")" = "$2" ]; }
check 'keys lead to all fields' is keys 'files, options, row, Compute'
check 'and ask' is 'by keys' true
check 'and unfold an answer' eval 'fact unfolded | grep -q "^posenc write --len 1 --dim 6 "'
heard() { grep -qxE "heard $1" facts; }
for what in 'status \(polite\): ' 'heading: Is it right' 'table: 128 columns' 'region: exact values' 'button: Stop' \
  'image: Largest absolute error: .*from position 2048 on' 'DisclosureTriangle: posenc check theirs.npy'; do
  check "a screen reader says $what" heard "$what"
done
check 'and a name of all that is operated' eval '
  ! grep -E "^heard (textbox|spinbutton|button|image|region|table|Disclosure.*|heading): $" facts'
check 'nothing is wider than a phone' is wider 0
check 'nothing is asked for' is requests ''
check 'a request is refused' is refused https://posenc.invalid/
check 'and would have been seen' is seen https://posenc.invalid/
check 'no message on the console' is messages ''
check 'memory is told' eval 'fact "state of giga.npy" | grep -qE "^Done in .* s, with [0-9]+ MB of memory\.$"'
giga=$(fact 'state of giga.npy' | sed 's/.*with //; s/ MB.*//')
check "1 GiB takes ${giga:=0} MB, and the browser's process $(($(fact memory) / 1000)) MB" \
  test "$giga" -ge 64 -a "$giga" -le 256 # 64 MiB are read at once
first=$(fact 'first answers' | cut -d' ' -f1)
answer="the first answer of 4096x128 within a second ($first ms; of five: $(fact 'first answers'))"
if [ "$first" -le 1000 ] || [ "$(cut -d. -f1 /proc/loadavg)" -lt "$(nproc)" ]; then
  check "$answer" test "$first" -le 1000
else
  skip "$answer" 'the processors are busy'
fi
plan
exit "$tap_failed"
