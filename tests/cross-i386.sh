#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc for 32-bit x86: see tests/cross.sh.
# Touched by: configure.ac Makefile.am lib impls include reference inspect verify records common cli
# Touched by: tests/cross.sh tests/hosts.sh tests/tap.sh tests/Makefile.inc
machine=i386
. "${srcdir:-.}/tests/cross.sh"
