# SPDX-License-Identifier: MIT
# Writes flat TAP; test scripts source this. A script may define `diagnose`, which is called after a failed check; it
# ends with `plan`.
# shellcheck shell=sh disable=SC2034,SC2086 # EMULATOR may have options; scripts use the variables
tap_points=0 tap_failed=0 # the second is an exit status

point() { # "ok" or "not ok", NAME
  tap_points=$((tap_points + 1))
  [ "$1" = ok ] || tap_failed=1
  echo "$1 $tap_points - $2" | tr '\n' ' '
  echo
}

check() { # NAME COMMAND...
  tap_name=$1
  shift
  if "$@"; then
    point ok "$tap_name"
  else
    point 'not ok' "$tap_name"
    diagnose
  fi
}

skip() { # NAME REASON
  point ok "$1 # SKIP $2"
}

skip_all() { # REASON: ends the script
  echo "1..0 # SKIP $1"
  exit 0
}

diagnose() { :; }

# Whether the command has a sanitizer, which ends a process at some faults, and hides others from verify.
sanitized() {
  cat "$abs_top_builddir/posenc" "$abs_top_builddir/.libs/posenc" 2>/dev/null |
    grep -q -a -e __asan_init -e __tsan_init -e __msan_init
}
# posenc reports the signals that kill kernels, so a sanitizer must not handle them.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}handle_segv=0:handle_sigbus=0:handle_sigfpe=0
ASAN_OPTIONS=$ASAN_OPTIONS:handle_sigill=0:handle_abort=0
export ASAN_OPTIONS

# Whether an emulator runs what was built, whose times posenc does not publish or keep.
emulated() { [ -n "${EMULATOR-}" ]; }
without_emulator() { # FILE: removes what qemu prints there when a signal ends a kernel
  ! emulated || sed -i '/ printed: qemu: uncaught target signal /d' "$1"
}
# Whether the next of many cases is left out: an emulated processor, where all of them take hours, does one of four.
tap_cases=0 tap_left_out=0
is_left_out() {
  emulated && [ $(((tap_cases += 1) % 4)) -ne 1 ] && tap_left_out=$((tap_left_out + 1))
}
run_here() { # PROGRAM ARGUMENT...: of this build
  ${EMULATOR-} "$@"
}

within() { # SECONDS COMMAND...: repeats it until it succeeds
  tries=$(($1 * 10))
  shift
  until "$@"; do
    [ $((tries -= 1)) -gt 0 ] || return 1
    sleep 0.1
  done
}

plan() {
  [ $tap_left_out -eq 0 ] || skip 'what is left out' 'an emulated processor does one case of four'
  echo "1..$tap_points"
}

# Sets $numpy to the path of a Python that has NumPy; empty without one.
find_numpy() {
  numpy=
  for python in ${PYTHON:-} python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
      numpy=$(command -v "$python")
      break
    fi
  done
}
