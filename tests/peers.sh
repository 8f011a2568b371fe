#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests the table of packages, tools/peers.py and peers.txt, without any of them: the pins are well-formed, and each row
# names a recipe and a problem that posenc writes. Of tools/time-peers.py and time-sines.py: options, problems, reports.
. "${srcdir:-.}/tests/command.sh"
python=${PYTHON:-python3}
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
  skip 'the rows of tools/peers.py' 'no Python 3.10'
  plan
  exit
fi
peers() { # SOURCE-FOLDER ARGUMENT...
  folder=$1
  shift
  PYTHONDONTWRITEBYTECODE=1 "$python" "$folder/tools/peers.py" "$@" >out 2>err
}

check 'the rows are listed' peers "$root" rows
cp out rows
check 'of 20 functions and more' test "$(cut -f 2 rows | sort -u | wc -l)" -ge 20
check 'of 10 packages and more' test "$(cut -f 1 rows | sort -u | wc -l)" -ge 10
cut -f 2 rows >functions
for type in default linear dynamic ntk_alpha yarn longrope llama3 proportional axial; do
  check "transformers' type of rope $type has a row" grep -q "RotaryEmbedding[,:].* $type\$" functions
done
posenc list --format names
cp out names
while IFS="$(printf '\t')" read -r package function dtype recipe problem; do
  [ "$recipe" != none ] || continue
  check "$package, $function, $dtype: recipe/$recipe is there" grep -qx "recipe/$recipe" names
  case $problem in *--grid*) rows='' ;; *) rows='--len 4' ;; esac
  # shellcheck disable=SC2086 # lists of words
  check "and writes its problem" ends 0 write --layout split $problem $rows --kernel "recipe/$recipe" -o x.npy
done <rows

check 'the pins can be read' peers "$root" pins
check 'each row is of a package that is pinned' test -z "$(cut -f 1 rows | sort -u | grep -vxF -f out)"
check 'all packages that are wanted are pinned' lacks err wanted
mkdir -p wrong/tools
cp "$root/tools/peers.py" "$root/tools/ways.py" wrong/tools
wrong_pins() { # SED'S COMMAND
  sed "$1" "$root/tools/peers.txt" >wrong/tools/peers.txt
  peers wrong pins
}
wrong_pins 's/^\(torch==.* --hash=sha256:\)..../\1/'
check 'a hash that is cut off is refused' contains err 'neither a comment nor a pinned package: torch=='
wrong_pins '/^torch==/d'
check 'and a package that is wanted, but has no pin' contains err 'wanted, but not pinned: torch'
wrong_pins '/libsleef3_/d'
check 'also one of Debian' contains err 'wanted, but not pinned: libsleef3'
wrong_pins '/libsleef3_/s/.$//'
check 'whose hash is refused, too, if it is cut off' contains err 'neither a comment nor a pinned package: pool/'
mkdir no-debian debian
printf '#!/bin/sh\necho http://localhost/ubuntu/\n' >no-debian/apt-get
chmod +x no-debian/apt-get
: >debian/of-before
(PATH=$PWD/no-debian:$PATH; peers "$root" debian debian)
check 'without a source of Debian this is told' contains out 'peers: apt has no source of Debian'
check 'with the packages that could not be had' grep -q '^peers: could not be had: libsleef3_.*_amd64\.deb$' out
check 'and the folder is a new one' test ! -e debian/of-before

times() { # ARGUMENT...
  PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tools/time-peers.py" "$@" >out 2>err
}
times --help
check 'time-peers.py --help names its options' contains out '--quick'
times --list
check 'it lists a table' grep -qx 'table 131072x128 f32, neighbours' out
check 'it lists rope of one position in place' grep -qx 'rope 1x8x128 bf16, halves, in place' out
check 'a problem above 512 MiB is left out' lacks out 'rope 131072x8x128 f32'
check 'a problem is listed once' test -z "$(sort out | uniq -d)"
times --list --quick --ops rope
check 'the short list has only what is asked for' test "$(grep -cvE '^rope (1|128)x8x128 |^empty call$' out)" = 0
times --heads 0
check 'no head is refused' test "$?" = 2
check 'with the name of the option' contains err '--heads'
cat >reported.py <<'PY'
import importlib.util
import math
import sys
import time

sys.path.insert(0, sys.argv[1])
spec = importlib.util.spec_from_file_location("time_peers", sys.argv[1] + "/time-peers.py")
times = importlib.util.module_from_spec(spec)
spec.loader.exec_module(times)
print("interval", *times.interval(range(1, 16))[:2], *times.interval([5, 1, 3]))


def line(package, way, seconds, problem="add", kept=1.0):
    beside, of_kept = (times.quotient([x * seconds for x in range(1, 16)], [x * own for x in range(1, 16)])
                       for own in (1.0, kept))
    return {"package": package, "threads": 1, "problem": problem, "op": problem, "way": way, "sines": "given",
            "seconds": seconds, "error": 0.0, "beside": {"posenc": beside, times.KEPT: of_kept}}


class Spinning:
    """Threads that use a processor for so many seconds."""

    def __init__(self, until):
        self.until, self.time, self.sleeps = until, 0.0, 0

    def used(self):
        return min(self.time, self.until)

    def sleep(self, seconds):
        self.time, self.sleeps = self.time + seconds, self.sleeps + 1


for until in 0.0, 3.5 * times.IDLE, 1e9:
    threads = Spinning(until)
    times.settle(threads.used, lambda: threads.time, threads.sleep)
    print("settled", threads.sleeps if until < 1e9 else round(threads.time / times.SPUN, 1))


class First:
    """A way whose first call is slow, and takes longer than the warming up on the clock of the machine."""

    def __init__(self):
        self.time, self.calls = 0.0, 0

    def call(self):
        self.calls += 1
        self.time += 2.0**-10 if self.calls == 1 else 2.0**-20
        if self.calls == 1:
            time.sleep(2 * times.WARM)


way = First()
print("called", times.calls_of(way, lambda: way.time) == math.ceil(times.LEAST * 2**20))
head = {"date": "2026-11-29", "machine": "m", "processors": 1, "others": 0.01, "turns": 15}
before = times.used()
sum(range(10**7))
print("others", times.others(before) < 1.0, times.used()[1] > before[1])
head["versions"] = {"posenc": "1", "torch": "2"}
lines = [line("numpy", "posenc", 1.0), line("numpy", "numpy", 0.5), line("jax", "jax, jit", 0.25),
         line("jax", "posenc", 1.0, "rope"), line("jax", "jax, jit", 2.0, "rope"),
         line("jax", "jax, jit", 3e-6, "empty"),
         line("ggml", "posenc", 1.0, "step"), line("ggml", "ggml", 0.5, "step", kept=0.25),
         line("vllm", "vllm", 0.75, "step", kept=0.25)]
failed = {"package": "mlx", "threads": 1, "problem": "add", "op": "add", "failed": "no such thing"}
times.report(".", head, [*lines, failed])
PY
PYTHONDONTWRITEBYTECODE=1 "$python" reported.py "$root/tools" >out 2>err
check 'what others used is told apart from its own' contains out 'others True True'
check 'a way is warm when its own time is over' contains out 'called True'
printf 'settled %s\n' 1 5 1.0 >wanted
grep '^settled' out >settled
check 'threads that spin are waited for, but not for ever' cmp -s settled wanted
check 'the interval of 15 turns is from the 4th to the 12th' contains out 'interval 4 12 1 5 0.75'
check 'the row of a slower posenc is marked, beside the fastest package' \
  grep -q '^| add | 1 | 1e+03 ms | jax, jit, given | 0.25 .* | 3 µs | SLOWER |$' peers-times.md
check 'that of a faster one is not' grep -q '^| rope | 1 | 1e+03 ms | jax, jit, given | 2.00 .* |  |$' peers-times.md
check 'a graph that has its arrays is beside the plan that has them, others are beside the function' \
  grep -q '^| step | 1 | 1e+03 ms | vllm, given | 0.75 .* | 3.00 .* | SLOWER |$' peers-times.md
check 'and so it is in the table of all ways' \
  grep -q '^| step | 1 | ggml | ggml | given | 500 ms | 0.50 .* |  |$' peers-times.md
check 'versions are those of packages that have rows' lacks peers-times.md 'torch 2'
check 'what failed is told' contains peers-times.md 'mlx, 1 threads: add: no such thing'
check 'the JSON has all rows' test "$(grep -c '"package"' peers-times.json)" = 10
check 'and that the machine was quiet' grep -q '^ "busy": false,$' peers-times.json
sed -i 's/"others": 0.01/"others": 0.06/' reported.py
PYTHONDONTWRITEBYTECODE=1 "$python" reported.py "$root/tools" >out 2>err
check 'a busy one is told so' grep -q '^ "busy": true,$' peers-times.json
check 'in the heading' contains peers-times.md '# All ways (busy)'
check 'quotients are there' grep -q '^| add | 1 | jax, jit, given | 0.25 .* | SLOWER |$' peers-times.md
check 'times are not' lacks peers-times.md ' ms |'

sines() { # ARGUMENT...
  PYTHONDONTWRITEBYTECODE=1 "$python" "$root/tools/time-sines.py" "$@" >out 2>err
}
sines debian --turns 2
check 'time-sines.py --turns 2 is refused' test "$?" = 2
check 'with the name of the option' contains err '--turns'
cat >sines.py <<'PY'
import importlib
import pathlib
import sys

sys.path.insert(0, sys.argv[1])
sines = importlib.import_module("time-sines")
folder = pathlib.Path("debian")
print("without", sines.versions(folder), sines.plugin(folder, "."), sines.command(folder)[0])
(folder / "libc6_2.41-12+deb13u5_amd64.deb").touch()
libraries = folder / "usr/lib/x86_64-linux-gnu"
libraries.mkdir(parents=True, exist_ok=True)
(libraries / "ld-linux-x86-64.so.2").touch()
print("with", sines.versions(folder), *sines.command(folder)[:3])
turns = [float(x) for x in range(1, 10)]
lines = [{"libraries": "packages", "problem": "8x8", "kernel": kernel, "version": "3.9", "of": "own",
          "seconds": 5.0 * times, "beside": sines.times.quotient([times * x for x in turns], turns), "error": 0.5,
          "at": 7} for kernel, times in (("own", 1.0), ("slow", 2.0), ("fast", 0.5))]
head = {"date": "2026-11-29", "machine": "m", "turns": 9, "others": float(sys.argv[2])}
sines.report(".", head, lines)
PY
PYTHONDONTWRITEBYTECODE=1 "$python" sines.py "$root/tools" 0.01 >out 2>err
check 'what is not there has no version, no plugin and no loader' contains out 'without {} [] env'
check "glibc's own loader runs posenc, if it is there" \
  contains out "with {'libmvec': '2.41'} $PWD/debian/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path"
check "posenc's own row has no quotient" grep -q '^| 8x8 | packages | own | 3.9 | 5e+03 ms |  | 0.5 | 7 |  |$' \
  sines-times.md
check 'a slower kernel is not marked' grep -q '^| 8x8 | packages | slow .* | 2.00 \[2.00, 2.00\] | 0.5 | 7 |  |$' \
  sines-times.md
check 'a faster one is' grep -q '^| 8x8 | packages | fast .* | 0.50 .* | SLOWER |$' sines-times.md
PYTHONDONTWRITEBYTECODE=1 "$python" sines.py "$root/tools" 0.06 >out 2>err
check 'of a busy machine there are no times' lacks sines-times.md ' ms |'
plan
exit "$tap_failed"
