/* SPDX-License-Identifier: MIT */
/*
 * Recipes: how shipped frameworks compute the table, as kernels, so that their errors can be measured. Each is written
 * from the formula, with the framework's order of operations and the type of every step. The difference is that powers,
 * exponentials and sines are those of libm, not the framework's own. Recipes use the library through posenc.h only, as
 * a plugin does; libposenc does not contain them.
 */
#ifndef POSENC_IMPLS_RECIPES_RECIPES_H
#define POSENC_IMPLS_RECIPES_RECIPES_H

#include "posenc.h"

/* Returns all recipes, negative controls last. Their names begin with "recipe/". Static storage. */
const posenc_kernel *const *recipes_kernels(size_t *count);

/* Returns the recipes without pictures and negative controls, but with positions in bf16, with which many models were
   trained. Static storage. */
const posenc_kernel *const *recipes_shipped(size_t *count);

#endif
