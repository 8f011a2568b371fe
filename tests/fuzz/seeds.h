/* SPDX-License-Identifier: MIT */
/* Small files of every kind. */
#ifndef POSENC_TESTS_FUZZ_SEEDS_H
#define POSENC_TESTS_FUZZ_SEEDS_H

#include "inspect/files/formats.h"
#include "tests/gguf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct seed {
  uint8_t bytes[1024];
  size_t size;
} seed;

/* Files that are no tables: wisdom, hard-to-round cases, records, configs and a baseline; arrays in memory; options. */
static const char *const seed_texts[] = {
    "posenc-wisdom 1\n0 0 0 4 8 1 40c3880000000000 1 rotation-portable 1234567 posenc 0.1.0, isa 7, a CPU\n",
    "# a table\nbase 10000\ndim 128\npositions 1048576\ncases 2\n"
    "731206 17 sin 0x1.5bf0a8p-1 0x1.5bf0a8p-1 3.1e-08\n5 0 cos 0x1.22785705fbfd4p-2 0x1.227858p-2 0.25\n",
    "{\"schema\": \"posenc-accuracy-1\", \"environment\": {}, \"kernels\": [], \"seed\": 1, \"budget\": 1, "
    "\"records\": [], "
    "\"profile\": [], \"unique\": null, \"passed\": 0, \"failed\": 0, \"skipped\": 0}",
    "{\"context\": {\"posenc_schema\": \"posenc-bench-2\"}, \"benchmarks\": [{\"name\": \"hot/a/naive/x\", "
    "\"run_type\": "
    "\"iteration\", \"real_time\": 1.5, \"cpu_time\": 1.5, \"time_unit\": \"ns\"}]}",
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 2, \"rope_theta\": 5e5, "
    "\"rope_local_base_freq\": 1e4, \"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4.0, \"mscale\": 1, "
    "\"original_max_position_embeddings\": 8192}, \"partial_rotary_factor\": 0.5}",
    "{\"text_config\": {\"head_dim\": 8, \"rope_parameters\": {\"full_attention\": {\"rope_type\": \"longrope\", "
    "\"rope_theta\": 1, \"short_factor\": [1, 2, 3, 4], \"long_factor\": [1, 2, 3, 4], \"factor\": 2, "
    "\"original_max_position_embeddings\": 64}}}}",
    "{\"schema\": \"posenc-baseline-1\", \"libc\": \"glibc\", \"kernel_abi\": 1, \"seed\": 1, \"budget\": 1, "
    "\"entries\": [{"
    "\"kernel\": \"naive\", \"shape\": {}, \"max_ulp\": 1, \"digest\": \"0123456789abcdef\"}]}",
    "x 3 4096 f32 2:64 4:16 4:4\n",
    "x 3 4096 f32 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 1:4 "
    "1:4 1:4 1:4 1:4 1:4 1:4 1:4 4:4",
    "len 64\ndim 8\nbase 5e5\noffset -3\nscale 0.5\nshift 0.25\npadding 1\nodd pad\nlayout split\n"
    "scaling yarn,factor=4,original=4096,low=1,high=32\nisa generic,avx2\nshard 1/3\nbudget 45s\nmode hot,cold\n",
    "dim 16\ngrid t=3:0:0.5,h=2+2:7,w=4/2,columns=wht,pairs=2:3:3,order=cyclic,frequencies=dealt,grouped=no\n",
    "dim 8\npositions 1,2.5,-3e2\nscaling longrope,short=1:2:3:4,factor=2,original=64\ndtype bf16\n"};

enum {
  SEED_FILES = 13,
  SEED_TEXTS = sizeof seed_texts / sizeof *seed_texts,
  SEED_TABLES = 8,
  SEED_OTHERS = SEED_FILES + SEED_TABLES + SEED_TEXTS,
  SEEDS = SEED_OTHERS + 1
};

/* Headers of .npy, by version, and of safetensors, version 0. */
static const struct {
  int version;
  const char *text;
} seed_headers[SEED_FILES] = {{1, "{'descr': '>f4', 'fortran_order': True, 'shape': (4, 4), }\n"},
                              {2, "{'shape': (1, 4, 2), 'descr': \"<f8\", 'fortran_order': False}"},
                              {3, "{'descr': '|V2', 'fortran_order': False, 'shape': (8L, 1L, 4L), }"},
                              {1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (4,), }"},
                              {1, "{'descr': '|O', 'fortran_order': False, 'shape': (), }"},
                              {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1, 2, 4), }\n"},
                              {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 2, 2, 2), }\n"},
                              {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 8), }\n"},
                              {1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2, 4), }\n"},
                              {0, "{\"pe\":{\"dtype\":\"F32\",\"shape\":[4,4],\"data_offsets\":[0,64]}}"},
                              {0, "{\"a\":{\"dtype\":\"F16\",\"shape\":[1,4,4],\"data_offsets\":[0,32]},"
                                  "\"pe\":{\"dtype\":\"BF16\",\"shape\":[4,4],\"data_offsets\":[32,64]}}"},
                              {0, "{\"__metadata__\":{\"x\":\"\\u00e9\"},"
                                  "\"pe\":{\"dtype\":\"F64\",\"shape\":[2,4],\"data_offsets\":[0,64]}}   "},
                              {0, "{\"b\":{\"dtype\":\"I64\",\"shape\":[8],\"data_offsets\":[0,64]},"
                                  "\"c\":{\"dtype\":\"F32\",\"shape\":[0,4],\"data_offsets\":[0,0]}}"}};

/* Makes a file of a header and 64 bytes of elements. */
static inline void seed_file(seed *s, int version, const char *text) {
  static const size_t widths[] = {8, 2, 4, 4}; /* by version */
  const size_t length = strlen(text), at = version == 0 ? 0 : 8, width = widths[version];
  if (version) memcpy(s->bytes, "\x93NUMPY", 6);
  if (version) s->bytes[6] = (uint8_t)version;
  s->bytes[at] = (uint8_t)length;
  memcpy(s->bytes + at + width, text, length);
  s->size = at + width + length + 64;
}

/* Makes a model of llama.cpp. */
static inline void seed_gguf(seed *s) {
  static const float factors[] = {1.0f, 1.5f, 4.0f, 8.0f};
  gguf_file f = gguf_begin("llama");
  gguf_add_u32(&f, "llama.context_length", 4096);
  gguf_add_u32(&f, "llama.rope.dimension_count", 8);
  gguf_add_f32(&f, "llama.rope.freq_base", 500000.0f);
  gguf_add_text(&f, "llama.rope.scaling.type", "linear");
  gguf_add_strings(&f, "tokenizer.ggml.tokens", 3);
  gguf_add_tensor(&f, "output.weight", NULL, 9);
  gguf_add_tensor(&f, "rope_freqs.weight", factors, 4);
  gguf_add_table(&f, "pe", 2, 4);
  gguf_end(&f);
  if (f.size > sizeof s->bytes) abort();
  memcpy(s->bytes, f.bytes, f.size);
  s->size = f.size;
  gguf_free(&f);
}

/* Makes seed `number`, from 0 to SEEDS - 1. */
static inline void seed_make(int number, seed *s) {
  memset(s, 0, sizeof *s);
  if (number == SEED_OTHERS) {
    seed_gguf(s);
    return;
  }
  if (number < SEED_FILES) {
    seed_file(s, seed_headers[number].version, seed_headers[number].text);
    return;
  }
  if (number >= SEED_FILES + SEED_TABLES) {
    const char *text = seed_texts[number - SEED_FILES - SEED_TABLES];
    s->size = strlen(text);
    memcpy(s->bytes, text, s->size);
    return;
  }
  /* Files as posenc writes them, for each dtype. */
  posenc_problem problem = posenc_table(4, 4);
  problem.dtype = (posenc_dtype)((number - SEED_FILES) % 4);
  static const double positions[] = {3.0, -0.5, 0.0, 1e9};
  if (problem.dtype == POSENC_F16) problem.positions = positions; /* with a tensor of positions before the table */
  size_t bytes = 0, length = 0;
  posenc_table_bytes(&problem, &bytes);
  if (number - SEED_FILES < 4) {
    char header[NPY_HEADER_MAX];
    length = npy_header(problem.dtype, (int64_t[]){problem.rows, problem.dim}, 2, header);
    memcpy(s->bytes, header, length);
  } else {
    char *header = safetensors_header(&problem, "seed", &length);
    if (!header || length + bytes + sizeof positions > sizeof s->bytes) abort();
    memcpy(s->bytes, header, length);
    free(header);
  }
  s->size = length + bytes + (problem.positions ? sizeof positions : 0);
}

#endif
