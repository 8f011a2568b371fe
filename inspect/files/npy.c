/* SPDX-License-Identifier: MIT */
/* Arrays without names: .npy files, as tables and as lists of numbers, and such lists in text. */
#include "inspect/files/formats.h"

#include "common/memory.h"
#include "reference/format.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After this come the version and the length of the header's text: two bytes in version 1, four in later versions,
   least significant first. */
static const char magic[6] = {'\x93', 'N', 'U', 'M', 'P', 'Y'};
enum { LENGTH_AT = sizeof magic + 2 };

/* ---- writing ----------------------------------------------------------------------------------- */

size_t npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, char header[NPY_HEADER_MAX]) {
  const size_t prefix = LENGTH_AT + 2;
  /* NumPy has no bfloat16; that of ml_dtypes is saved as two bytes of raw data. */
  const char kind = dtype == POSENC_BF16 ? 'V' : 'f';
  size_t used = prefix + (size_t)snprintf(header + prefix, NPY_HEADER_MAX - prefix,
                                          "{'descr': '<%c%zu', 'fortran_order': False, 'shape': (", kind,
                                          posenc_dtype_bytes(dtype));
  for (size_t i = 0; i < axis_count; i++)
    used += (size_t)snprintf(header + used, NPY_HEADER_MAX - used, "%s%" PRId64, i ? ", " : "", axes[i]);
  used += (size_t)snprintf(header + used, NPY_HEADER_MAX - used, "%s), }", axis_count == 1 ? "," : "");
  /* The header ends with at least a newline. */
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

/* ---- reading: the part of Python that headers use ------------------------------------------------ */

/* A longer header cannot describe an array of numbers. NumPy itself reads up to 10000 bytes. */
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

/* Reads a string without escapes that fits in `text`. */
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

/* Reads an integer. Too large a number becomes INT64_MAX, a length that no file has. */
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

/* Reads the type of elements. *complex: whether each element is two columns. */
static bool parse_descr(const char *descr, stored *found, bool *complex) {
  const bool ordered = *descr && strchr("<>|=", *descr);
  const char *const type = descr + ordered;
  found->swapped = (*descr == '<' || *descr == '>') && stored_swapped(*descr);
  *complex = *type == 'c';
  if (strcmp(type, "f4") == 0 || strcmp(type, "c8") == 0)
    found->dtype = POSENC_F32;
  else if (strcmp(type, "f8") == 0 || strcmp(type, "c16") == 0)
    found->dtype = POSENC_F64;
  else if (strcmp(type, "f2") == 0)
    found->dtype = POSENC_F16;
  else if (strcmp(type, "V2") == 0) /* as npy_header and ml_dtypes write it */
    found->dtype = POSENC_BF16;
  else
    return false;
  return true;
}

/* Returns what helps with a dtype that is refused. */
static const char *advice_on(const char *descr) {
  const char *const type = descr + (*descr && strchr("<>|=", *descr));
  return strcmp(type, "u2") == 0 || strcmp(type, "i2") == 0
             ? "; if these are the bits of bf16, numpy.save(FILE, array.view('V2')) says so"
             : "";
}

/* The values of the header's dict. */
typedef struct npy_text {
  char descr[64];
  bool by_columns;
  int64_t axes[STORED_AXES];
  size_t axis_count;
} npy_text;

enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };

static unsigned what_of(const char *key) {
  if (strcmp(key, "descr") == 0) return DESCR;
  if (strcmp(key, "fortran_order") == 0) return ORDER;
  return strcmp(key, "shape") == 0 ? SHAPE : 0;
}

static bool take_value(cursor *c, unsigned what, npy_text *text) {
  if (what == DESCR) return take_string(c, text->descr, sizeof text->descr);
  if (what == ORDER) return take_bool(c, &text->by_columns);
  return what == SHAPE && take_tuple(c, text->axes, &text->axis_count);
}

static bool parse_text(cursor c, npy_text *text, fault *why) {
  static const char broken[] = "its header is no dict of descr, fortran_order and shape";
  char key[32];
  unsigned seen = 0;
  if (!take(&c, "{")) return fault_say(why, broken);
  while (!take(&c, "}")) {
    if (!take_string(&c, key, sizeof key) || !take(&c, ":")) return fault_say(why, broken);
    const unsigned what = what_of(key);
    if (what == DESCR && take(&c, "[")) return fault_say(why, "its elements are structures, not numbers");
    if (!take_value(&c, what, text) || seen & what) return fault_say(why, broken);
    seen |= what;
    if (!take(&c, ",") && (c.at == c.end || *c.at != '}')) return fault_say(why, broken);
  }
  skip_space(&c);
  return (seen == ALL && c.at == c.end) || fault_say(why, broken);
}

/* Reads the header. *begin: where the elements begin. */
static bool read_header(const unsigned char *bytes, size_t size, npy_text *text, size_t *begin, fault *why) {
  if (size < LENGTH_AT) return fault_say(why, "it ends within its header");
  const unsigned version = bytes[sizeof magic];
  if (version < 1 || version > 3 || bytes[sizeof magic + 1] != 0)
    return fault_say(why, "format version %u.%u of .npy is not known", version, (unsigned)bytes[sizeof magic + 1]);
  const size_t width = version == 1 ? 2 : 4;
  if (size < LENGTH_AT + width) return fault_say(why, "it ends within its header");
  size_t length = 0;
  for (size_t i = 0; i < width; i++) length |= (size_t)bytes[LENGTH_AT + i] << (8 * i);
  if (length > TEXT_MAX) return fault_say(why, "its header of %zu bytes is longer than %d", length, TEXT_MAX);
  *begin = LENGTH_AT + width + length;
  if (size < *begin) return fault_say(why, "it ends within its header");
  const char *const first = (const char *)bytes + LENGTH_AT + width;
  return parse_text((cursor){first, first + length}, text, why);
}

bool npy_is(const unsigned char *bytes, size_t size) {
  return size >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
}

bool npy_find(const unsigned char *bytes, size_t size, table_half half, stored *found, fault *why) {
  npy_text text = {.axis_count = 0};
  size_t wanted, begin;
  bool complex;
  *found = (stored){0};
  if (!read_header(bytes, size, &text, &begin, why)) return false;
  found->by_columns = text.by_columns;
  if (!parse_descr(text.descr, found, &complex))
    return fault_say(why, "its dtype '%s' is not f2, f4, f8, c8, c16 or V2 (bf16), of either byte order%s", text.descr,
                     advice_on(text.descr));
  if (complex && text.by_columns) return fault_say(why, "its complex numbers are in Fortran's order");
  if (complex && half != TABLE_ARRAY && text.axis_count > 0) { /* read as an array with a last axis of 2 */
    if (text.axis_count == STORED_AXES) return fault_say(why, "it has more than %d axes", STORED_AXES - 1);
    text.axes[text.axis_count++] = 2;
  }
  if (complex && half == TABLE_ARRAY && text.axis_count > 0 &&
      __builtin_mul_overflow(text.axes[text.axis_count - 1], 2, &text.axes[text.axis_count - 1]))
    return fault_say(why, "its last axis is longer than any file");
  const size_t room = size - begin;
  if (!stored_fit(found, text.axes, text.axis_count, half, why)) return false;
  stored_bytes(found, &wanted);
  found->begin += begin;
  return room == wanted || fault_say(why, "its %s%" PRId64 " x %" PRId64 " elements take %zu bytes, and it has %zu",
                                     found->halved ? "2 x " : "", found->rows, found->dim, wanted, room);
}

/* ---- reading a list of numbers ------------------------------------------------------------------- */

/* Parses "<i8": the size of an integer in bytes, its sign and its byte order. Returns false for other types. */
static bool parse_integers(const char *descr, size_t *element, bool *is_signed, bool *swapped) {
  const char *const type = descr + (*descr && strchr("<>|=", *descr));
  if ((*type != 'i' && *type != 'u') || !type[1] || !strchr("1248", type[1]) || type[2]) return false;
  *element = (size_t)(type[1] - '0');
  *is_signed = *type == 'i';
  *swapped = (*descr == '<' || *descr == '>') && stored_swapped(*descr);
  return true;
}

/* Reads an integer in this machine's byte order. Returns false if no double is equal to it. */
static bool integer_at(const unsigned char *bytes, size_t element, bool is_signed, double *value) {
  uint64_t bits = 0;
  for (size_t i = 0; i < element; i++) bits |= (uint64_t)bytes[stored_swapped('<') ? element - 1 - i : i] << (8 * i);
  const bool negative = is_signed && bits >> (8 * element - 1);
  if (negative && element < sizeof bits) bits |= UINT64_MAX << (8 * element);
  const uint64_t size = negative ? -bits : bits;
  const double magnitude = (double)size;
  *value = negative ? -magnitude : magnitude;
  return magnitude < 0x1p64 && (uint64_t)magnitude == size;
}

bool npy_numbers(const unsigned char *bytes, size_t size, double **values, int64_t *count, fault *why) {
  npy_text text = {.axis_count = 0};
  stored as = {0};
  size_t begin, element = 0;
  bool is_signed = false, ok = true, complex = false;
  *values = NULL;
  *count = 1;
  if (!read_header(bytes, size, &text, &begin, why)) return false;
  const bool whole = parse_integers(text.descr, &element, &is_signed, &as.swapped);
  if (!whole && (!parse_descr(text.descr, &as, &complex) || complex || as.dtype == POSENC_BF16))
    return fault_say(why, "its dtype '%s' is no integer, f2, f4 or f8", text.descr);
  if (!whole) element = posenc_dtype_bytes(as.dtype);
  for (size_t axis = 0; axis < text.axis_count; axis++)
    if (text.axes[axis] != 1) {
      if (*count != 1) return fault_say(why, "it is no list: it has several axes");
      *count = text.axes[axis];
    }
  if ((size - begin) / element != (uint64_t)*count || (size - begin) % element)
    return fault_say(why, "its %" PRId64 " numbers take %zu bytes each, and it has %zu in all", *count, element,
                     size - begin);
  *values = memory_take((size_t)*count, sizeof **values); /* of integers of one byte it is 8 times the file */
  for (int64_t n = 0; n < *count && ok; n++) {
    _Alignas(8) unsigned char one[8];
    for (size_t i = 0; i < element; i++) one[as.swapped ? element - 1 - i : i] = bytes[begin + (size_t)n * element + i];
    if (!whole)
      (*values)[n] = format_element(as.dtype, one, 0);
    else if (!integer_at(one, element, is_signed, &(*values)[n]))
      ok = fault_say(why, "number %" PRId64 " of it is no double", n + 1);
    if (ok && !isfinite((*values)[n])) ok = fault_say(why, "number %" PRId64 " of it is not finite", n + 1);
  }
  if (ok) return true;
  free(*values);
  *values = NULL;
  return false;
}

/* ---- lists of numbers in text -------------------------------------------------------------------- */

/* The longest word that is parsed as a number. */
enum { WORD_MAX = 400 };

/* The largest file that is read; /dev/zero has no end. */
static const size_t file_max = (size_t)1 << 30;

/* Parses a word that is a decimal number, or "inf", which a factor may be. Returns false for other words, for numbers
   that are too large, and for integers that no double is equal to. */
static bool number_parse(const char *word, double *value) {
  char *end;
  *value = INFINITY;
  if (strcmp(word, "inf") == 0) return true;
  /* strtod also accepts leading space, hexadecimal numbers and words. */
  if (word[strspn(word, "0123456789+-.eE")] != '\0' || *word == '\0') return false;
  *value = strtod(word, &end);
  if (*end != '\0' || !isfinite(*value)) return false;
  const char *const digits = word + (*word == '-' || *word == '+');
  if (digits[strspn(digits, "0123456789")] != '\0' || fabs(*value) < 0x1p53) return true;
  /* The double must be equal to all digits of an integer. */
  char all[WORD_MAX];
  snprintf(all, sizeof all, "%.0f", fabs(*value));
  return strcmp(all, digits + strspn(digits, "0")) == 0;
}

typedef struct list {
  double *values;
  int64_t count, room;
} list;

static void append(list *l, double value) {
  if (l->count == l->room) {
    l->room = l->room ? 2 * l->room : 64;
    l->values = memory_grow(l->values, (size_t)l->room, sizeof *l->values);
  }
  l->values[l->count++] = value;
}

static bool append_word(list *l, const char *begin, size_t length, fault *why) {
  char word[WORD_MAX];
  double value;
  snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX - 1), begin);
  if (length >= WORD_MAX || strlen(word) != length || !number_parse(word, &value))
    return fault_say(why, "number %" PRId64 ", '%.40s', is no finite number that a double holds", l->count + 1, word);
  append(l, value);
  return true;
}

static bool is_of(char c, const char *set) {
  return c != '\0' && strchr(set, c);
}

bool numbers_parse(const char *text, size_t size, const char *between, double **values, int64_t *count, fault *why) {
  const char *const space = strchr(between, ' ') ? " \t\r\n" : "";
  list l = {NULL, 0, 0};
  bool ok = true, wanted = !*space; /* after a comma; white space alone is an empty list */
  for (size_t at = 0; ok;) {
    while (at < size && is_of(text[at], space)) at++;
    const size_t begin = at;
    while (at < size && !is_of(text[at], between)) at++;
    if (at > begin || at < size || wanted) ok = append_word(&l, text + begin, at - begin, why);
    while (at < size && is_of(text[at], space)) at++;
    if (at >= size) break;
    wanted = is_of(text[at], between);
    at += wanted;
  }
  if (!ok) {
    free(l.values);
    return false;
  }
  *values = l.values;
  *count = l.count;
  return true;
}

/* Reads a whole file and appends a NUL. Returns null and sets `why` on failure. */
static char *read_all(const char *path, size_t *size, fault *why) {
  FILE *file = regular_open(path, why);
  char *bytes = NULL;
  size_t room = 0;
  *size = 0;
  if (!file) return NULL;
  bool ok = true;
  do {
    if (*size + 1 >= room) {
      room = room ? 2 * room : 4096;
      ok = room <= file_max || fault_say(why, "it is too long for a list of numbers");
      if (ok) bytes = memory_grow(bytes, room, 1);
    }
    if (ok) *size += fread(bytes + *size, 1, room - 1 - *size, file);
  } while (ok && !feof(file) && !ferror(file));
  if (ok && ferror(file)) ok = fault_say(why, "%s", strerror(errno));
  fclose(file);
  if (ok) {
    bytes[*size] = '\0';
    return bytes;
  }
  free(bytes);
  return NULL;
}

bool numbers_read(const char *path, double **values, int64_t *count, fault *why) {
  size_t size;
  char *bytes = read_all(path, &size, why);
  if (!bytes) return false;
  const bool ok = npy_is((const unsigned char *)bytes, size)
                      ? npy_numbers((const unsigned char *)bytes, size, values, count, why)
                      : numbers_parse(bytes, size, ", \t\r\n", values, count, why);
  free(bytes);
  if (!ok || *count > 0) return ok;
  free(*values);
  return fault_say(why, "there is no number in it");
}
