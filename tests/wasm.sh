#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the command for WebAssembly, which "make wasm" builds, in node: what it prints, its exit status and the files
# that it writes are those of the command, for what other tests ask of both: one question of STEP, or with
# POSENC_TEST_SLOW=1 all. Malformed files are no more than an error line; large files are read in slices; and the page
# answers in a browser, without a request.
# It takes minutes, as each question starts node.
# Touched by: site/wasm inspect cli/identify.c cli/check.c cli/identified.c verify/table-exam.c
# shellcheck disable=SC2016,SC2034,SC2154 # the environment comes from make; some texts are for another shell
command=
. "${srcdir:-.}/tests/command.sh"
top=${abs_top_builddir:-$PWD}
page=$top/site/compute.html
command -v node >/dev/null || skip_all 'no node here'
{ [ -f "$top/wasm/posenc.wasm" ] && [ -f "$page" ]; } || skip_all 'make wasm has not been run'
! emulated || skip_all 'the command of another processor is tested by its own suite'
native=$POSENC
in_node="node $root/site/wasm/command.js $top/wasm"

# ---- the questions of other tests ----

# Runs instead of the command in tests: asks both, and notes what differs in $NOTES. The files that it wrote are those
# of the current folder, but for the output of tests.
cat >both <<'END'
#!/bin/sh
native() { taskset -c 0 "$NATIVE" "$@"; } # of several processors, more than one thread is used
# Kernels are those of the processor; plugins and other processes' memory are not there; "-" may be the test's input.
both() {
  for word; do [ ! -p "$word" ] || return 1; done # node's folders have no pipes
  case "$1 $* " in
    *' --plugin '* | *' - '* | *' --isa '*) false ;;
    check* | identify* | diff* | write* | list*' --config '* | list*' --problems '*) [ -z "$POSENC_ARRAYS" ] ;;
    *) false ;;
  esac
}
both "$@" || { native "$@"; exit; }
number=$(($(cat "$NOTES/number") + 1))
echo $number >"$NOTES/number"
[ $((number % STEP)) -eq 0 ] || { native "$@"; exit; }
# The environment of a record is the machine's, and its numbers have more digits than long doubles of 80 and 113 bits
# have alike.
told() { sed '/^ *"environment": {/,/}/d; s/\([0-9]\.[0-9]\{6\}\)[0-9]*/\1/g' "$1"; }
same() { told "$1" >"$1.told" && told "$2" | cmp -s - "$1.told"; }
written() {
  find . -maxdepth 1 -type f ! -name out ! -name err ! -name '*.json' -newer "$NOTES/number" -exec cksum {} + | sort
  find . -maxdepth 1 -type f -name '*.json' -newer "$NOTES/number" -exec cat {} +
}
$IN_NODE "$@" >"$NOTES/out" 2>"$NOTES/err"
echo $? >"$NOTES/status"
written >"$NOTES/files"
native "$@" >"$NOTES/native.out" 2>"$NOTES/native.err"
status=$?
echo $status >"$NOTES/native.status"
written >"$NOTES/native.files"
cat "$NOTES/native.out"
cat "$NOTES/native.err" >&2
for what in out err status files; do
  same "$NOTES/$what" "$NOTES/native.$what" && continue
  { echo "$1 $what, in $PWD: $*"; diff "$NOTES/native.$what" "$NOTES/$what" | head -6; } >>"$NOTES/different"
done
echo "$*" >>"$NOTES/asked"
exit $status
END
chmod +x both

# WebAssembly has neither tiers nor a fused multiply-add, with which glibc's sines have other bits in places.
compare() { # TEST STEP: the questions of a test, one of STEP
  notes=$work/notes-$1
  mkdir -p "$notes" && echo 0 >"$notes/number" && : >"$notes/asked" && : >"$notes/different"
  case ${POSENC_TEST_SLOW:-0} in 1) step=1 ;; *) step=$2 ;; esac
  (
    cd "$top" && NATIVE=$native NOTES=$notes STEP=$step IN_NODE=$in_node POSENC=$work/both \
      POSENC_ISA=generic GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA sh "$root/tests/$1.sh"
  ) >"$notes/log" 2>&1
  asked=$(wc -l <"$notes/asked")
  all=$((${all:-0} + asked))
  diagnose() { head -30 "$notes/different" | cut -c1-200 | sed 's/^/# /'; }
  check "$1: $asked questions have the same answers" test "$asked" -gt 0 -a ! -s "$notes/different"
}

for each in check:3 identify-command:2 causes:6 config:5 diff:4 stored:6 mistakes:20; do compare "${each%:*}" "${each#*:}"; done
check "at least 300 questions ($all)" test "$all" -ge 300

# ---- malformed files ----

# The fuzzers' seeds, what "make fuzz" has found on the way, and some bytes of each changed.
mkdir seeds broken
"$top/tests/fuzz/drive" "$work/seeds" >log 2>&1 || exit 99
ls "$top"/fuzz/corpus/* >/dev/null 2>&1 && find "$top/fuzz/corpus" -type f | head -1000 | xargs -I'{}' cp '{}' seeds/
node -e '
const fs = require("fs"), lists = [];
let random = 1;
const below = (n) => (random = (random * 48271) % 2147483647) % n;
fs.readdirSync("seeds").sort().forEach((name, n) => {
  for (let turn = 0; turn < 4; turn++) {
    let bytes = fs.readFileSync(`seeds/${name}`);
    for (let k = 0; k < turn * turn && bytes.length; k++) bytes[below(bytes.length)] = below(256);
    if (turn === 3) bytes = bytes.subarray(0, below(bytes.length + 1));
    const file = `broken/${n}-${turn}`;
    fs.writeFileSync(file, bytes);
    lists.push(["identify", file], ["check", file], ["list", "--config", file], ["diff", file, "broken/0-0"]);
  }
});
fs.writeFileSync("lists", lists.map((list) => JSON.stringify(list)).join("\n") + "\n");'
refused_well() { # no answer but a status of the command, and one line for an error
  $in_node @lists >answers 2>log &&
    node -e '
const answers = require("fs").readFileSync("answers", "utf8").trim().split("\n").map((line) => JSON.parse(line));
const asked = require("fs").readFileSync("lists", "utf8").trim().split("\n");
const wrong = answers.flatMap(({status, err}, n) => {
  const isLine = /^posenc[^\n]*\n$/.test(err);
  return status < 2 || (status === 2 && isLine) ? [] : [`# ${status} ${asked[n]}: ${err}`];
});
const refused = answers.filter(({status}) => status === 2).length;
console.log(`# ${answers.length} questions of malformed files, ${refused} refused`);
wrong.slice(0, 10).forEach((line) => console.log(line));
process.exit(wrong.length > 0 || answers.length !== asked.length ? 1 : 0);'
}
diagnose() { tail -3 log | cut -c1-300 | sed 's/^/# /'; }
check 'malformed files are no more than a line' refused_well

# ---- large files ----

# Of more than the 64 MiB that are read at once, and of a tensor that begins behind another.
"$native" write --len 140000 --dim 128 --base 500000 -o large.npy
"$native" write --len 140000 --dim 128 --base 500000 --op rope-cache -o large.safetensors
large() { # FILE ARGUMENT...
  POSENC_ISA=generic "$native" check "$@" >out 2>err
  $in_node check "$@" >node.out 2>node.err
  cmp out node.out && cmp err node.err && says '^elements'
}
diagnose() { diff out node.out | head -5 | sed 's/^/# /'; }
check 'a large file is read in slices' large large.npy --base 500000 --max-ulp 0.51
check 'and one of two tensors' large large.safetensors --tensor sin --base 500000 --part sin --max-ulp 0.51
check 'a large file that is cut is refused' eval 'head -c 70000000 large.npy >cut.npy && ! large cut.npy &&
  cmp err node.err && grep -q "^posenc check: cut.npy: its " err'

# ---- in a browser ----

for browser in "${CHROMIUM:-}" chromium chromium-browser google-chrome ''; do
  [ -n "$browser" ] && command -v "$browser" >/dev/null && break
done
if [ -z "$browser" ]; then
  skip 'the page' 'no chromium here'
  plan
  exit "$tap_failed"
fi
"$native" write --len 4096 --dim 128 --kernel recipe/annotated -o theirs.npy
"$native" write --len 300 --dim 64 --base 777 --layout split -o other.safetensors
"$native" write --len 300 --dim 64 --base 777 --layout interleaved -o "a 'b.npy"
echo '{"model_type": "llama", "hidden_size": 256, "num_attention_heads": 4, "rope_theta": 500000}' >config.json
head -c 1000 theirs.npy >cut.npy
cat >cases.json <<'END'
[[["theirs.npy"], ""], [["other.safetensors", "a 'b.npy"], ""], [["other.safetensors", "config.json"], ""],
 [["config.json"], ""], [["cut.npy"], ""], [["other.safetensors"], "--base 777 --layout split --max-ulp 0.4"],
 [[], "--dim 6 --layout split-cs"], [[], "--dim x"]]
END
look() {
  timeout 300 "$browser" --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/browser" \
    --allow-file-access-from-files --enable-logging=stderr --v=0 --dump-dom "file://$root/tests/wasm.html#$page,$work" \
    >dom 2>log
  sed -n '/<pre id="said">/,/<\/pre>/p' dom | sed "s/<[^>]*>//g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g" >seen
  grep -qx end seen
}
diagnose() { grep -e '^error' -e '^fact' seen; grep -F ':CONSOLE' log; } 2>/dev/null | sed 's/^/# /'
if ! look && ! grep -q '<html' dom; then
  skip 'the page' "$browser does not run here"
  plan
  exit "$tap_failed"
fi
# Says what the page says, by the command lines that it shows.
posenc() { "$native" "$@"; }
repeat() {
  grep '^\$ posenc' seen | while IFS= read -r line; do
    echo "$line"
    (eval "${line#\$ }") >out 2>err || :
    [ -s out ] && cat out || cat err
  done
}
export POSENC_ISA=generic GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA
repeat >expected
sed '/^fact/d; /^end$/,$d' seen >answers
check 'all cases have answers' test "$(grep -c '^\$ posenc' seen)" -eq 15
diagnose() { diff expected answers | head -20 | sed 's/^/# /'; }
check 'the page says what the command says' cmp -s expected answers
diagnose() { grep -e '^error' -e '^fact' seen | sed 's/^/# /'; }
for fact in 'nameless ' 'live 1' 'wider 0' 'points true' 'requests 0' 'refused 0' 'a request is refused 1'; do
  check "the page: $fact" grep -qx "fact $fact" seen
done
check 'no message on the console' test "$(grep -F ':CONSOLE' log | grep -cvF posenc.invalid)" -eq 0
check "it is small: $(($(wc -c <"$page") / 1000)) kB" test "$(wc -c <"$page")" -le 3000000
plan
exit "$tap_failed"
