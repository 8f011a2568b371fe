/* SPDX-License-Identifier: MIT */
#include "files/npy.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The version follows, then the length of the header's text: two bytes in version 1, four from then on, the least significant first. */
static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { LENGTH_AT = sizeof magic + 2 };

/* ---- writing ----------------------------------------------------------------------------------- */

size_t npy_header(const posenc_problem *problem, char header[NPY_HEADER_MAX]) {
  const size_t prefix = LENGTH_AT + 2;
  /* NumPy has no bfloat16; that of ml_dtypes is saved as two bytes of raw data. */
  const char kind = problem->dtype == POSENC_BF16 ? 'V' : 'f';
  const char order = stored_swapped('<') ? '>' : '<';
  char *text = header + prefix;
  size_t used =
      prefix + (size_t)snprintf(text, NPY_HEADER_MAX - prefix,
                                "{'descr': '%c%c%zu', 'fortran_order': False, 'shape': (%" PRId64 ", %" PRId64 "), }",
                                order, kind, posenc_dtype_bytes(problem->dtype), problem->rows, problem->dim);
  /* At least the newline has to fit behind it. */
  size_t total = (used + NPY_ALIGNMENT) / NPY_ALIGNMENT * NPY_ALIGNMENT;
  memset(header + used, ' ', total - used);
  header[total - 1] = '\n';
  memcpy(header, magic, sizeof magic);
  header[sizeof magic] = 1;
  header[sizeof magic + 1] = 0;
  header[LENGTH_AT] = (char)((total - prefix) & 0xff);
  header[LENGTH_AT + 1] = (char)((total - prefix) >> 8);
  return total;
}

/* ---- reading: as much of Python as headers are made of ------------------------------------------- */

/* A header that is longer describes no array of numbers; NumPy itself stops at 10000. */
enum { TEXT_MAX = 1 << 16 };

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_space(cursor *c) {
  while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n' || *c->at == '\r')) c->at++;
}

static bool take(cursor *c, const char *token) {
  const size_t length = strlen(token);
  skip_space(c);
  if ((size_t)(c->end - c->at) < length || memcmp(c->at, token, length) != 0) return false;
  c->at += length;
  return true;
}

/* A string without escapes that fits. */
static bool take_string(cursor *c, char *text, size_t size) {
  skip_space(c);
  if (c->at == c->end || (*c->at != '\'' && *c->at != '"')) return false;
  const char quote = *c->at++;
  for (size_t used = 0; c->at < c->end && used < size; c->at++) {
    if (*c->at == quote) {
      text[used] = '\0';
      c->at++;
      return true;
    }
    if (*c->at == '\\' || *c->at == '\0') return false;
    text[used++] = *c->at;
  }
  return false;
}

static bool take_bool(cursor *c, bool *value) {
  *value = take(c, "True");
  return *value || take(c, "False");
}

/* Too large a number ends at the largest, which no file has. */
static bool take_integer(cursor *c, int64_t *value) {
  skip_space(c);
  const char *const start = c->at;
  *value = 0;
  for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++)
    if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *c->at - '0', value))
      *value = INT64_MAX;
  const bool any = c->at > start;
  if (any) take(c, "L"); /* Python 2 */
  return any;
}

static bool take_tuple(cursor *c, int64_t *axes, size_t *count) {
  *count = 0;
  if (!take(c, "(")) return false;
  while (!take(c, ")")) {
    if (*count == STORED_AXES || !take_integer(c, &axes[(*count)++])) return false;
    if (!take(c, ",") && (c->at == c->end || *c->at != ')')) return false;
  }
  return true;
}

static bool parse_descr(const char *descr, stored *found) {
  const bool ordered = *descr && strchr("<>|=", *descr);
  const char order = *descr == '<' || *descr == '>' ? *descr : stored_swapped('<') ? '>' : '<';
  const char *const type = descr + ordered;
  found->swapped = stored_swapped(order);
  if (strcmp(type, "f4") == 0)
    found->dtype = POSENC_F32;
  else if (strcmp(type, "f8") == 0)
    found->dtype = POSENC_F64;
  else if (strcmp(type, "f2") == 0)
    found->dtype = POSENC_F16;
  else if (strcmp(type, "V2") == 0) /* as npy_header and ml_dtypes write it */
    found->dtype = POSENC_BF16;
  else
    return false;
  return true;
}

static bool parse_text(cursor c, stored *found, fault *why) {
  enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
  static const char broken[] = "its header is no dict of descr, fortran_order and shape";
  char key[32], descr[64];
  int64_t axes[STORED_AXES];
  size_t axis_count = 0;
  unsigned seen = 0;
  if (!take(&c, "{")) return fault_say(why, broken);
  while (!take(&c, "}")) {
    if (!take_string(&c, key, sizeof key) || !take(&c, ":")) return fault_say(why, broken);
    const unsigned what = strcmp(key, "descr") == 0           ? DESCR
                          : strcmp(key, "fortran_order") == 0 ? ORDER
                          : strcmp(key, "shape") == 0         ? SHAPE
                                                              : 0;
    if (what == DESCR && take(&c, "[")) return fault_say(why, "its elements are structures, not numbers");
    const bool ok = what == DESCR   ? take_string(&c, descr, sizeof descr)
                    : what == ORDER ? take_bool(&c, &found->by_columns)
                    : what == SHAPE ? take_tuple(&c, axes, &axis_count)
                                    : false;
    if (!ok || seen & what) return fault_say(why, broken);
    seen |= what;
    if (!take(&c, ",") && (c.at == c.end || *c.at != '}')) return fault_say(why, broken);
  }
  skip_space(&c);
  if (seen != ALL || c.at != c.end) return fault_say(why, broken);
  if (!parse_descr(descr, found))
    return fault_say(why, "its dtype '%s' is not f2, f4, f8 or V2 (bf16), of either byte order", descr);
  return stored_shape(found, axes, axis_count, why);
}

bool npy_is(const unsigned char *bytes, size_t size) {
  return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

bool npy_find(const unsigned char *bytes, size_t size, stored *found, fault *why) {
  *found = (stored){0};
  if (size < LENGTH_AT) return fault_say(why, "it ends within its header");
  const unsigned version = bytes[sizeof magic];
  if (version < 1 || version > 3 || bytes[sizeof magic + 1] != 0)
    return fault_say(why, "format version %u.%u of .npy is not known", version, (unsigned)bytes[sizeof magic + 1]);
  const size_t width = version == 1 ? 2 : 4;
  if (size < LENGTH_AT + width) return fault_say(why, "it ends within its header");
  size_t length = 0, bytes_wanted;
  for (size_t i = 0; i < width; i++) length |= (size_t)bytes[LENGTH_AT + i] << (8 * i);
  if (length > TEXT_MAX) return fault_say(why, "its header of %zu bytes is longer than %d", length, TEXT_MAX);
  found->begin = LENGTH_AT + width + length;
  if (size < found->begin) return fault_say(why, "it ends within its header");
  const char *const text = (const char *)bytes + LENGTH_AT + width;
  if (!parse_text((cursor){text, text + length}, found, why)) return false;
  stored_bytes(found, &bytes_wanted);
  if (size - found->begin < bytes_wanted)
    return fault_say(why, "its %" PRId64 " x %" PRId64 " elements take %zu bytes, and it has %zu", found->rows,
                     found->dim, bytes_wanted, size - found->begin);
  return true;
}
