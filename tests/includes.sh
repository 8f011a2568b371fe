#!/bin/sh
# SPDX-License-Identifier: MIT
# Includes run one way, as doc/design.md says. $srcdir: the source folder.
cd "${srcdir:-.}" || exit 99
point=0 failed=0

# Folder, and the folders that its files may include from; posenc.h and the system's headers always.
while read -r folder allowed; do
  point=$((point + 1))
  bad=$(grep -n '^#include "' -r "$folder" --include='*.c' --include='*.h' --include='*.cc' |
    grep -v '#include "posenc\.h"' | grep -v '#include "config\.h"' |
    while IFS= read -r line; do
      from=$(printf '%s\n' "$line" | sed 's/.*#include "\(.*\)\/[^/]*".*/\1/')
      known=no
      for one in $allowed; do [ "$from" = "$one" ] && known=yes; done
      [ $known = yes ] || printf '%s\n' "$line"
    done)
  if [ -z "$bad" ]; then
    echo "ok $point - $folder includes from: $allowed"
  else
    echo "not ok $point - $folder includes from elsewhere than: $allowed"
    printf '%s\n' "$bad" | sed 's/^/# /'
    failed=1
  fi
done <<EOF
include none
impls impls impls/core
reference reference
common common
verify verify reference common
bench bench common
reports reports common
cli cli verify bench reports common
EOF

point=$((point + 1))
rows=$(sed -n 's/^KERNEL(\([a-z0-9_]*\), *\(.*\))$/\1 \2/p' impls/kernels.def)
bad=$(printf '%s\n' "$rows" | while read -r symbol file; do
  grep -q "^const posenc_kernel posenc_kernel_$symbol = {" "impls/$file" || echo "# impls/$file does not end with the contract of $symbol"
done
for file in impls/*.c; do printf '%s\n' "$rows" | grep -q " ${file#impls/}\$" || echo "# $file has no row in kernels.def"; done)
if [ -n "$rows" ] && [ -z "$bad" ]; then
  echo "ok $point - a row in kernels.def for every file in impls, and a contract for every row"
else
  echo "not ok $point - a row in kernels.def for every file in impls, and a contract for every row"
  printf '%s\n' "$bad"
  failed=1
fi

# The oracle must not share a mistake with a kernel.
point=$((point + 1))
if grep -rn 'impls/' reference verify bench reports common cli --include='*.c' --include='*.h' | grep '#include'; then
  echo "not ok $point - no tool sees inside the library"
  failed=1
else
  echo "ok $point - no tool sees inside the library"
fi
echo "1..$point"
exit $failed
