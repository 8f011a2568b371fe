#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc for AArch64: see tests/cross.sh.
# Touched by: configure.ac Makefile.am lib impls include reference inspect verify records common cli
# Touched by: tests/cross.sh tests/hosts.sh tests/tap.sh tests/Makefile.inc
machine=aarch64
. "${srcdir:-.}/tests/cross.sh"
