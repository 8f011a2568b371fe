#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests releases and packages. "make release" makes the same bytes at another time, and its checksums and bill of
# materials are correct; two builds of the tarball in different folders install the same bytes; REUSE and the ABI are
# checked if their tools are installed. Debian's packages, a whole build, are made if POSENC_TEST_DEB is 1.
# Touched by: configure.ac Makefile.am */Makefile.inc packaging LICENSES .reuse
# shellcheck disable=SC2016,SC2154 # text for Python; make sets the environment
. "${srcdir:-.}/tests/tap.sh"
root=$(cd "${srcdir:-.}" && pwd) build=${abs_top_builddir:?}
for program in python3 xz sha256sum help2man; do command -v $program >/dev/null || skip_all "no $program here"; done
tar --version 2>/dev/null | grep -q GNU || skip_all 'no GNU tar here'
! emulated || skip_all 'built for another machine'
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
cd "$work" || exit 99
diagnose() { tail -n 12 out | cut -c1-300 | sed 's/^/# /'; }
tried() { # COMMAND...: runs it; its output is in out
  env -u MAKEFLAGS -u MFLAGS -u CFLAGS nice -n 5 "$@" >out 2>&1 </dev/null
}
has() { command -v "$1" >/dev/null; }

# ---- the release ----

released() { # FOLDER
  tried make -C "$build" release && cp -R "$build/release" "$1"
}
check 'make release' released first
sleep 1
again() { (umask 027 && export TZ=Asia/Tokyo XZ_OPT=-1 LC_ALL=C.UTF-8 && released second); }
check 'once more, elsewhere' again
check 'makes the same bytes' eval 'diff -r first second >out'
check 'the checksums hold' eval '(cd first && sha256sum -c SHA256SUMS) >out'
check 'the bill of materials lists every file of the tarball with its checksum' tried python3 -c '
import glob, hashlib, json, tarfile
document = json.load(open(glob.glob("first/*.spdx.json")[0]))
listed = {file["fileName"]: file["checksums"][1]["checksumValue"] for file in document["files"]}
with tarfile.open([name for name in glob.glob("first/*.xz") if "amalgamation" not in name][0]) as tar:
    there = {"./" + member.name.split("/", 1)[1]: hashlib.sha256(tar.extractfile(member).read()).hexdigest()
             for member in tar if member.isfile()}
assert listed == there and len(there) > 300, set(listed.items()) ^ set(there.items())'
check 'which has the licence that each file tells' tried python3 -c '
import glob, json, re, tarfile
licences = {file["fileName"]: file["licenseConcluded"]
            for file in json.load(open(glob.glob("first/*.spdx.json")[0]))["files"]}
with tarfile.open([name for name in glob.glob("first/*.xz") if "amalgamation" not in name][0]) as tar:
    for member in filter(tarfile.TarInfo.isfile, tar):
        text = tar.extractfile(member).read().decode(errors="replace")
        licence = licences["./" + member.name.split("/", 1)[1]]
        theirs = re.search("Free Software[ ]Foundation|Copyright [(]C. 1994 X Consortium", text)
        ours = re.search("SPDX.License-Identifier: MIT", text)
        assert ("MIT" in licence) == bool(ours or not theirs), (member.name, licence)
        assert (licence == "MIT") == (not theirs), (member.name, licence)
        versions = [set(re.findall("either version ([23])" + "[, ]", text)), set(re.findall("GPL-([23])", licence))]
        assert not theirs or versions[0] == versions[1], (member.name, licence)'

# ---- two builds ----

tarball=$(echo first/posenc-*[0-9].tar.xz)
# With -O1, which compiles the kernels in a third of the time of -O0, and without the vector kernels, which name as many
# folders as other sources do.
built() { # FOLDER: builds all, and installs it in FOLDER/to
  mkdir -p "$1/build" && tar -C "$1" --strip-components=1 -xf "$tarball" && cd "$1/build" &&
    tried ../configure --disable-avx2 --disable-avx512 CFLAGS='-g -O1' CXXFLAGS='-g -O1' &&
    tried make && tried make install DESTDIR="$PWD/../to"
}
check 'a build of the tarball' eval '(built one)'
check 'another, in a longer folder' eval '(built other/with-a-longer-name)'
other=other/with-a-longer-name
check 'install the same bytes' eval 'diff -r one/to "$other/to" >out &&
  (cd one/to/usr/local && [ -e lib/libposenc.so.0.0.0 ] && [ -x bin/posenc ] && [ -e share/man/man1/posenc.1 ])'
check 'no folder of a build is in them' eval '! grep -r -l -F "$work" one/to >out'

# ---- optional tools ----

if ! has reuse; then skip 'REUSE' 'no reuse here'; elif [ ! -e "$root/.git" ]; then skip 'REUSE' 'no checkout'; else
  check 'REUSE' tried reuse --root "$root" lint
  check 'which reads every file' eval '! grep -q ERROR out'
fi
if ! has abidw || ! uname -m | grep -qx x86_64; then skip 'the ABI' 'no abidw here, or not x86-64'; else
  if readelf -S "$build/.libs/libposenc.so" | grep -q '\.debug_info'; then
    check 'the ABI is that of packaging/posenc.abi' tried make -C "$build" abi-check
    sed -e '/^posenc_problem.dim:/s/16/24/' -e 's/^posenc_alloc@.*(/&int, /' "$root/packaging/posenc.abi" >changed.abi
    check 'a member and a function that changed are named' eval '
      ! tried make -C "$build" abi-check abi="$work/changed.abi" && grep -q "removed: posenc_problem.dim: .* 24$" out &&
        grep -q "removed: posenc_alloc@" out'
  else
    skip 'the ABI' 'a build without debugging information'
  fi
  strip -g -o bare.so "$build/.libs/libposenc.so"
  check 'a library without debugging information is refused' \
    eval '! tried make -C "$build" abi-check abi_of="$work/bare.so" && grep -q "bare.so has no debugging inf" out'
fi
prefix=$work/one/to/usr/local
sed -i "s|^prefix=.*|prefix=$prefix|; s|/usr/local|$prefix|" "$prefix/lib/pkgconfig/posenc.pc"
smoke() { # VARIABLE=VALUE...: tests a package, the files of the first build, in place
  PKG_CONFIG_PATH=$prefix/lib/pkgconfig tried env "$@" sh "$prefix/share/posenc/smoke.sh"
}
check 'the test of packages' smoke CC='cc -pipe' CXX='env c++' CPPFLAGS=-DNDEBUG LDFLAGS=-Wl,-O1
check 'with a program in C' grep -qx 'smoke: C: ok' out
check 'and in C++' grep -qx 'smoke: C++: ok' out
check 'without a compiler for C++' smoke CXX='none -x'
check 'which is told' grep -qx 'smoke: C++: no compiler none here' out
# The command was built for another prefix.
check 'with the command' smoke PATH="$prefix/bin:$PATH" LD_LIBRARY_PATH="$prefix/lib"
check 'which runs' grep -qx 'smoke: command: ok' out
if [ "${POSENC_TEST_DEB-}" = 1 ] && has dpkg-buildpackage && has dh && has lintian; then
  check "Debian's packages, which lintian accepts" tried make -C "$build" deb
else
  skip "Debian's packages" 'they take a whole build; POSENC_TEST_DEB=1 runs it, with debhelper and lintian'
fi
plan
exit "$tap_failed"
