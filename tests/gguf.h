/* SPDX-License-Identifier: MIT */
/* Writes small GGUF files, version 3: keys, then tensors of f32. If a tensor's numbers are null, they are zeros. */
#ifndef POSENC_TESTS_GGUF_H
#define POSENC_TESTS_GGUF_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { GGUF_ROOM = 1 << 14, GGUF_TENSORS = 4, GGUF_NUMBERS = 128 };
enum { GGUF_U32 = 4, GGUF_F32 = 6, GGUF_STRING = 8, GGUF_ARRAY = 9 };

typedef struct gguf_file {
  uint8_t *bytes;
  size_t size;
  uint64_t keys, tensors, data_size;
  float data[GGUF_TENSORS][GGUF_NUMBERS];
  uint64_t counts[GGUF_TENSORS];
} gguf_file;

static inline void gguf_put(gguf_file *f, const void *bytes, size_t size) {
  if (size > GGUF_ROOM - f->size) abort();
  memcpy(f->bytes + f->size, bytes, size);
  f->size += size;
}

/* The bytes of numbers come least significant first. */
static inline void gguf_store(uint8_t *to, uint64_t value, size_t size) {
  for (size_t i = 0; i < size; i++) to[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t gguf_bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static inline void gguf_put_u32(gguf_file *f, uint32_t value) {
  uint8_t bytes[sizeof value];
  gguf_store(bytes, value, sizeof value);
  gguf_put(f, bytes, sizeof bytes);
}

static inline void gguf_put_u64(gguf_file *f, uint64_t value) {
  uint8_t bytes[sizeof value];
  gguf_store(bytes, value, sizeof value);
  gguf_put(f, bytes, sizeof bytes);
}

static inline void gguf_put_text(gguf_file *f, const char *text) {
  gguf_put_u64(f, strlen(text));
  gguf_put(f, text, strlen(text));
}

static inline void gguf_add(gguf_file *f, const char *key, uint32_t type) {
  f->keys++;
  gguf_put_text(f, key);
  gguf_put_u32(f, type);
}

static inline void gguf_add_text(gguf_file *f, const char *key, const char *text) {
  gguf_add(f, key, GGUF_STRING);
  gguf_put_text(f, text);
}

static inline void gguf_add_u32(gguf_file *f, const char *key, uint32_t value) {
  gguf_add(f, key, GGUF_U32);
  gguf_put_u32(f, value);
}

static inline void gguf_add_f32(gguf_file *f, const char *key, float value) {
  gguf_add(f, key, GGUF_F32);
  gguf_put_u32(f, gguf_bits_of(value));
}

static inline void gguf_add_strings(gguf_file *f, const char *key, uint64_t count) {
  gguf_add(f, key, GGUF_ARRAY);
  gguf_put_u32(f, GGUF_STRING);
  gguf_put_u64(f, count);
  for (uint64_t n = 0; n < count; n++) gguf_put_text(f, "<s>");
}

static inline gguf_file gguf_begin(const char *architecture) {
  gguf_file f = {.bytes = calloc(1, GGUF_ROOM)};
  if (!f.bytes) abort();
  gguf_put(&f, "GGUF\3\0\0\0", 8);
  gguf_put_u64(&f, 0); /* numbers of tensors and keys, which gguf_end sets */
  gguf_put_u64(&f, 0);
  gguf_add_text(&f, "general.architecture", architecture);
  return f;
}

static inline void gguf_add_tensor(gguf_file *f, const char *name, const float *numbers, uint64_t count) {
  if (f->tensors == GGUF_TENSORS || count > GGUF_NUMBERS) abort();
  gguf_put_text(f, name);
  gguf_put_u32(f, 1);
  gguf_put_u64(f, count);
  gguf_put_u32(f, 0);
  gguf_put_u64(f, f->data_size);
  if (numbers) memcpy(f->data[f->tensors], numbers, count * sizeof *numbers);
  f->counts[f->tensors++] = count;
  f->data_size += (count * sizeof(float) + 31) / 32 * 32;
}

/* Adds a tensor of two axes. */
static inline void gguf_add_table(gguf_file *f, const char *name, uint64_t rows, uint64_t columns) {
  if (f->tensors == GGUF_TENSORS || rows * columns > GGUF_NUMBERS) abort();
  gguf_put_text(f, name);
  gguf_put_u32(f, 2);
  gguf_put_u64(f, columns);
  gguf_put_u64(f, rows);
  gguf_put_u32(f, 0);
  gguf_put_u64(f, f->data_size);
  f->counts[f->tensors++] = rows * columns;
  f->data_size += (rows * columns * sizeof(float) + 31) / 32 * 32;
}

static inline void gguf_end(gguf_file *f) {
  gguf_store(f->bytes + 8, f->tensors, sizeof f->tensors);
  gguf_store(f->bytes + 16, f->keys, sizeof f->keys);
  if (f->tensors) f->size = (f->size + 31) / 32 * 32;
  for (uint64_t n = 0; n < f->tensors; n++) {
    for (uint64_t i = 0; i < f->counts[n]; i++)
      gguf_store(f->bytes + f->size + i * sizeof(float), gguf_bits_of(f->data[n][i]), sizeof(float));
    f->size += (f->counts[n] * sizeof(float) + 31) / 32 * 32;
  }
}

static inline void gguf_free(gguf_file *f) {
  free(f->bytes);
}

#endif
