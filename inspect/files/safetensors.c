/* SPDX-License-Identifier: MIT */
/* safetensors files: the header that describes their tensors, and the choice of one. */
#include "inspect/files/formats.h"

#include "common/memory.h"
#include "common/shapes.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A file begins with the header's length in eight bytes, least significant first, and the header. Offsets count from
   the end of the header. */
enum { LENGTH_BYTES = 8, ALIGNMENT = 64 };

static const char *const dtypes[] = {
    [POSENC_F32] = "F32",
    [POSENC_F64] = "F64",
    [POSENC_F16] = "F16",
    [POSENC_BF16] = "BF16",
};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static const char metadata_key[] = "__metadata__";

/* ---- writing ----------------------------------------------------------------------------------- */

static char *scaling_text(const posenc_problem *problem) {
  char *text = NULL;
  size_t length;
  FILE *out = allocated(open_memstream(&text, &length));
  scaling_write(&problem->scaling, problem->dim, out);
  if (fclose(out) != 0) memory_end();
  return text;
}

/* Returns the metadata: the problem in strings, as the format requires. Each is the value of the option with that name;
   "first" is --offset. */
static json_t *metadata_of(const posenc_problem *problem, const char *kernel) {
  char *options = allocated(problem_options(problem)), *scaling = scaling_text(problem);
  char padding[32] = "none";
  if (problem->padding != POSENC_NO_PADDING) snprintf(padding, sizeof padding, "%" PRId64, problem->padding);
  json_t *made = json_pack("{s:s, s:s, s:s, s:s, s:o, s:o, s:o, s:s, s:o, s:s, s:s, s:s, s:s}", "made_by", "posenc",
                           "version", posenc_version(), "kernel", kernel, "op", op_name(problem->op), "base",
                           json_sprintf("%.17g", problem->base), "first", json_sprintf("%" PRId64, problem->first),
                           "scale", json_sprintf("%.17g", problem->scale), "scaling", scaling, "shift",
                           json_sprintf("%.17g", problem->shift), "padding", padding, "odd", odd_name(problem->odd),
                           "layout", layout_name(problem->layout), "options", options);
  if (problem->axes) {
    char *grid = allocated(grid_text(problem->axes, problem->dim));
    json_object_set_new(made, "grid", json_string(grid));
    free(grid);
  }
  free(options);
  free(scaling);
  return made;
}

/* Adds a tensor after those that end at *end. */
static void add_tensor(json_t *root, const char *name, posenc_dtype dtype, json_t *lengths, size_t bytes, size_t *end) {
  json_int_t begin = (json_int_t)*end;
  *end += bytes;
  json_object_set_new(root, name,
                      json_pack("{s:s, s:o, s:[I, I]}", "dtype", dtypes[dtype], "shape", lengths, "data_offsets", begin,
                                (json_int_t)*end));
}

/* Positions come first, where doubles are aligned. */
static void add_tensors(json_t *root, const posenc_problem *problem, size_t bytes) {
  static const char *const halves[] = {"cos", "sin"};
  const bool is_cache = problem->op == POSENC_ROPE_CACHE;
  const int64_t width = is_cache ? rope_cache_width(problem) : problem->dim;
  size_t end = 0;
  if (problem->positions)
    add_tensor(root, SAFETENSORS_POSITIONS, POSENC_F64, json_pack("[I]", (json_int_t)problem->rows),
               (size_t)problem->rows * sizeof *problem->positions, &end);
  for (int n = 0; n < (is_cache ? 2 : 1); n++)
    add_tensor(root, is_cache ? halves[n] : SAFETENSORS_NAME, problem->dtype,
               json_pack("[I, I]", (json_int_t)problem->rows, (json_int_t)width), bytes, &end);
}

/* Returns the header with this content, and releases the content. */
static char *header_of(json_t *root, size_t *length) {
  char *text = allocated(json_dumps(root, JSON_COMPACT));
  json_decref(root);
  const size_t used = LENGTH_BYTES + strlen(text), total = (used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  char *header = memory_take(total, 1);
  for (int i = 0; i < LENGTH_BYTES; i++) header[i] = (char)((uint64_t)(total - LENGTH_BYTES) >> (8 * i));
  memcpy(header + LENGTH_BYTES, text, used - LENGTH_BYTES);
  memset(header + used, ' ', total - used);
  *length = total;
  free(text);
  return header;
}

char *safetensors_header(const posenc_problem *problem, const char *kernel, size_t *length) {
  size_t bytes;
  if (posenc_table_bytes(problem, &bytes) != POSENC_OK) return NULL;
  json_t *root = json_pack("{s:o}", metadata_key, metadata_of(problem, kernel));
  add_tensors(root, problem, bytes);
  return header_of(root, length);
}

char *safetensors_header_of(posenc_dtype dtype, const int64_t *axes, size_t axis_count, const char *encoding,
                            size_t *length) {
  json_t *root = json_pack("{s:{s:s, s:s, s:s}}", metadata_key, "made_by", "posenc", "version", posenc_version(),
                           "encoding", encoding),
         *lengths = json_array();
  size_t bytes = posenc_dtype_bytes(dtype), end = 0;
  for (size_t i = 0; i < axis_count; i++) {
    bytes *= (size_t)axes[i];
    json_array_append_new(lengths, json_integer((json_int_t)axes[i]));
  }
  add_tensor(root, SAFETENSORS_NAME, dtype, lengths, bytes, &end);
  return header_of(root, length);
}

/* Converts the bytes of a double between this machine's order and the file's. */
static void order_bytes(unsigned char to[sizeof(double)], const unsigned char from[sizeof(double)]) {
  for (size_t i = 0; i < sizeof(double); i++) to[stored_swapped('<') ? sizeof(double) - 1 - i : i] = from[i];
}

bool safetensors_write_double(double value, FILE *stream) {
  unsigned char bytes[sizeof value], ordered[sizeof value];
  memcpy(bytes, &value, sizeof value);
  order_bytes(ordered, bytes);
  return fwrite(ordered, sizeof value, 1, stream) == 1;
}

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct extent {
  uint64_t begin, end;
  const char *name;
} extent;

static int compare_extents(const void *one, const void *other) {
  const extent *a = one, *b = other;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return (a->end > b->end) - (a->end < b->end);
}

static bool read_extent(const json_t *tensor, extent *e) {
  const json_t *offsets = json_object_get(tensor, "data_offsets");
  const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
  if (json_array_size(offsets) != 2 || !json_is_integer(begin) || !json_is_integer(end)) return false;
  if (json_integer_value(begin) < 0 || json_integer_value(end) < json_integer_value(begin)) return false;
  e->begin = (uint64_t)json_integer_value(begin);
  e->end = (uint64_t)json_integer_value(end);
  return true;
}

/* Checks that the tensors fill the file after the header without gaps or overlaps, as the format requires. */
static bool check_extents(json_t *root, uint64_t room, fault *why) {
  extent *extents = memory_take(json_object_size(root), sizeof *extents);
  size_t count = 0;
  const char *name;
  json_t *tensor;
  bool ok = true;
  json_object_foreach(root, name, tensor) {
    if (!ok || strcmp(name, metadata_key) == 0) continue;
    extents[count].name = name;
    if (!read_extent(tensor, &extents[count++])) ok = fault_say(why, "tensor %s has no data_offsets [from, to]", name);
  }
  uint64_t end = 0;
  if (ok) qsort(extents, count, sizeof *extents, compare_extents);
  for (size_t i = 0; ok && i < count; end = extents[i++].end) {
    if (extents[i].end > room)
      ok = fault_say(why, "tensor %s ends at byte %" PRIu64 " of %" PRIu64, extents[i].name, extents[i].end, room);
    else if (extents[i].begin != end)
      ok = fault_say(why, "tensor %s %s", extents[i].name,
                     extents[i].begin < end ? "overlaps another" : "follows bytes that belong to none");
  }
  if (ok && end != room) ok = fault_say(why, "its tensors take %" PRIu64 " bytes, and it has %" PRIu64, end, room);
  free(extents);
  return ok;
}

/* Reads a tensor's description as a table. Returns false and sets `why` if it is not one. */
static bool read_tensor(const json_t *tensor, table_half half, stored *found, fault *why) {
  const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
  const json_t *lengths = json_object_get(tensor, "shape");
  int64_t axes[STORED_AXES];
  int number = 0;
  extent e;
  size_t bytes;
  if (!dtype || !json_is_array(lengths)) return fault_say(why, "it has no dtype and shape");
  while (number < DTYPES && strcmp(dtype, dtypes[number]) != 0) number++;
  if (number == DTYPES)
    return fault_say(why, "its dtype %.40s is not F16, BF16, F32 or F64%s", dtype,
                     strcmp(dtype, "U16") == 0 || strcmp(dtype, "I16") == 0
                         ? "; if these are the bits of bf16, tensor.view(torch.bfloat16) is to be saved"
                         : "");
  if (json_array_size(lengths) > STORED_AXES) return fault_say(why, "it has more than %d axes", STORED_AXES);
  for (size_t i = 0; i < json_array_size(lengths); i++) {
    const json_t *axis = json_array_get(lengths, i);
    if (!json_is_integer(axis) || json_integer_value(axis) < 0)
      return fault_say(why, "its shape is not of numbers from 0 on");
    axes[i] = json_integer_value(axis);
  }
  *found = (stored){.dtype = (posenc_dtype)number, .swapped = stored_swapped('<')};
  if (!stored_fit(found, axes, json_array_size(lengths), half, why)) return false;
  if (!read_extent(tensor, &e) || !stored_bytes(found, &bytes) || e.end - e.begin != bytes)
    return fault_say(why, "its shape and its data_offsets do not agree");
  found->begin += (size_t)e.begin;
  return true;
}

/* Which tensors a file has: all; those that can be tables; or vectors. */
typedef enum tensor_kind { ANY_TENSOR, OF_TABLES, OF_VECTORS } tensor_kind;

static bool is_kind(const json_t *tensor, table_half half, tensor_kind kind) {
  stored one;
  fault unused;
  return kind == ANY_TENSOR || (read_tensor(tensor, half, &one, &unused) && one.vector == (kind == OF_VECTORS));
}

/* Writes the names of tensors of a kind, as "a, b and 7 more". */
static void tell_names(const json_t *root, tensor_kind kind, table_half half, char *text, size_t size) {
  enum { NAMES = 8 };
  size_t told = 0, more = 0, used = 0;
  const char *name;
  json_t *tensor;
  *text = '\0';
  json_object_foreach((json_t *)root, name, tensor) {
    if (strcmp(name, metadata_key) == 0 || !is_kind(tensor, half, kind)) continue;
    if (told == NAMES || used + strlen(name) + 32 > size)
      more++;
    else
      used += (size_t)snprintf(text + used, size - used, "%s%s", told++ ? ", " : "", name);
  }
  if (more) snprintf(text + used, size - used, "%s%zu more", told ? " and " : "", more);
}

/* Returns the name of the only tensor of a kind; null if there is none, or several, and sets *several. */
static const char *only_one(const json_t *root, table_half half, tensor_kind kind, bool *several) {
  const char *each, *found = NULL;
  json_t *tensor;
  json_object_foreach((json_t *)root, each, tensor) {
    if (strcmp(each, metadata_key) == 0 || !is_kind(tensor, half, kind)) continue;
    *several = found;
    if (*several) return NULL;
    found = each;
  }
  return found;
}

/* Sets the fault of a file without a table: if there is one tensor, its fault is that of the file. */
static bool refuse_all(const json_t *root, table_half half, fault *why) {
  char names[400];
  const char *each;
  json_t *tensor;
  tell_names(root, ANY_TENSOR, half, names, sizeof names);
  json_object_foreach((json_t *)root, each, tensor) {
    fault reason;
    stored unused;
    if (strcmp(each, metadata_key) != 0 && !strcmp(names, each) && !read_tensor(tensor, half, &unused, &reason))
      return fault_say(why, "tensor %s: %s", each, reason.text);
  }
  return fault_say(why, "none of its tensors can be a table; it has %s", *names ? names : "none");
}

static bool choose(const json_t *root, const char *wanted, table_half half, stored *found, char **name, fault *why) {
  char names[400];
  fault reason;
  bool several = false;
  tensor_kind kind = OF_TABLES;
  const char *chosen = wanted ? wanted : only_one(root, half, kind, &several);
  if (!chosen && !several) chosen = only_one(root, half, kind = OF_VECTORS, &several);
  if (several) {
    tell_names(root, kind, half, names, sizeof names);
    return fault_say(why, "several of its tensors can be tables, --tensor chooses: %s", names);
  }
  if (!chosen) return refuse_all(root, half, why);
  const json_t *tensor = strcmp(chosen, metadata_key) == 0 ? NULL : json_object_get(root, chosen);
  tell_names(root, ANY_TENSOR, half, names, sizeof names);
  if (!tensor) return fault_say(why, "no tensor %.100s; it has %s", chosen, *names ? names : "none");
  if (!read_tensor(tensor, half, found, &reason)) return fault_say(why, "tensor %.100s: %s", chosen, reason.text);
  *name = memory_copy_text(chosen);
  return true;
}

bool tensors_choose(const json_t *root, const char *wanted, table_half half, uint64_t room, stored *found, char **name,
                    fault *why) {
  size_t bytes;
  if (!choose(root, wanted, half, found, name, why)) return false;
  if (stored_bytes(found, &bytes) && found->begin <= room && bytes <= room - found->begin) return true;
  fault_say(why, "tensor %.100s is not all in the file", *name);
  free(*name);
  *name = NULL;
  return false;
}

bool safetensors_is(const unsigned char *bytes, size_t size) {
  return size > LENGTH_BYTES && bytes[LENGTH_BYTES] == '{';
}

/* Returns the header, a new reference, and *begin, where the tensors begin. Returns null and sets `why` on failure. */
static json_t *read_root(const unsigned char *bytes, size_t size, size_t *begin, fault *why) {
  uint64_t length = 0;
  if (size < LENGTH_BYTES) {
    fault_say(why, "it ends within its header");
    return NULL;
  }
  for (int i = 0; i < LENGTH_BYTES; i++) length |= (uint64_t)bytes[i] << (8 * i);
  bool ok = length <= SAFETENSORS_HEADER_MAX ||
            fault_say(why, "its header of %" PRIu64 " bytes is longer than %d", length, SAFETENSORS_HEADER_MAX);
  if (ok && length > size - LENGTH_BYTES) ok = fault_say(why, "it ends within its header");
  if (!ok) return NULL;
  json_error_t error;
  json_t *root = json_loadb((const char *)bytes + LENGTH_BYTES, (size_t)length, JSON_REJECT_DUPLICATES, &error);
  *begin = LENGTH_BYTES + (size_t)length;
  if (!root)
    fault_say(why, "its header is not JSON: %s", error.text);
  else if (!json_is_object(root))
    fault_say(why, "its header is no JSON object");
  if (json_is_object(root)) return root;
  json_decref(root);
  return NULL;
}

bool safetensors_find(const unsigned char *bytes, size_t size, const char *wanted, table_half half, stored *found,
                      char **name, fault *why) {
  size_t begin;
  *name = NULL;
  json_t *root = read_root(bytes, size, &begin, why);
  const bool ok = root && check_extents(root, size - begin, why) && choose(root, wanted, half, found, name, why);
  if (ok) found->begin += begin;
  json_decref(root);
  return ok;
}

bool safetensors_metadata(const unsigned char *bytes, size_t size, const char *key, char **value) {
  size_t begin;
  fault unused;
  json_t *root = read_root(bytes, size, &begin, &unused);
  const json_t *found = json_object_get(json_object_get(root, metadata_key), key);
  const char *text = json_string_value(found);
  *value = text ? memory_copy_text(text) : NULL;
  json_decref(root);
  return found;
}

/* Finds the tensor of positions of a file that posenc wrote. */
static bool find_positions(const json_t *tensor, extent *e, int64_t *count, fault *why) {
  const json_t *lengths = json_object_get(tensor, "shape");
  const char *dtype = json_string_value(json_object_get(tensor, "dtype"));
  *count = json_integer_value(json_array_get(lengths, 0));
  if (!dtype || strcmp(dtype, dtypes[POSENC_F64]) != 0)
    return fault_say(why, "its tensor " SAFETENSORS_POSITIONS ", dtype %.40s: not F64", dtype ? dtype : "null");
  if (json_array_size(lengths) != 1)
    return fault_say(why, "its tensor " SAFETENSORS_POSITIONS ", shape of %zu axes: not of one",
                     json_array_size(lengths));
  if (!read_extent(tensor, e) || *count < 0 || (e->end - e->begin) / sizeof(double) != (uint64_t)*count ||
      (e->end - e->begin) % sizeof(double))
    return fault_say(why, "its tensor " SAFETENSORS_POSITIONS ", its shape and its data_offsets do not agree");
  return true;
}

bool safetensors_positions(const unsigned char *bytes, size_t size, double **positions, int64_t *count, fault *why) {
  size_t begin;
  extent e;
  *positions = NULL;
  json_t *root = read_root(bytes, size, &begin, why), *tensor = json_object_get(root, SAFETENSORS_POSITIONS);
  bool ok = root && (!tensor || find_positions(tensor, &e, count, why));
  if (ok && tensor && e.end > size - begin)
    ok = fault_say(why, "tensor " SAFETENSORS_POSITIONS " is not in the part of the file that is read here");
  if (ok && tensor) *positions = memory_take((size_t)*count, sizeof **positions);
  for (int64_t n = 0; *positions && n < *count; n++)
    order_bytes((unsigned char *)&(*positions)[n], bytes + begin + e.begin + (size_t)n * sizeof **positions);
  json_decref(root);
  return ok;
}
