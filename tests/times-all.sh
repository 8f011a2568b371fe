#!/bin/sh
# SPDX-License-Identifier: MIT
# tests/times.sh, with all lines of tests/mutants/expected-times. It takes a minute and a half: 154 runs of bench.
# Touched by: bench common/isolate.c common/worker.c common/process.c tests/mutants tests/times.sh
POSENC_TEST_TIMES=all
. "${srcdir:-.}/tests/times.sh"
