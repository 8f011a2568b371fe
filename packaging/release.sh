#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes release/: the tarball, the amalgamation's, their SBOM, checksums, and the recipes for the tarball at
# RELEASE_URL. Its bytes depend on the sources, SOURCE_DATE_EPOCH (the last commit's date, or in a tarball that of its
# files) and RELEASE_URL alone. Make sets the environment.
# shellcheck disable=SC2154
set -eu
: "${SOURCE_DATE_EPOCH:=$(git -C "$srcdir" log -1 --format=%ct 2>/dev/null || date -r "$srcdir/NEWS" +%s)}"
: "${RELEASE_URL:=file://$PWD/release}"
# shellcheck disable=SC2101 # white space in a list of characters
case $RELEASE_URL in *[\\\"\|\#\{[:space:]]*) # no URL has them, or a recipe's language would not take them as they are
  printf 'make release: RELEASE_URL: %s has one of these: \\ " | # { white space\n' "'$RELEASE_URL'" >&2
  exit 2
  ;;
esac
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
sum() { "$1" "release/$name.tar.xz" | cut -d ' ' -f 1; }
url=$(printf '%s\n' "$RELEASE_URL" | sed 's/&/\\&/g') # & has a meaning for the sed below
# shellcheck disable=SC2154 # a list of words
for recipe in $recipes; do
  mkdir -p "release/${recipe%/*}"
  sed -e "s|@PACKAGE_VERSION@|$VERSION|g" -e "s|@URL@|$url|g" -e "s|@SHA256@|$(sum sha256sum)|" \
    -e "s|@SHA512@|$(sum sha512sum)|" "$srcdir/$recipe" >"release/$recipe"
done
ls release
