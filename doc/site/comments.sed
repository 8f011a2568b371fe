# SPDX-License-Identifier: MIT
# Makes doxygen's comments of those of posenc.h: before a declaration, behind one, and the first, which is the file's.
# Titles of sections are left out, and a > that begins a comment is no quotation.
1s/.*//
s|^/\* ----.*||
s|/\* >|/* \\>|
s|\([,;0-9u)]\) */\* \(.*\*/\)$|\1 /**< \2|
s|^\( *\)/\*|\1/**|
2s|$| @file|
