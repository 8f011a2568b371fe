#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests machines on which no thread, or no process, can be started: fewer threads write the same bits, verify blames no
# kernel, and no file is left.
. "${srcdir:-.}/tests/command.sh"

# root has no limit of processes, so another user, who has no other processes, runs the commands.
limited() { # PROCESSES COMMAND...
  limit=$1
  shift
  if [ "$(id -u)" -eq 0 ]; then
    setpriv --reuid=54321 --regid=54321 --clear-groups prlimit --nproc="$limit" "$@"
  else
    prlimit --nproc="$limit" "$@"
  fi
}
posenc_limited() { # PROCESSES ARGUMENT...: sets $status
  most=$1
  shift
  limited "$most" "$POSENC" "$@" >out 2>err
  status=$?
}

! emulated || skip_all 'an emulator has threads of its own'
export OMP_NUM_THREADS=2
export ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" # leak detection takes a process
umask 022
chmod 777 .
limited 9 "$POSENC" --version >/dev/null 2>&1 ||
  skip_all 'no setpriv or prlimit, or the build folder is not open to another user'
! limited 1 sh -c 'true & wait' >/dev/null 2>&1 ||
  skip_all 'this system does not limit processes'

for kernel in rotation-threads cr-threads; do
  "$POSENC" write --kernel $kernel --len 20000 --dim 64 --threads 3 -o want.npy
  rm -f got.npy
  posenc_limited 1 write --kernel $kernel --len 20000 --dim 64 --threads 3 -o got.npy
  check "$kernel: without a second thread" test $status -eq 0 -a ! -s err
  check "$kernel: without a second thread, the same bits" cmp -s want.npy got.npy
  if [ "$(id -u)" -eq 0 ]; then
    posenc_limited 2 write --kernel $kernel --len 20000 --dim 64 --threads 3 -o got.npy
    check "$kernel: with two of three threads" test $status -eq 0
    check "$kernel: with two of three threads, the same bits" cmp -s want.npy got.npy
  else
    skip "$kernel: with two of three threads" 'other processes of this user count'
  fi
done
"$POSENC" write --len 20000 --dim 64 -o want.npy
posenc_limited 1 check want.npy --max-ulp 0.50001
check 'check takes one thread' test $status -eq 0 -a ! -s err
posenc_limited 1 identify want.npy
check 'identify takes one thread' test $status -eq 0 -a ! -s err

unmade() { # COMMAND...: one line on stderr, and no file
  posenc_limited 1 "$@"
  [ $status -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] && grep -q 'no process could be created' err &&
    [ -z "$(find . -name '*.json' -o -name '.*.json*')" ]
}
check 'verify needs a process' unmade verify --kernel naive --len 20 --dim 8
check 'verify without a process leaves no file' unmade verify --kernel naive --len 20 --dim 8 --format json -o new.json
check 'verify --encoding without a process leaves no file' unmade verify --encoding '*' --format json -o new.json
check 'verify --profile without a process leaves no file' \
  unmade verify --kernel rotation-portable --len 20 --dim 8 --profile --format json -o new.json

skips() { # COUNT: number of skipped points beyond those that this build always skips
  [ "$(grep SKIP out | grep -v -c -e 'cannot make the memory' -e 'allocator does not tell')" -eq "$1" ]
}
if [ "$(id -u)" -eq 0 ]; then
  for processes in 2 3 4 5; do # the number for one kernel; a second kernel at once would change it
    posenc_limited "$processes" verify --kernel rotation-portable --len 5000 --dim 64
    [ $status -eq 2 ] || break
  done
  check 'verify with a process, and no second thread in it' test $status -eq 0 -a ! -s err
  check 'a check of two threads is skipped' \
    test "$(grep -c 'threads 5000x64 # SKIP .*threads could not be had' out)" -eq 1
  check 'no other check is skipped, but that of the stack, which takes a thread' skips 2
  posenc_limited "$processes" verify --kernel naive --op rope --len 300 --heads 4 --dim 16
  check 'the same of rope' eval '[ $status -eq 0 ] && skips 3'
else
  for what in 'verify with a process' 'a check of two threads is skipped' 'no other but that of the stack' \
    'the same of rope'; do
    skip "$what" 'other processes of this user count'
  done
fi

plan
