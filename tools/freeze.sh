#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes a line for each of many inputs, with the exit status and a digest of the answer, so that a change of the design
# can be held to changing nothing: run it with a build of before and one of after, and compare the files.
#
#   tools/freeze.sh [-b BUILD] [-k KERNEL,...] [-r RECORDS] [-o FILE] [PART...]
#
# BUILD: a build folder (build). KERNEL: kernels of the parts tables and verify (all). RECORDS: a folder of records that
# reports are made from (BUILD/freeze); the first run makes them, and both builds need the same. FILE: instead of
# standard output. PART: tables, verify, bench, files, report, help or mutations (all). Answers are those of one machine
# and its libraries. Facts of the build, dates and times are left out. All parts take four minutes of one processor. On
# a busy machine, bench may accuse a kernel of a wrong clock, and has no times of it then.
set -eu
export LC_ALL=C
usage() {
  sed -n 's/^#   tools/Usage: tools/p' "$0" >&2
  exit 2
}
build=build kernels='' kept='' file=''
while getopts b:k:r:o: option; do
  case $option in
  b) build=$OPTARG ;;
  k) kernels=$OPTARG ;;
  r) kept=$OPTARG ;;
  o) file=$OPTARG ;;
  *) usage ;;
  esac
done
shift $((OPTIND - 1))
for part in "$@"; do
  case $part in tables | verify | bench | files | report | help | mutations) ;; *) usage ;; esac
done
parts=" ${*:-tables verify bench files report help mutations} "
root=$(cd "$(dirname "$0")/.." && pwd)
posenc=$(cd "$build" && pwd)/run/posenc # less work than what libtool makes
[ -x "$posenc" ] || { echo "freeze: no $posenc" >&2; exit 2; }
kept=${kept:-$build/freeze}
kept=$(mkdir -p "$kept" && cd "$kept" && pwd)
[ -z "$file" ] || exec >"$file"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
cd "$work"
kernels=$("$posenc" list ${kernels:+"$kernels"} --format names)

wanted() { # PART
  case $parts in *" $1 "*) ;; *) false ;; esac
}
# Prints the name, the exit status and the digest of the file out. Ends if the command could not be run.
print_line() { # NAME STATUS
  case $2 in 126 | 127) echo "freeze: $1: the program cannot be run, or was made anew meanwhile" >&2 && exit 2 ;; esac
  digest=$(sha256sum out)
  echo "$1 $2 ${digest%"${digest#????????????????????????????????}"}"
}
# Prints the name, the exit status and the digest of what a command writes, on stdout and stderr.
answer() { # NAME COMMAND...
  name=$1 status=0
  shift
  "$@" >out 2>&1 || status=$?
  print_line "$name" "$status"
}
# The same, of texts of verify. Checks of other problems and calls end by time of the processor, not by a count, and
# draw from one sequence of random numbers: what was worst and how much was compared differs from run to run for these
# properties, and is left out; so are proposed bounds, which are twice the worst of what was drawn.
timed='memory extension threads environment read-only positions widths heads alignment call-size decoding plans'
timed="$timed endurance domain cpus leak in-place batch index"
text() { # NAME COMMAND...
  name=$1 status=0
  shift
  "$@" >raw 2>&1 || status=$?
  sed -E -e "s/ ($(echo "$timed" | tr ' ' '|')) (.*): worst .* compared/ \\1 \\2/" \
    -e 's/[0-9]+ elements of/elements of/; s/\.bound = .*\.max/.bound .max/' raw >out
  print_line "$name" "$status"
}
# The same, of JSON without the environment, seconds and the path of the program.
cat >plain.py <<'END'
import json, sys
volatile = {"environment", "date", "seconds", "load", "context", "elapsed", "command", "version", "build"}
timed = set(sys.argv[1:])
def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in sorted(x.items())
                if k not in volatile and not (k in ("compared", "worst") and x.get("property") in timed)}
    return [plain(v) for v in x] if isinstance(x, list) else x
try:
    print(json.dumps(plain(json.load(sys.stdin)), indent=1))
except ValueError:
    print("no JSON")
END
json() { # NAME COMMAND...
  name=$1 status=0
  shift
  "$@" >raw 2>words || status=$?
  # shellcheck disable=SC2086 # words
  python3 plain.py $timed <raw >out
  cat words >>out
  print_line "$name" "$status"
}

# ---- tables: kernels, the published shapes (of long ones the last 64 rows) and others, dtypes

shapes='--len 64 --dim 128 --offset 936 --shift 1 --layout split
--len 64 --dim 512 --offset 4294967488
--len 64 --dim 512 --offset 1099511627968
--len 197 --dim 768 --offset=-1 --padding=-1 --layout split --grid h=14,w=14,columns=wh,grouped=yes
--len 64 --dim 512 --shift 1 --layout split --padding 1
--len 64 --dim 768 --offset 960
--len 64 --dim 768 --offset 1436 --shift 1 --layout split
--len 64 --dim 512 --offset 4936
--len 16 --dim 4096 --offset 32752
--len 64 --dim 1024 --offset 131008
--len 64 --dim 512
--len 64 --dim 512 --offset 65472
--len 64 --dim 128 --offset 4032 --op rope-cache
--len 64 --dim 128 --offset 4544 --op rope-cache --base 1e6 --grid t=8,h=18,w=32,pairs=16:24:24,frequencies=continued
--len 64 --dim 128 --offset 131008 --op rope-cache --base 5e5
--len 64 --dim 128 --offset 4032 --layout split-cs --scale 0.5
--len 64 --dim 128 --offset 4032 --layout split-cs --scaling linear,factor=4
--len 64 --dim 128 --offset 4032 --layout split-cs --scaling dynamic,factor=2,original=2048,length=4096
--len 64 --dim 128 --offset 4032 --layout split-cs --scaling yarn,factor=16,original=4096
--len 64 --dim 128 --offset 8128 --layout split-cs --base 5e5 --scaling llama3,factor=8,original=8192,low=1,high=4
--len 64 --dim 8 --offset 4032 --layout split-cs --scaling longrope,factor=32,original=4096,factors=1:1.5:8:64
--len 33 --dim 66 --offset=-16 --layout interleaved-cs
--len 40 --dim 128 --offset 1048000
--len 33 --dim 65 --odd pad
--len 33 --dim 65 --odd ceil
--positions 5,1,-7,2.5 --dim 64'
tables() {
  for kernel in $kernels; do
    echo "$shapes" | while read -r shape; do
      for dtype in f32 f64 f16 bf16; do
        # shellcheck disable=SC2086 # words
        answer "table $kernel $dtype $shape" "$posenc" write --kernel "$kernel" --dtype $dtype $shape -o - </dev/null
      done
    done
  done
  for encoding in integer binary alibi; do
    answer "table of $encoding" "$posenc" write --encoding $encoding --len 60 --dim 16 -o -
    answer "$encoding of heads" "$posenc" write --encoding $encoding --len 60 --heads 6 -o -
  done
}

# ---- verify: kernels in all published shapes and operations, in brief; some kernels in some problems, in full

# A busy machine must not make a kernel count as hung: no limit of time is near.
checked() { # OPTION...
  "$posenc" verify --time-limit 600 "$@"
}
verify() {
  for kernel in $kernels; do
    json "verify $kernel" checked --kernel "$kernel" --brief --budget 2000 --format json
    case $kernel in cr-portable | rotation-portable | naive | cached) ;; *) continue ;; esac
    for problem in '--len 300 --dim 96' '--len 64 --dim 64 --op rope --heads 3' '--len 64 --dim 64 --op add' \
      '--len 100 --dim 64 --dtype bf16' '--len 100 --dim 64 --scaling yarn,factor=4,original=32' \
      '--grid h=8,w=9 --dim 64' '--positions golden --dim 64' '--len 64 --dim 65 --odd ceil' \
      '--len 200 --dim 32 --explain --profile' '--len 3000 --dim 64 --budget 5000 --seed 7'; do
      # shellcheck disable=SC2086 # words
      json "verify $kernel $problem" checked --kernel "$kernel" $problem --format json
    done
  done
  for format in text tap junit; do
    text "verify $format" checked --kernel cr-portable,naive --len 64 --dim 64 --brief --format "$format"
  done
  for encoding in integer binary learned alibi dropout; do
    json "verify $encoding" "$posenc" verify --encoding $encoding --format json
  done
  cp "$root/reference/worst/base10000-d128.wc" cases.wc # its path is in the lines that show a case again
  json 'verify cases' checked --kernel cr-portable,naive --cases cases.wc --format json
  text 'verify proposes' checked --kernel naive --len 64 --dim 64 --propose-bound --format text
  for n in 1 2 3; do
    checked --kernel 'naive*,cr-portable' --len 300 --dim 64 --format json --shard $n/3 -o $n.json 2>words || :
    json "shard $n" cat $n.json
  done
  "$posenc" merge 1.json 2.json 3.json -o merged.json 2>words || :
  json merge cat merged.json
  json 'merge of some' "$posenc" merge 1.json 3.json
  sed 's/"max_ulp": [0-9.]*/"max_ulp": 0.1/' merged.json >better.json
  answer compare "$posenc" compare better.json merged.json --all
  text baseline checked --kernel naive --len 64 --dim 64 --save saved.json --format tap
  json 'baseline saved' cat saved.json
  text 'baseline kept' checked --kernel naive --len 64 --dim 64 --baseline saved.json --format tap
  sed -i 's/"max_ulp": [0-9.]*/"max_ulp": 0.1/' saved.json
  text 'baseline broken' checked --kernel naive --len 64 --dim 64 --baseline saved.json --format text
}

# ---- bench: what is timed, with which fields, and which checks are kept

bench() {
  while read -r modes problem; do
    status=0
    # shellcheck disable=SC2086 # words
    "$posenc" bench --len 16 $problem --mode "$modes" --repetitions 3 --min-time 0.00001 --format json -o bench.json \
      >out 2>&1 || status=$?
    echo "bench $modes $problem $status"
    python3 -c '
import json
record = json.load(open("bench.json"))
print("bench context", *sorted(set(record["context"]) - {"others"}))  # what others used is not always known
for check in record["context"].get("checks", []):
    print("bench check", check["kernel"], check["check"], check["ok"])
for row in record["benchmarks"]:
    print("bench", row["name"], *sorted(row))' | sort -u
  done <<END
hot,cold,fresh,malloc,offset,first,row,plan --kernel cr-portable,naive --dim 32
hot,plan --kernel cr-portable,naive --dim 32 --dtype bf16
hot,offset,plan --kernel cr-portable,naive --dim 32 --op add --batch 2
hot,offset,plan --kernel cr-portable,naive --dim 32 --op rope --heads 2
hot,first --kernel cr-portable,naive --dim 32 --op rope-cache
hot --encoding alibi --heads 2
END
}

# ---- files: check, identify, diff

file() { # NAME OPTION...
  name=$1
  shift
  "$posenc" write "$@" -o "$name"
}
# x turned by the angles of rope, or with them added, in double; by halves or neighbours.
cat >apply.py <<'END'
import ast, math, struct, sys
def read(name):
    data = open(name, "rb").read()
    end = 10 + struct.unpack("<H", data[8:10])[0]
    shape = ast.literal_eval(data[10:end].decode())["shape"]
    return data[:end], shape, struct.unpack(f"<{math.prod(shape)}f", data[end:])
how, name, out = sys.argv[1:]
head, (_, rows, heads, dim), x = read(name)
y = list(x)
for at in range(0, len(x), dim):
    p = at // dim // heads
    for i in range(dim // 2):
        a, b = (at + i, at + i + dim // 2) if how == "halves" else (at + 2 * i, at + 2 * i + 1)
        angle = p * 10000.0 ** (-2 * i / dim) * (-1 if how == "back" else 1)
        s, c = math.sin(angle), math.cos(angle)
        y[a], y[b] = (x[a] + s, x[b] + c) if how == "add" else (x[a] * c - x[b] * s, x[a] * s + x[b] * c)
open(out, "wb").write(head + struct.pack(f"<{len(y)}f", *y))
END
make_files() {
  file plain.npy --len 512 --dim 64
  file split.npy --len 512 --dim 64 --layout split
  file cs.npy --len 512 --dim 64 --layout interleaved-cs
  file base.npy --len 512 --dim 64 --base 10001
  file model.npy --len 512 --dim 64 --base 5e5 --layout split-cs
  file offset.npy --len 512 --dim 64 --offset 1
  file shift.npy --len 512 --dim 64 --shift 1
  file scale.npy --len 512 --dim 64 --scale 0.5
  file padded.npy --len 512 --dim 64 --padding 2
  file f32.npy --len 512 --dim 64 --kernel div-term
  file far.npy --len 64 --dim 64 --offset 1000000 --kernel recipe/hf-rope --layout split-cs
  file yarn.npy --len 512 --dim 64 --scaling yarn,factor=4,original=128
  file linear.npy --len 512 --dim 64 --scaling linear,factor=8
  file llama3.npy --len 512 --dim 64 --base 5e5 --scaling llama3,factor=8,original=64
  file odd.npy --len 512 --dim 65 --odd pad
  file small.npy --len 4 --dim 8
  file bf16.safetensors --len 512 --dim 64 --dtype bf16
  file f16.safetensors --len 512 --dim 64 --dtype f16
  file f64.npy --len 512 --dim 64 --dtype f64
  file cache.safetensors --len 512 --dim 64 --op rope-cache
  file grid.safetensors --grid h=16,w=16 --dim 64
  file list.npy --positions 3,1,4.5,-1,9,26 --dim 64
  file integer.npy --encoding integer --len 60 --dim 16
  file alibi.npy --encoding alibi --len 60 --heads 8
  head -c 1000 plain.npy >cut.npy
  head -c 20000 f16.safetensors >cut.safetensors
  : >empty.npy
  tr 'N' 'M' <plain.npy >other.npy
  (head -c 40000 plain.npy && head -c 4000 /dev/zero && tail -c +44001 plain.npy) >damaged.npy
}
check_file() { # FILE
  json "check $1" "$posenc" check "$1" --format json
  json "identify $1" "$posenc" identify "$1" --format json
  answer "check $1 text" "$posenc" check "$1" --max-ulp 1 --format text
  answer "identify $1 text" "$posenc" identify "$1"
}
cat >config.json <<'END'
{"model_type": "llama", "head_dim": 64, "rope_theta": 500000.0, "max_position_embeddings": 512, "rope_scaling":
 {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
  "original_max_position_embeddings": 64}}
END
files() {
  make_files
  for name in *.npy *.safetensors; do
    check_file "$name"
    answer "check $name tap" "$posenc" check "$name" --format tap
    answer "check $name junit" "$posenc" check "$name" --max-abs 1e-6 --format junit
    answer "check $name config" "$posenc" check "$name" --config config.json
    answer "identify $name config" "$posenc" identify "$name" --config config.json
    answer "identify $name as config" "$posenc" identify "$name" --as-config
    answer "identify $name expect" "$posenc" identify "$name" --expect base=500000
    answer "diff $name" "$posenc" diff plain.npy "$name"
  done
  for more in '--base 10001' '--layout split' '--max-ulp 1' '--offset 1' '--scaling linear,factor=2' '--shift 1'; do
    # shellcheck disable=SC2086 # words
    answer "check $more" "$posenc" check f32.npy $more
  done
  for recipe in $("$posenc" list 'recipe/*' --format names); do
    "$posenc" write --kernel "$recipe" --len 512 --dim 64 -o recipe.npy 2>out ||
      "$posenc" write --kernel "$recipe" --len 512 --dim 64 --layout split-cs -o recipe.npy 2>out ||
      { print_line "$recipe" 2; continue; }
    for command in 'check --max-ulp 1' identify; do
      # shellcheck disable=SC2086 # words
      json "$command $recipe" "$posenc" $command recipe.npy --format json
    done
  done
  "$posenc" probe --len 24 --heads 2 --dim 32 -o x.npy
  answer probe cat x.npy
  for how in halves neighbours back add; do
    python3 apply.py $how x.npy applied.npy
    for op in add rope; do
      for more in '' '--layout split' '--inverse'; do
        # shellcheck disable=SC2086 # words
        json "check $how --op $op $more" "$posenc" check --op $op --x x.npy applied.npy --max-ulp 2 $more --format json
      done
      json "identify $how --op $op" "$posenc" identify --op $op --x x.npy applied.npy --format json
      answer "identify $how --op $op text" "$posenc" identify --op $op --x x.npy applied.npy
    done
  done
}

# ---- reports of kept records

report() {
  if [ ! -f "$kept/bench.json" ]; then
    some='cr-portable,rotation-portable,naive,recipe/annotated'
    "$posenc" verify --kernel "$some" --len 64 --dim 64 --brief --budget 1000 --profile --format json \
      -o "$kept/accuracy.json" >words 2>&1 || :
    "$posenc" bench --kernel "$some" --len 64 --dim 64 --mode hot,first,plan --repetitions 3 --min-time 0.0001 \
      --format json -o "$kept/bench.json" >words 2>&1
  fi
  answer 'report' "$posenc" report --from "$kept/accuracy.json" --from "$kept/bench.json" -o page
  (cd page && sha256sum -- * | awk '{ print "page", $2, substr($1, 1, 32) }')
  answer 'compare times' "$posenc" compare "$kept/bench.json" "$kept/bench.json" --all
  answer 'compare accuracy' "$posenc" compare "$kept/accuracy.json" "$kept/accuracy.json" --all --format json
  answer 'merge of one' "$posenc" merge "$kept/accuracy.json" "$kept/accuracy.json"
}

# ---- help, lists, and bad input

help() {
  for command in '' problem list write check diff identify probe verify bench choose compare history merge report \
    doctor; do
    answer "help of $command" "$posenc" help $command
    case $command in
    problem) ;;
    '') answer 'no command' "$posenc" ;;
    *)
      answer "help $command" "$posenc" "$command" --help
      answer "manual of $command" "$posenc" "$command" --manual
      answer "no such option of $command" "$posenc" "$command" --no-such-option
      answer "no number for $command" "$posenc" "$command" --len seven
      answer "no file for $command" timeout 30 "$posenc" "$command" /nowhere/at-all
      ;;
    esac
  done
  answer 'no such command' "$posenc" no-such-command
  answer list "$posenc" list
  answer 'list of contracts' "$posenc" list '*'
  answer 'list as JSON' "$posenc" list --format json
  answer 'list of problems' "$posenc" list --problems
  answer 'list of encodings' "$posenc" list --encodings
  for wrong in '--dim 63' '--dim 0' '--base 0' '--base nan' '--scale -1' '--odd 7' '--layout none' '--dtype f8' \
    '--kernel none' '--scaling yarn' '--scaling yarn,factor=0' '--grid h' '--grid h=0' '--positions 1,' \
    '--padding one' '--shift 99' '--offset 1e99' '--isa none' '--threads -1' '--max-ulp 0.1'; do
    # shellcheck disable=SC2086 # words
    answer "write $wrong" "$posenc" write --len 8 --dim 64 $wrong -o none.npy
  done
}

# ---- mutations: the rows, and which of them must be noticed

mutations() {
  (cd "$root" && python3 -B tests/mutation.py list) | awk '{ print "mutation", $1, $3 }' | sort
}

for part in tables verify bench files report help mutations; do
  ! wanted $part || $part
done
