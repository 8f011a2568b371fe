#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints a C header with the commit, compiler and flags of this build, but for those that name its folder.
# $1: the source folder.
quote() { printf '%s' "$1" | tr '\n' ' ' | sed 's/[\\"]/\\&/g'; }
commit=unknown
if [ -e "$1/.git" ] && hash=$(git -C "$1" rev-parse --short=12 HEAD 2>/dev/null); then
  commit=$hash
  [ -z "$(git -C "$1" status --porcelain --untracked-files=no 2>/dev/null)" ] || commit="$hash, modified"
fi
compiler=$($CC --version 2>/dev/null | head -n 1)
cat <<EOF
/* Made by common/build.sh. */
#define BUILD_COMMIT "$(quote "$commit")"
#define BUILD_COMPILER "$(quote "${compiler:-unknown}")"
#define BUILD_CFLAGS "$(quote "$(echo "$CFLAGS" | sed 's/-f[a-z]*-prefix-map=[^ ]* *//g')")"
EOF
