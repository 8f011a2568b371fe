#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes release/: the tarball, the amalgamation's, their SBOM and checksums. Its bytes depend on the sources and
# SOURCE_DATE_EPOCH (the last commit's date, or in a tarball that of its files) alone. Make sets the environment.
# shellcheck disable=SC2154
set -eu
: "${SOURCE_DATE_EPOCH:=$(git -C "$srcdir" log -1 --format=%ct 2>/dev/null || date -r "$srcdir/NEWS" +%s)}"
TAR_OPTIONS="--sort=name --mtime=@$SOURCE_DATE_EPOCH --owner=0 --group=0 --numeric-owner --mode=u+w,go=u,go-w"
TAR_OPTIONS="$TAR_OPTIONS --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime"
export SOURCE_DATE_EPOCH TAR_OPTIONS
unset MAKEFLAGS MFLAGS XZ_OPT XZ_DEFAULTS
name=posenc-$VERSION
rm -rf release
mkdir -p release
"$MAKE" -s dist-xz
mv "$name.tar.xz" release/
tar --format=posix --transform "s,^,$name-amalgamation/," -cf - -C amalgamation posenc.c posenc.h |
  xz -c >"release/$name-amalgamation.tar.xz"
"$PYTHON" -B "$srcdir/packaging/sbom.py" "$VERSION" "release/$name.tar.xz" >"release/$name.spdx.json"
(cd release && sha256sum "$name"* >SHA256SUMS)
ls release
