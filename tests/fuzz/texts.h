/* SPDX-License-Identifier: MIT */
#ifndef POSENC_TESTS_FUZZ_TEXTS_H
#define POSENC_TESTS_FUZZ_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* Calls all readers of texts on these bytes. Ends the process if one misbehaves. */
void texts_read(const uint8_t *bytes, size_t size);

#endif
