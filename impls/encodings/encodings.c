/* SPDX-License-Identifier: MIT */
/* The list of encodings. The contract of an encoding that kernels compute refers to the kernels. */
#include "impls/encodings/encoding.h"

static const posenc_encoding sinusoidal = {
    .name = "sinusoidal",
    .summary = "sines and cosines of the position, in a geometric progression of wavelengths",
    .formula = "PE[p, 2i] = sin(p base^(-2i/dim)), PE[p, 2i+1] = cos(p base^(-2i/dim))",
    .call = "posenc_execute, or posenc_apply to add it",
    .provenance = "Vaswani et al., \"Attention Is All You Need\", 2017",
    .by_kernels = true,
    .basis = "that of the kernel",
    .reproducible = true,
};

static const posenc_encoding rope = {
    .name = "rope",
    .summary = "pairs of x turned by the angles of their position",
    .formula = "(a, b) becomes (a cos t - b sin t, a sin t + b cos t), t = p base^(-2i/dim)",
    .call = "posenc_apply, or posenc_rope_cache",
    .provenance = "Su et al., \"RoFormer\", 2021",
    .by_kernels = true,
    .basis = "that of the kernel",
    .reproducible = true,
};

static const posenc_encoding *const encodings[] = {
    &sinusoidal, &rope, &encoding_integer, &encoding_binary, &encoding_learned, &encoding_alibi, &encoding_dropout,
};
enum { ENCODINGS = sizeof encodings / sizeof *encodings };

const posenc_encoding *const *posenc_encodings(size_t *count) {
  if (count) *count = ENCODINGS;
  return encodings;
}

const posenc_encoding *posenc_encoding_find(const char *name) {
  for (size_t i = 0; name && i < ENCODINGS; i++)
    if (strcmp(encodings[i]->name, name) == 0) return encodings[i];
  return NULL;
}
