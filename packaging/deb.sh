#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes Debian's packages, source and binary, in deb/, from the release tarball and packaging/debian/, and has lintian
# check them.
# DEB_BUILD_OPTIONS=nocheck leaves the tests out. Make sets the environment.
# shellcheck disable=SC2154
set -eu
[ -e "$srcdir/packaging/debian/control" ] || {
  echo 'deb: packaging/debian/ is in a checkout, not in the tarball' >&2
  exit 2
}
for program in dpkg-buildpackage dh lintian; do
  command -v $program >/dev/null && continue
  echo "deb: no $program here: install debhelper, dpkg-dev and lintian" >&2
  exit 2
done
unset MAKEFLAGS MFLAGS
rm -rf deb
mkdir deb
"$MAKE" -s dist-xz
mv "posenc-$VERSION.tar.xz" "deb/posenc_$VERSION.orig.tar.xz"
tar -C deb -xf "deb/posenc_$VERSION.orig.tar.xz"
cp -R "$srcdir/packaging/debian" "deb/posenc-$VERSION/"
(cd "deb/posenc-$VERSION" && dpkg-buildpackage -us -uc)
# No upload to Debian is meant, so that there is no bug to close.
lintian --allow-root --fail-on error,warning --suppress-tags initial-upload-closes-no-bugs --info deb/*.changes
ls deb
