#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints a line for each of many inputs, with the exit status and a digest of the answer, so that a change of the design
# can be held to changing nothing: run it with a build of before and one of after, and compare.
#
#   tools/freeze.sh BUILD KEPT >before.txt
#
# BUILD: a build folder. KEPT: a folder of records that a report is made from; the first run fills it. Answers are those
# of one machine and its libraries. Facts of the build, dates and times are left out.
set -eu
export LC_ALL=C
posenc=$(cd "$1" && pwd)/posenc kept=$(mkdir -p "$2" && cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Prints the name, the exit status and the digest of the file out.
print_line() { # NAME STATUS
  printf '%s %d %s\n' "$1" "$2" "$(sha256sum <out | cut -c 1-32)"
}
# Prints the name, the exit status and the digest of what a command writes, on stdout and stderr.
answer() { # NAME COMMAND...
  name=$1 status=0
  shift
  "$@" >out 2>&1 || status=$?
  print_line "$name" "$status"
}

# The same, of JSON without the environment, seconds and the path of the program.
json() { # NAME COMMAND...
  name=$1 status=0
  shift
  "$@" >raw 2>words || status=$?
  python3 -c '
import json, sys
volatile = {"environment", "date", "seconds", "load", "context", "elapsed", "command", "version"}
def plain(x):
    if isinstance(x, dict):
        return {k: plain(v) for k, v in sorted(x.items()) if k not in volatile}
    return [plain(v) for v in x] if isinstance(x, list) else x
try:
    print(json.dumps(plain(json.load(sys.stdin))))
except ValueError:
    print("no JSON")' <raw >out
  cat words >>out
  print_line "$name" "$status"
}

# ---- tables: every kernel, published shapes or windows of them, dtypes, layouts

kernels=$("$posenc" list --format names)
for kernel in $kernels; do
  for shape in '64 128 0' '512 512 0' '200 512 4800' '128 1024 130944' '256 128 1048000' '33 66 -16'; do
    set -- $shape
    for dtype in f32 f64 f16 bf16; do
      answer "table $kernel $1x$2+$3 $dtype" \
        "$posenc" write --kernel "$kernel" --len "$1" --dim "$2" --offset="$3" --dtype "$dtype" -o -
    done
  done
  for more in '--layout split' '--layout interleaved-cs' '--layout split-cs' '--layout duplicated --op rope-cache' \
    '--scaling yarn,factor=4,original=4096' '--scaling llama3,factor=8,original=8192' '--scaling linear,factor=2' \
    '--scale 0.5' '--shift 1' '--base 500000' '--padding 3' '--odd pad --dim 65' '--positions 5,1,-7,2.5' \
    '--grid h=4,w=6'; do
    case $more in
    *--dim*) dim= ;;
    *) dim='--dim 64' ;;
    esac
    case $more in
    *--positions* | *--grid*) len= ;;
    *) len='--len 96' ;;
    esac
    # shellcheck disable=SC2086 # words
    answer "table $kernel $more" "$posenc" write --kernel "$kernel" $len $dim $more -o -
  done
done

# ---- verify and bench

for kernel in cr-portable rotation-portable naive div-term cached recurrence; do
  for problem in '--len 300 --dim 96' '--len 64 --dim 64 --op rope --heads 3' '--len 64 --dim 64 --op add' \
    '--len 100 --dim 64 --dtype bf16' '--len 100 --dim 64 --scaling yarn,factor=4,original=32' \
    '--grid h=8,w=9 --dim 64' '--positions golden --dim 64' '--len 64 --dim 65 --odd ceil'; do
    # shellcheck disable=SC2086 # words
    json "verify $kernel $problem" "$posenc" verify --kernel "$kernel" $problem --format json
  done
done
for format in text tap junit; do
  answer "verify $format" "$posenc" verify --kernel cr-portable,naive --len 64 --dim 64 --brief --format "$format"
done
json encodings "$posenc" verify --encoding integer,binary,learned,alibi,dropout --format json
"$posenc" bench --kernel 'cr-portable,naive' --len 64 --dim 64 --repetitions 3 --min-time 0.001 --format json \
  -o bench.json 2>words || true
python3 -c '
import json
record = json.load(open("bench.json"))
for check in record["context"]["checks"]:
    print("bench check", check["kernel"], check["check"], check["ok"])
for row in record["benchmarks"]:
    print("bench", row["name"], " ".join(sorted(row)))' | sort -u

# ---- files: check, identify, diff

make() { # NAME OPTION...
  name=$1
  shift
  "$posenc" write "$@" -o "$name"
}
make plain.npy --len 512 --dim 64
make split.npy --len 512 --dim 64 --layout split
make base.npy --len 512 --dim 64 --base 10001
make offset.npy --len 512 --dim 64 --offset 1
make shift.npy --len 512 --dim 64 --shift 1
make f32.npy --len 512 --dim 64 --kernel div-term
make far.npy --len 64 --dim 64 --offset 1000000 --kernel recipe/hf-rope --layout split-cs
make bf16.npy --len 512 --dim 64 --kernel recipe/bf16-positions --layout split-cs
make yarn.npy --len 512 --dim 64 --scaling yarn,factor=4,original=128
make cache.safetensors --len 512 --dim 64 --op rope-cache
make f16.safetensors --len 512 --dim 64 --dtype f16
make grid.safetensors --grid h=16,w=16 --dim 64
make none.npy --positions 3,1,4.5,-1 --dim 64
head -c 1000 plain.npy >cut.npy
for file in *.npy *.safetensors; do
  for format in text json tap junit; do
    answer "check $file $format" "$posenc" check "$file" --format "$format"
  done
  for format in text json; do
    answer "identify $file $format" "$posenc" identify "$file" --format "$format"
  done
  answer "diff $file" "$posenc" diff plain.npy "$file"
done
for more in '--base 10001' '--layout split' '--max-ulp 1' '--offset 1' '--scaling linear,factor=2' '--shift 1'; do
  # shellcheck disable=SC2086 # words
  answer "check $more" "$posenc" check f32.npy $more
done

# ---- a report of kept records

if [ ! -f "$kept/bench.json" ]; then
  "$posenc" verify --kernel 'cr-*,rotation-*,naive*,recipe/*' --len 512 --dim 64 --brief --profile --format json \
    -o "$kept/accuracy.json" || true
  "$posenc" bench --kernel 'cr-*,rotation-*,naive*' --len 512 --dim 64 --repetitions 3 --format json \
    -o "$kept/bench.json"
fi
"$posenc" report --from "$kept/accuracy.json" --from "$kept/bench.json" -o page >words 2>&1
(cd page && sha256sum -- * | awk '{ print "page", $2, substr($1, 1, 32) }')

# ---- help, and bad input

for command in '' list write check diff identify probe verify bench choose compare merge report doctor; do
  # shellcheck disable=SC2086 # none, or one word
  answer "help $command" "$posenc" $command --help
  # shellcheck disable=SC2086
  answer "no such option of $command" "$posenc" $command --no-such-option
  # shellcheck disable=SC2086
  answer "nothing for $command" timeout 1 "$posenc" $command /nowhere/at-all
done
