# SPDX-License-Identifier: MIT
# Other machines, for which a cross compiler builds and whose programs qemu runs, or this machine. A script sources this
# file. shellcheck shell=sh disable=SC2034,SC2086,SC2154

# Sets for a machine the compiler's prefix, what runs its programs, and the folder of what pkg-config knows of its
# libraries. Returns false if the machine is not known.
describe_host() { # MACHINE
  case $1 in
  aarch64) host=aarch64-linux-gnu emulator=qemu-aarch64 libraries=$host ;;
  s390x) host=s390x-linux-gnu emulator=qemu-s390x libraries=$host ;;
  i386) host=i686-linux-gnu emulator='' libraries=i386-linux-gnu ;; # x86-64 runs it itself
  *) return 1 ;;
  esac
  libraries=/usr/lib/$libraries/pkgconfig
}
missing_of_host() { # prints what this machine lacks for the host; writes files into the current folder
  for program in $host-gcc $host-g++ $emulator pkg-config; do
    command -v $program >/dev/null || echo "no $program here"
  done
  echo 'int main(void) { return 0; }' >runs.c
  [ -n "$emulator" ] || { $host-gcc runs.c -o runs && ./runs; } 2>runs.err ||
    echo "programs of $host do not run here"
  PKG_CONFIG_LIBDIR=$libraries pkg-config --exists mpfr jansson || echo "no MPFR and jansson for $host"
}
# CC and CXX of this build are not those of the cross build.
for_host() { # COMMAND...
  env -u CC -u CXX -u CFLAGS -u EMULATOR -u MAKEFLAGS -u MFLAGS PKG_CONFIG_LIBDIR=$libraries "$@"
}
