# SPDX-License-Identifier: MIT
# Other machines, for which a cross compiler builds and whose programs qemu runs, or this machine; and the tiers. A
# script sources this file. shellcheck shell=sh disable=SC2034,SC2086,SC2154

tier_names() { # [FOLDER]: prints the names of the tiers of these sources, by default of $srcdir, in their order
  sed -n 's/^TIER([A-Z0-9_]*, \([a-z0-9]*\),.*/\1/p' "${1-$srcdir}/lib/simd/tiers.def"
}
# Sets for a machine what its row of tests/hosts.def has, and the folder of what pkg-config knows of its libraries,
# which are named after the oldest processor where the compiler is not. Returns false if the machine is not known.
describe_host() { # MACHINE
  set -- $(awk -v name="$1" '$1 == name && !/^#/' "$srcdir/tests/hosts.def")
  [ $# -eq 8 ] || return 1
  host=$2 emulator=${3#-} kernels=$(words $6) tests=$(words ${7#-}) slow_tests=$(words ${8#-})
  unset QEMU_CPU
  [ "$4" = - ] || export QEMU_CPU="$4"
  libraries=/usr/lib/$(echo $host | sed 's/^i[0-9]86/i386/')/pkgconfig
}
words() { # LIST: with commas
  echo "$*" | tr ',' ' '
}
emulated_hosts() { # prints the machines that an emulator runs
  awk '/^[^#]/ && $3 != "-" { print $1 }' "$srcdir/tests/hosts.def"
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
