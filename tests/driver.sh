#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs a test by automake's driver of TAP, with the same arguments, and keeps the seconds of its processes and of the
# clock beside its log, for "make test-seconds".
log='' before=''
for argument; do
  [ "$before" != --log-file ] || log=$argument
  before=$argument
done
start=$(date +%s)
/bin/sh "${top_srcdir:-.}/build-aux/tap-driver.sh" "$@"
status=$?
{ times && echo $(($(date +%s) - start)); } >"${log%.log}.times"
exit $status
