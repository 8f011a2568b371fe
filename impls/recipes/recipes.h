/* SPDX-License-Identifier: MIT */
/*
 * Recipes: how shipped frameworks compute the table, as kernels like any other, so that their errors can be measured.
 * Each is written from the formula, with the framework's order of operations and the type of every step; what differs
 * is libm for the framework's own powers, exponentials and sines. They see the library through posenc.h alone, as a
 * plugin does, and libposenc knows nothing of them.
 */
#ifndef POSENC_IMPLS_RECIPES_RECIPES_H
#define POSENC_IMPLS_RECIPES_RECIPES_H

#include "posenc.h"

/* All of them, negative controls last. Their names begin with "recipe/". Static storage. */
const posenc_kernel *const *recipes_kernels(size_t *count);

/* Without the negative controls, but for positions in bf16, which many a model was trained with. Static storage. */
const posenc_kernel *const *recipes_shipped(size_t *count);

#endif
