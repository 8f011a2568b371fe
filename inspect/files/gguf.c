/* SPDX-License-Identifier: MIT */
/* GGUF files: their metadata and tensors about positions. */
#include "config.h"

#include "inspect/files/formats.h"

#include "common/field.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char magic[4] = {'G', 'G', 'U', 'F'};
static const char architecture[] = "general.architecture", alignment[] = "general.alignment";

enum {
  NAME_MAX_BYTES = 1 << 10, /* name of a key or a tensor; the format allows 65535 and 64 */
  VALUE_MAX_BYTES = 1 << 10,
  NUMBERS_MAX = 1 << 16, /* numbers in an array that is kept */
  KEPT_MAX = 1 << 10,    /* number of keys, which bounds memory */
  LISTED_MAX = 1 << 16,  /* number of tensors that are described */
  NESTED_MAX = 4         /* depth of arrays in arrays */
};

/* The types of values, by their numbers in the format. */
typedef enum value_type {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  BOOLEAN,
  STRING,
  ARRAY,
  U64,
  I64,
  F64,
  VALUE_TYPES
} value_type;
static const unsigned char type_bytes[VALUE_TYPES] = {
    [U8] = 1,  [I8] = 1,  [U16] = 2,     [I16] = 2,    [U32] = 4,   [I32] = 4, [F32] = 4,
    [U64] = 8, [I64] = 8, [BOOLEAN] = 1, [STRING] = 0, [ARRAY] = 0, [F64] = 8};
enum { TENSOR_F32 = 0 };

/* The bytes that are left to read. */
typedef struct cursor {
  const unsigned char *bytes;
  size_t size, at;
  fault *why;
} cursor;

typedef struct gguf_text {
  const char *text; /* points into the file; not terminated */
  size_t length;
} gguf_text;

/* ---- reading ----------------------------------------------------------------------------------- */

static bool has(cursor *c, uint64_t bytes) {
  return bytes <= c->size - c->at || fault_say(c->why, "it ends within its header");
}

/* Returns the number in the `bytes` bytes from `from` on, which must be within the file. */
static uint64_t bits_at(const unsigned char *from, size_t bytes) {
  uint64_t value = 0;
  for (size_t i = 0; i < bytes; i++) value |= (uint64_t)from[i] << (8 * i);
  return value;
}

static bool read_bits(cursor *c, size_t bytes, uint64_t *value) {
  if (!has(c, bytes)) return false;
  *value = bits_at(c->bytes + c->at, bytes);
  c->at += bytes;
  return true;
}

static bool skip(cursor *c, uint64_t count, uint64_t each) {
  uint64_t bytes;
  if (__builtin_mul_overflow(count, each, &bytes)) bytes = UINT64_MAX;
  if (!has(c, bytes)) return false;
  c->at += (size_t)bytes;
  return true;
}

static bool read_span(cursor *c, gguf_text *s) {
  uint64_t length = 0;
  if (!read_bits(c, sizeof length, &length) || !has(c, length)) return false;
  *s = (gguf_text){(const char *)c->bytes + c->at, (size_t)length};
  c->at += (size_t)length;
  return true;
}

static bool is_span(gguf_text s, const char *text) {
  return s.length == strlen(text) && memcmp(s.text, text, s.length) == 0;
}

/* Copies a text that is not too long. Returns false if a name has a NUL, as a name in C ends there. */
static bool copy_name(cursor *c, gguf_text s, char copy[NAME_MAX_BYTES + 1]) {
  memcpy(copy, s.text, s.length);
  copy[s.length] = '\0';
  return strlen(copy) == s.length || fault_say(c->why, "a name has a NUL");
}

static bool ends_with(gguf_text s, const char *text) {
  const size_t length = strlen(text);
  return s.length >= length && memcmp(s.text + s.length - length, text, length) == 0;
}

static bool contains(gguf_text s, const char *text) {
  return memmem(s.text, s.length, text, strlen(text));
}

static double real_of(uint64_t bits, value_type type) {
  const uint32_t narrow = (uint32_t)bits;
  float single;
  double wide;
  memcpy(&single, &narrow, sizeof single);
  memcpy(&wide, &bits, sizeof wide);
  return type == F32 ? (double)single : wide;
}

/* Returns a number or a boolean; null for infinities and NaN, which JSON lacks. */
static json_t *json_of(uint64_t bits, value_type type) {
  const int unused = 64 - 8 * type_bytes[type];
  switch (type) {
  case F32:
  case F64:
    return json_real(real_of(bits, type));
  case BOOLEAN:
    return json_boolean(bits != 0);
  case I8:
  case I16:
  case I32:
  case I64:
    return json_integer((json_int_t)(bits << unused) >> unused);
  default:
    return bits <= INT64_MAX ? json_integer((json_int_t)bits) : json_real((double)bits);
  }
}

/* ---- metadata ---------------------------------------------------------------------------------- */

static bool is_kept(gguf_text key) {
  return is_span(key, architecture) || is_span(key, alignment) || contains(key, ".rope.") ||
         contains(key, ".attention.") || ends_with(key, ".context_length") || ends_with(key, ".embedding_length") ||
         ends_with(key, ".block_count");
}

static bool read_type(cursor *c, value_type *type) {
  uint64_t number = 0;
  if (!read_bits(c, 4, &number)) return false;
  if (number >= VALUE_TYPES) return fault_say(c->why, "type %" PRIu64 " of a value is not known", number);
  *type = (value_type)number;
  return true;
}

static bool skip_value(cursor *c, value_type type);

/* Skips the elements of an array, whose length has been read. The depth of arrays in arrays is limited. */
static bool skip_elements(cursor *c, value_type type, uint64_t count, int depth) {
  if (type != STRING && type != ARRAY) return skip(c, count, type_bytes[type]);
  if (depth > NESTED_MAX) return fault_say(c->why, "arrays are nested too deep");
  for (uint64_t n = 0; n < count; n++) {
    gguf_text unused;
    value_type inner = U8;
    uint64_t inner_count = 0;
    if (type == STRING ? !read_span(c, &unused)
                       : !read_type(c, &inner) || !read_bits(c, 8, &inner_count) ||
                             !skip_elements(c, inner, inner_count, depth + 1))
      return false;
  }
  return true;
}

static bool skip_value(cursor *c, value_type type) {
  gguf_text unused;
  value_type inner = U8;
  uint64_t count = 0;
  if (type == STRING) return read_span(c, &unused);
  if (type != ARRAY) return skip(c, 1, type_bytes[type]);
  return read_type(c, &inner) && read_bits(c, 8, &count) && skip_elements(c, inner, count, 1);
}

/* Reads an array of numbers as JSON; as an empty array if it has other elements, or too many. */
static bool read_array(cursor *c, json_t **value) {
  value_type type = U8;
  uint64_t count = 0, bits = 0;
  if (!read_type(c, &type) || !read_bits(c, 8, &count)) return false;
  *value = json_array();
  if (type == STRING || type == ARRAY || count > NUMBERS_MAX) return skip_elements(c, type, count, 1);
  for (uint64_t n = 0; n < count; n++) {
    if (!read_bits(c, type_bytes[type], &bits)) return false;
    if (json_array_append_new(*value, json_of(bits, type)) != 0)
      return fault_say(c->why, "number %" PRIu64 " of an array is not finite", n + 1);
  }
  return true;
}

static bool read_value(cursor *c, value_type type, json_t **value) {
  gguf_text text;
  uint64_t bits = 0;
  *value = NULL;
  if (type == ARRAY) return read_array(c, value);
  if (type == STRING) {
    if (!read_span(c, &text)) return false;
    *value = text.length <= VALUE_MAX_BYTES ? json_stringn(text.text, text.length) : NULL;
    return *value || fault_say(c->why, "a string is no UTF-8, or longer than %d bytes", VALUE_MAX_BYTES);
  }
  if (!read_bits(c, type_bytes[type], &bits)) return false;
  *value = json_of(bits, type);
  return *value || fault_say(c->why, "a number is not finite");
}

/* Prefixes a fault with a name: a path, or a name from the file. Returns false. */
static bool fault_at(cursor *c, const char *key) {
  fault reason = *c->why;
  json_t *name = field_name(key, "");
  fault_say(c->why, "%s: %.300s", name ? json_string_value(name) : "?", reason.text);
  json_decref(name);
  return false;
}

static bool read_pair(cursor *c, json_t *found) {
  gguf_text key;
  value_type type = U8;
  json_t *value;
  char name[NAME_MAX_BYTES + 1];
  if (!read_span(c, &key) || !read_type(c, &type)) return false;
  if (key.length > NAME_MAX_BYTES || !is_kept(key)) return skip_value(c, type);
  if (!copy_name(c, key, name)) return false;
  if (json_object_size(found) >= KEPT_MAX) return fault_say(c->why, "more than %d keys about positions", KEPT_MAX);
  bool ok = read_value(c, type, &value);
  if (ok && json_object_get(found, name)) ok = fault_say(c->why, "it is there twice");
  if (!ok) {
    json_decref(value);
    return fault_at(c, name);
  }
  return json_object_set_new(found, name, value) == 0 || fault_say(c->why, "a key is no UTF-8");
}

/* ---- tensors ----------------------------------------------------------------------------------- */

enum { TENSORS = 3, AXES_MAX = 8 };

typedef struct tensor {
  const char *name; /* null if not in the file */
  uint64_t count, offset, type, axes[AXES_MAX], axis_count;
} tensor;

static const char *const tensor_names[TENSORS] = {"rope_freqs.weight", "rope_factors_long.weight",
                                                  "rope_factors_short.weight"};

static bool read_tensor(cursor *c, gguf_text *name, tensor *t) {
  *t = (tensor){.count = 1};
  if (!read_span(c, name) || !read_bits(c, 4, &t->axis_count)) return false;
  if (t->axis_count > AXES_MAX) return fault_say(c->why, "a tensor has %" PRIu64 " axes", t->axis_count);
  for (uint64_t n = 0; n < t->axis_count; n++) {
    if (!read_bits(c, 8, &t->axes[n])) return false;
    if (__builtin_mul_overflow(t->count, t->axes[n], &t->count)) t->count = UINT64_MAX;
  }
  return read_bits(c, 4, &t->type) && read_bits(c, 8, &t->offset);
}

/* Keeps a tensor of rope's factors. */
static void keep_tensor(gguf_text name, const tensor *t, tensor kept[TENSORS]) {
  for (size_t n = 0; n < TENSORS; n++)
    if (is_span(name, tensor_names[n])) {
      kept[n] = *t;
      kept[n].name = tensor_names[n];
    }
}

/* Reads the numbers of a tensor. The data of tensors begin at `begin` of the file. */
static bool take_numbers(cursor *c, const tensor *t, size_t begin, json_t *found) {
  if (t->type != TENSOR_F32) return fault_say(c->why, "its type is %" PRIu64 ", not f32", t->type);
  if (t->count > NUMBERS_MAX) return fault_say(c->why, "it has more than %d numbers", NUMBERS_MAX);
  if (begin > c->size || t->offset > c->size - begin || t->count * sizeof(float) > c->size - begin - t->offset)
    return fault_say(c->why, "it is not all in the file");
  json_t *numbers = json_array();
  const unsigned char *from = c->bytes + begin + t->offset;
  for (uint64_t n = 0; n < t->count; n++)
    if (json_array_append_new(numbers, json_of(bits_at(from + n * sizeof(float), sizeof(float)), F32)) != 0) {
      json_decref(numbers);
      return fault_say(c->why, "number %" PRIu64 " is not finite", n + 1);
    }
  json_object_set_new(found, t->name, numbers);
  return true;
}

/* Sets the unit to whose multiples tensors are aligned. */
static bool read_unit(cursor *c, const json_t *found, size_t *unit) {
  enum { ALIGNMENT = 32, ALIGNMENT_LEAST = 8, ALIGNMENT_MAX = 1 << 16 };
  const json_t *told = json_object_get(found, alignment);
  const json_int_t number = told ? json_integer_value(told) : ALIGNMENT;
  if (number < 1 || number > ALIGNMENT_MAX || number % ALIGNMENT_LEAST)
    return fault_say(c->why, "%s: not a multiple of %d, at most %d", alignment, ALIGNMENT_LEAST, ALIGNMENT_MAX);
  *unit = (size_t)number;
  return true;
}

/* Adds the description of a tensor as a header of safetensors has it. */
static bool list_tensor(cursor *c, gguf_text name, const tensor *t, json_t *listed) {
  static const struct {
    const char *name;
    uint64_t bytes;
  } dtypes[] = {[0] = {"F32", 4}, [1] = {"F16", 2}, [28] = {"F64", 8}, [30] = {"BF16", 2}};
  char text[NAME_MAX_BYTES + 1];
  const bool is_plain = t->type < sizeof dtypes / sizeof *dtypes && dtypes[t->type].name;
  const uint64_t bytes = is_plain ? dtypes[t->type].bytes : 0;
  if (name.length > NAME_MAX_BYTES || json_object_size(listed) >= LISTED_MAX)
    return fault_say(c->why, "more than %d tensors, or a name of more than %d bytes", LISTED_MAX, NAME_MAX_BYTES);
  if (!copy_name(c, name, text)) return false;
  if (json_object_get(listed, text)) return fault_say(c->why, "two tensors have one name");
  uint64_t size, end;
  if (__builtin_mul_overflow(t->count, bytes, &size) || __builtin_add_overflow(t->offset, size, &end) ||
      end > INT64_MAX)
    return fault_say(c->why, "a tensor is larger than any file");
  json_t *axes = json_array();
  for (uint64_t n = t->axis_count; n-- > 0;) json_array_append_new(axes, json_integer((json_int_t)t->axes[n]));
  json_t *one = json_pack("{s:s, s:o, s:[I, I]}", "dtype", is_plain ? dtypes[t->type].name : "quantized", "shape", axes,
                          "data_offsets", (json_int_t)t->offset, (json_int_t)end);
  return json_object_set_new(listed, text, one) == 0 || fault_say(c->why, "a name is no UTF-8");
}

/* Reads the tensors from the end of the metadata on: those that are kept; or, unless `listed` is null, describes all
   there, and sets *begin, where their data begin. */
static bool read_tensors(cursor *c, uint64_t count, json_t *found, json_t *listed, size_t *begin) {
  tensor kept[TENSORS] = {{0}}, t;
  size_t unit = 1;
  gguf_text name;
  if (!read_unit(c, found, &unit)) return false;
  for (uint64_t n = 0; n < count; n++) {
    if (!read_tensor(c, &name, &t) || (listed && !list_tensor(c, name, &t, listed))) return false;
    if (t.offset % unit) return fault_say(c->why, "the data of a tensor begin at no multiple of %zu bytes", unit);
    keep_tensor(name, &t, kept);
  }
  *begin = (c->at + unit - 1) / unit * unit;
  for (size_t n = 0; !listed && n < TENSORS; n++)
    if (kept[n].name && !take_numbers(c, &kept[n], *begin, found)) return fault_at(c, kept[n].name);
  return true;
}

/* ---- the file ---------------------------------------------------------------------------------- */

bool gguf_is(const unsigned char *bytes, size_t size) {
  return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

/* Reads a whole file. `listed` and *begin: see read_tensors. */
static json_t *read_file(const unsigned char *bytes, size_t size, json_t *listed, size_t *begin, fault *why) {
  enum { OLDEST = 2, NEWEST = 3 };
  cursor c = {bytes, size, sizeof magic, why};
  uint64_t version = 0, tensors = 0, pairs = 0;
  bool ok = (gguf_is(bytes, size) || fault_say(why, "it is no GGUF file")) && read_bits(&c, 4, &version);
  if (ok && (version < OLDEST || version > NEWEST))
    ok = fault_say(why, "GGUF version %" PRIu64 ", which is not %d or %d in this order of bytes", version, OLDEST,
                   NEWEST);
  ok = ok && read_bits(&c, 8, &tensors) && read_bits(&c, 8, &pairs);
  json_t *found = json_object();
  for (uint64_t n = 0; ok && n < pairs; n++) ok = read_pair(&c, found);
  ok = ok && read_tensors(&c, tensors, found, listed, begin);
  if (ok) return found;
  json_decref(found);
  return NULL;
}

json_t *gguf_read(const unsigned char *bytes, size_t size, fault *why) {
  size_t unused;
  return read_file(bytes, size, NULL, &unused, why);
}

bool gguf_find(const unsigned char *bytes, size_t size, size_t held, const char *wanted, table_half half, stored *found,
               char **name, fault *why) {
  size_t begin;
  json_t *listed = json_object(), *unused = read_file(bytes, held, listed, &begin, why);
  *name = NULL;
  const bool ok = unused && tensors_choose(listed, wanted, half, begin < size ? size - begin : 0, found, name, why);
  if (ok) found->begin += begin;
  json_decref(unused);
  json_decref(listed);
  return ok;
}
