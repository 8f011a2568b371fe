#!/bin/sh
# SPDX-License-Identifier: MIT
# Tests posenc for s390x, the other byte order: see tests/cross.sh.
# Touched by: configure.ac Makefile.am lib impls include reference inspect verify records common cli
# Touched by: tests/cross.sh tests/hosts.sh tests/tap.sh tests/Makefile.inc
machine=s390x
. "${srcdir:-.}/tests/cross.sh"
