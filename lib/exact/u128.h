/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_EXACT_U128_H
#define POSENC_LIB_EXACT_U128_H

__extension__ typedef unsigned __int128 u128;

#endif
