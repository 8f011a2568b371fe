#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests README.md from top to bottom as a newcomer, with an empty home and a prefix in it, and with mistakes: a typo, a
# missing package, steps in the wrong order, Ctrl-C.
# Touched by: configure.ac Makefile.am */Makefile.inc README.md quickstart
# shellcheck disable=SC2016,SC2086 # text for other shells; $as is a command and its options
srcdir=$(cd "${srcdir:-.}" && pwd) || exit 99
. "$srcdir/tests/tap.sh"
[ ! -e "$srcdir/config.status" ] || skip_all 'the source folder is configured'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
diagnose() { tail -n 20 "$work/out" | sed 's/^/# /'; }

# ---- the newcomer ----

home=$work/home source=$home/posenc
mkdir "$home" "$source" "$home/tmp"
if [ -e "$srcdir/.git" ] && git -C "$srcdir" ls-files >"$work/files" 2>/dev/null && [ -s "$work/files" ]; then
  tar -C "$srcdir" -cf - -T "$work/files" | tar -C "$source" -xf -
else
  tar -C "$srcdir" --exclude=./build-quickstart -cf - . | tar -C "$source" -xf -
fi
as=''
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
  chmod 755 "$work"
  chown -R 65534:65534 "$home"
  as='setpriv --reuid=65534 --regid=65534 --clear-groups'
  $as test -x "$source" || as='' # in a folder of root's alone
fi
path=$home/.local/bin:/usr/local/bin:/usr/bin:/bin
# Runs in the folder of the sources, without sudo. The prefix is a folder of the home.
newcomer() { # SHELL-TEXT; $status and `out`
  (cd "$source" && exec $as env -i HOME="$home" TMPDIR="$home/tmp" PATH="$path" LD_LIBRARY_PATH="$home/.local/lib" \
    PKG_CONFIG_PATH="$home/.local/lib/pkgconfig" sh -c "$1") >"$work/out" 2>&1 </dev/null
  status=$?
}
ends() { # STATUS SHELL-TEXT
  newcomer "$2"
  [ $status -eq "$1" ]
}
fails() { newcomer "$1" && [ $status -ne 0 ]; }
says() { grep -q -e "$1" "$work/out"; }

now() { date +%s; }
# Sends Ctrl-C after some seconds, to the whole group of processes.
interrupted() { # SECONDS SHELL-TEXT
  (cd "$source" && exec setsid $as env -i --default-signal=INT HOME="$home" TMPDIR="$home/tmp" PATH="$path" \
    sh -c "$2") >"$work/out" 2>&1 </dev/null &
  group=$!
  sleep "$1"
  kill -s INT -- -$group 2>/dev/null
  wait $group
  [ $? -ne 0 ]
}

is_over() { # no process of that group is left
  ! kill -s 0 -- -"$group" 2>/dev/null
}

# Prints the lines of the "sh" block under a heading of README.md, without comments.
block() { # HEADING
  awk -v heading="## $1" '
    /^## / { here = $0 == heading }
    here && /^```/ { inside = /^```sh/; next }
    here && inside { sub(/ +#.*/, ""); print }' "$source/README.md"
}

# ---- mistakes before anything is built ----

check 'a typo' ends 2 './quickstart chekc'
check 'is told' says "unknown argument 'chekc'"
mkdir "$home/bin"
printf '#!/bin/sh\ncase $* in
*libmpfr-dev*) /usr/bin/dpkg-query "$@" | sed "s/^$(dpkg --print-architecture)/another/" ;;
*) exec /usr/bin/dpkg-query "$@" ;;
esac\n' >"$home/bin/dpkg-query" # MPFR of another machine
chmod +x "$home/bin/dpkg-query"
if [ -n "$as" ]; then
  check 'a missing package, and no root' ends 2 'PATH=$HOME/bin:$PATH ./quickstart'
  check 'is named' says 'packages are missing that only apt-get as root .* can install: .*libmpfr-dev'
  check 'and nothing is left' test ! -e "$source/build-quickstart"
else
  skip 'a missing package, and no root' 'setpriv or root is missing here'
fi
check 'make before configure' fails 'make'

# ---- Install ----

lines=$(block Install)
for package in $(echo "$lines" | sed -n 's/^sudo apt-get install//p'); do
  check "package $package is one of quickstart's" grep -q "$package" "$source/quickstart"
done
start=$(now)
flags='CFLAGS=-O1 CXXFLAGS=-O1' # half the time of -g -O2
options="--disable-avx2 --disable-avx512 $flags" # and of this build; quickstart builds these kernels, too
step() { # BEGINNING: runs the line that begins so, with the newcomer's prefix
  echo "$lines" | grep "$1" |
    sed 's/sudo ldconfig/true/; s/sudo //; s|\./configure|./configure --prefix=$HOME/.local '"$options|"
}
check 'autoreconf' ends 0 "$(step '^autoreconf')"
check 'configure without MPFR' fails 'PKG_CONFIG_LIBDIR=/nowhere ./configure --prefix=$HOME/.local'
check 'names its package' says 'MPFR is missing (Debian: libmpfr-dev)'
printf '#!/bin/sh\nexit 127\n' >"$home/bin/help2man"
chmod +x "$home/bin/help2man"
check 'configure without help2man' ends 0 'PATH=$HOME/bin:$PATH ./configure'
check 'make then needs none' eval '! { newcomer "make -n all"; says "help2man\|\.1\.see"; } && says "libposenc"'
check 'configure' ends 0 "$(step '^\./configure' | sed 's/ && make.*//')"
check 'Ctrl-C in make' interrupted 5 make
check 'stops it' test ! -e "$source/posenc"
check 'make again' ends 0 "$(step '^\./configure' | sed 's/.* && //')"
check 'make install' ends 0 "$(step '^sudo make')"
check 'posenc runs' ends 0 'posenc --version'
echo "# $(($(now) - start)) s from autoreconf to the installed command"

# ---- Use it ----

awk '/^<!-- file program.c -->/ { file = 1; next } file && /^```c/ { inside = 1; next }
     inside && /^```/ { exit } inside' "$source/README.md" >"$source/program.c"
[ -z "$as" ] || chown 65534:65534 "$source/program.c"
command=$(block 'Use it' | sed -n 's/^\$ //p')
printed=$(block 'Use it' | sed -n '/^\$ /!p')
check 'a program' ends 0 "$command"
check 'prints what README.md shows' test "$(cat "$work/out")" = "$printed"
if command -v cmake >/dev/null; then
  mkdir "$source/by-cmake"
  printf 'cmake_minimum_required(VERSION 3.13)\nproject(p C)\nfind_package(posenc 0.1 REQUIRED)
add_executable(p ../program.c)\ntarget_link_libraries(p posenc::posenc)\n' >"$source/by-cmake/CMakeLists.txt"
  [ -z "$as" ] || chown -R 65534:65534 "$source/by-cmake"
  check 'with CMake' ends 0 'cd by-cmake && cmake -DCMAKE_PREFIX_PATH=$HOME/.local . && make && ./p'
  check 'it prints the same' says "^$printed$"
else
  skip 'with CMake' 'no cmake here'
fi

# ---- the command ----

newcomer 'posenc write --kernel recipe/annotated --len 4096 --dim 128 -o theirs.npy'
block "Does your model's table match the exact values?" | sed -n 's/^\$ //p' >"$work/commands"
while read -r line; do
  want=0
  case $line in *' check '*) want=1 ;; esac
  check "$line" ends $want "$line"
done <"$work/commands"
block 'Guard it, choose, measure' | grep '^posenc ' >"$work/commands"
while read -r line; do
  case $line in
  'posenc doctor'*) check "$line" eval 'newcomer "$line"; [ $status -le 1 ] && says "^Fit to publish times: "' ;;
  *) check "$line" ends 0 "$line" ;;
  esac
done <"$work/commands"
check 'a typo in a command' ends 2 'posenc wriet --len 8 --dim 4 -o x.npy'
check 'is guessed' says "did you mean 'write'?"
check 'a typo in an option' ends 2 'posenc check theirs.npy --max-upl 1'
check 'is told' says "unrecognized option '--max-upl'"
check 'a file that is not there' ends 2 'posenc check their.npy'
check 'is named' says '^posenc check: their.npy: No such file'

check 'the manual names the folder of hard-to-round cases where it is' ends 0 'file=$(posenc verify --manual |
  sed -n "s/.*posenc verify --cases //p") && cd / && posenc verify --kernel cr-portable --cases "$file"'

# ---- a kernel of one's own ----

# From an empty folder: the files and commands of the document, with what is installed alone.
check 'the first hour with a kernel: plugin, bound, page, baseline, workflow' ends 0 'srcdir=$PWD abs_top_builddir=$PWD \
  PREFIX=$HOME/.local DOCUMENTS=doc/adding-a-kernel.md sh tests/documentation.sh'
check 'of which the steps of the workflow are a part' says '^ok [0-9]* - .* sh -e \.\./steps'

# ---- quickstart ----

check 'quickstart in a source folder that is configured' ends 2 ./quickstart
check 'says what to do' says 'run make distclean there first'
newcomer 'make distclean'
if [ -z "$(cd "$source" && sed -n '/^packages=/,/'"'"'$/p' quickstart | tr -d "'" | sed 's/packages=//; s/|[^ ]*//g' |
  xargs -n 1 dpkg-query -W -f '${db:Status-Status}\n' 2>&1 | grep -vx installed)" ]; then
  check 'Ctrl-C in quickstart' interrupted 15 "$flags ./quickstart"
  check 'ends all that it started' within 60 is_over
  check 'leaves no report' test ! -e "$source/posenc-report/index.html"
  start=$(now)
  check 'quickstart' ends 0 "$flags ./quickstart"
  check 'ends with the report' test "$(tail -n 1 "$work/out")" = "$source/posenc-report/index.html"
  check 'which is there' test -s "$source/posenc-report/index.html"
  echo "# $(($(now) - start)) s for quickstart"
else
  skip 'quickstart' 'packages are missing'
fi
plan
exit "$tap_failed"
