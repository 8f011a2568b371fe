/* SPDX-License-Identifier: MIT */
#include "records/make.h"

#include "common/contract.h"
#include "common/digest.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/shapes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const char record_null[] = "";

/* ---- memory ---- */

/* A block of memory. The blocks of one record are a list that begins with the block of the record itself. */
typedef struct record_block {
  struct record_block *next;
  json_t *json; /* what the memory holds, or null */
  max_align_t data[];
} block;

void *record_allocate(record_memory *in, size_t count, size_t size) {
  if (count > (SIZE_MAX - sizeof(block)) / size) memory_end();
  block *made = memory_take(1, sizeof *made + count * size);
  if (in->first) {
    made->next = in->first->next;
    in->first->next = made;
  } else {
    in->first = made;
  }
  return made->data;
}

json_t *record_hold(record_memory *in, json_t *json) {
  block *made = (block *)((char *)record_allocate(in, 0, 1) - offsetof(block, data));
  return made->json = json;
}

const void *const record_empty_list = &record_empty_list;

const char *record_format(record_memory *in, const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  const size_t size = (size_t)vsnprintf(NULL, 0, format, again) + 1;
  char *text = record_allocate(in, size, 1);
  vsnprintf(text, size, format, arguments);
  va_end(again);
  va_end(arguments);
  return text;
}

bool record_is_utf8(const char *text) {
  json_t *string = json_string(text);
  json_decref(string);
  return string;
}

const char *record_utf8(record_memory *in, const char *text) {
  json_t *utf8 = field_utf8(text);
  const char *made = record_format(in, "%s", json_string_value(utf8));
  json_decref(utf8);
  return made;
}

const char *record_name(record_memory *in, const char *name, const char *also) {
  json_t *plain = allocated(field_name(name, also));
  const char *made = record_format(in, "%s", json_string_value(plain));
  json_decref(plain);
  return made;
}

void record_release(record_memory *all) {
  while (all->first) {
    block *next = all->first->next;
    json_decref(all->first->json);
    free(all->first);
    all->first = next;
  }
}

/* Each struct begins with its JSON. */
json_t *record_as_read(const void *record) {
  return json_incref(*(json_t *const *)record);
}

void record_free(const void *record) {
  if (!record) return;
  json_decref(*(json_t *const *)record);
  record_release(&(record_memory){(block *)((char *)(uintptr_t)record - offsetof(block, data))});
}

/* ---- structs of what the program has ---- */

static json_t *positions_json(const posenc_problem *p) {
  if (p->rows > SHAPE_POSITIONS)
    return allocated(json_pack(
        "{s:I, s:s}", "count", (json_int_t)p->rows, "digest",
        digest_hex(bytes_digest(BYTES_DIGEST_START, p->positions, (size_t)p->rows * sizeof *p->positions)).text));
  json_t *all = allocated(json_array());
  for (int64_t row = 0; row < p->rows; row++) field_append(all, json_real(p->positions[row]));
  return all;
}

/* Returns the value of a key, NaN if the scaling has none. */
static double key_of(const posenc_scaling *s, int key, double value) {
  return scaling_has(s, key) ? value : NAN;
}

record_scaling scaling_record(const posenc_scaling *s, int64_t dim) {
  const bool has_original = scaling_has(s, SCALING_ORIGINAL), has_length = scaling_has(s, SCALING_LENGTH),
             has_truncate = scaling_has(s, SCALING_TRUNCATE),
             has_factors = scaling_has(s, SCALING_FACTORS) && s->factors;
  return (record_scaling){.there = s->kind != POSENC_SCALING_NONE || s->attention != 0.0,
                          .kind = scaling_forms[s->kind].name,
                          .factor = key_of(s, SCALING_FACTOR, s->factor),
                          .has_factor = scaling_has(s, SCALING_FACTOR),
                          .original = has_original ? s->original : 0,
                          .has_original = has_original,
                          .length = key_of(s, SCALING_LENGTH, s->length),
                          .has_length = has_length,
                          .low = key_of(s, SCALING_LOW, s->low),
                          .has_low = scaling_has(s, SCALING_LOW),
                          .high = key_of(s, SCALING_HIGH, s->high),
                          .has_high = scaling_has(s, SCALING_HIGH),
                          .truncate = has_truncate && s->truncate,
                          .has_truncate = has_truncate,
                          .attention = key_of(s, SCALING_ATTENTION, s->attention),
                          .has_attention = scaling_has(s, SCALING_ATTENTION),
                          .factors = has_factors ? s->factors : NULL,
                          .factors_count = has_factors ? (size_t)dim / 2 : 0};
}

static const char *grid_of(const posenc_problem *p, record_memory *in) {
  char *text = allocated(grid_text(p->axes, p->dim));
  const char *kept = record_format(in, "%s", text);
  free(text);
  return kept;
}

record_shape shape_record(const shape *s, record_memory *in) {
  const posenc_problem *p = &s->problem;
  return (record_shape){
      .there = true,
      .name = s->name,
      .rows = p->rows,
      .dim = p->dim,
      .first = p->first,
      .has_first = true,
      .base = p->base,
      .has_base = true,
      .shift = p->shift,
      .has_shift = true,
      .padding = p->padding == POSENC_NO_PADDING ? RECORD_NONE : p->padding,
      .has_padding = true,
      .layout = layout_name(p->layout),
      .dtype = dtype_name(p->dtype),
      .op = op_name(p->op),
      .heads = p->heads,
      .has_heads = true,
      .inverse = p->inverse,
      .has_inverse = true,
      .scale = p->scale != 1.0 ? p->scale : NAN,
      .scaling = scaling_record(&p->scaling, p->dim),
      .odd = p->odd != POSENC_ODD_REFUSED ? odd_name(p->odd) : NULL,
      .positions = p->positions ? record_hold(in, positions_json(p)) : NULL,
      .grid = p->axes ? grid_of(p, in) : NULL,
  };
}

typedef struct environment_facts {
  record_facts of;
  record_memory *in;
} environment_facts;

static void add_fact(void *to, const char *key, const char *value) {
  environment_facts *facts = to;
  record_set_text(&facts->of, key, value && *value && record_is_utf8(value) ? value : "unknown", facts->in);
}

record_facts environment_record(record_memory *in) {
  environment_facts facts = {.in = in};
  environment_tell(add_fact, &facts);
  return facts.of;
}

record_bound bound_record(const posenc_bound *bound) {
  return (record_bound){.there = true,
                        .ulp = bound->ulp,
                        .abs = bound->abs,
                        .growth = bound->growth,
                        .max_position = bound->max_position,
                        .derived = bound->derived};
}

record_kernel kernel_record(const posenc_kernel *kernel, unsigned isa) {
  posenc_options options = posenc_default_options();
  options.isa = isa;
  return (record_kernel){.there = true,
                         .name = kernel->name,
                         .summary = kernel->summary,
                         .has_summary = true,
                         .algorithm = kernel->algorithm,
                         .has_algorithm = true,
                         .provenance = kernel->provenance,
                         .has_provenance = true,
                         .isa = kernel_isa(kernel),
                         .basis = kernel->basis,
                         .has_basis = true,
                         .reproducible = kernel->reproducible,
                         .has_reproducible = true,
                         .threaded = kernel->threaded,
                         .has_threaded = true,
                         .keeps_rows = kernel->keeps_rows,
                         .has_keeps_rows = true,
                         .f32_only = kernel->f32_only,
                         .has_f32_only = true,
                         .bound = bound_record(&kernel->bound),
                         .refusal = posenc_kernel_refusal(kernel, NULL, &options),
                         .has_refusal = true};
}

record_encoding encoding_record(const posenc_encoding *encoding) {
  return (record_encoding){.there = true,
                           .name = encoding->name,
                           .summary = encoding->summary,
                           .formula = encoding->formula,
                           .call = encoding->call,
                           .provenance = encoding->provenance,
                           .basis = encoding->basis,
                           .reproducible = encoding->reproducible,
                           .has_reproducible = true,
                           .bound = encoding->by_kernels ? (record_bound){0} : bound_record(&encoding->bound),
                           .has_bound = true};
}

/* ---- runs ------------------------------------------------------------------------------------------------ */

static const char *const *names_of(const run_request *asked, record_memory *in) {
  const char **names = record_allocate(in, asked->kernel_count, sizeof *names);
  for (size_t k = 0; k < asked->kernel_count; k++) names[k] = asked->kernels[k]->name;
  return names;
}

static const record_shape *shapes_of(const run_request *asked, record_memory *in) {
  record_shape *shapes = record_allocate(in, asked->shape_count, sizeof *shapes);
  for (size_t i = 0; i < asked->shape_count; i++) shapes[i] = shape_record(&asked->shapes[i], in);
  return shapes;
}

static const char *const *cases_of(const run_request *asked, record_memory *in) {
  const char **digests = record_allocate(in, asked->shape_count, sizeof *digests);
  for (size_t i = 0; i < asked->shape_count; i++) digests[i] = asked->cases[i] ? asked->cases[i]->digest.text : "";
  return digests;
}

static const record_run_item *items_of(const run_request *asked, record_memory *in) {
  record_run_item *items = record_allocate(in, asked->item_count, sizeof *items);
  for (size_t n = 0; n < asked->item_count; n++) {
    const run_item *one = &asked->items[n];
    items[n] = (record_run_item){.there = true,
                                 .kernel = (int64_t)one->kernel,
                                 .shape = (int64_t)one->shape,
                                 .modes = one->modes,
                                 .profile = one->profile};
  }
  return items;
}

static const char *const *plugins_of(const run_request *asked, record_memory *in) {
  const char **digests = record_allocate(in, asked->plugin_count, sizeof *digests);
  for (size_t i = 0; i < asked->plugin_count; i++) digests[i] = asked->plugins[i].text;
  return digests;
}

static record_run_exam exam_record(const run_exam *exam) {
  return (record_run_exam){.there = true,
                           .seed = (int64_t)exam->seed,
                           .budget = exam->budget,
                           .search = exam->search,
                           .explain = exam->explain,
                           .brief = exam->brief,
                           .encodings = exam->encoding_count > 0};
}

static record_run_timing timing_record(const run_timing *timing) {
  size_t flags = 0;
  while (timing->flags && timing->flags[flags]) flags++;
  return (record_run_timing){.there = true,
                             .repetitions = timing->repetitions,
                             .batch = timing->batch,
                             .rows = timing->rows,
                             .min_time = timing->min_time,
                             .longest = timing->longest,
                             .flags = (const char *const *)timing->flags,
                             .flags_count = flags};
}

record_run run_record(const run_request *asked, record_memory *in) {
  return (record_run){.there = true,
                      .kernels = names_of(asked, in),
                      .kernels_count = asked->kernel_count,
                      .shapes = shapes_of(asked, in),
                      .shapes_count = asked->shape_count,
                      .cases = cases_of(asked, in),
                      .cases_count = asked->shape_count,
                      .items = items_of(asked, in),
                      .items_count = asked->item_count,
                      .isa = asked->isa,
                      .threads = asked->threads,
                      .stores = stores_name(asked->stores),
                      .plugins = plugins_of(asked, in),
                      .plugins_count = asked->plugin_count,
                      .exam = exam_record(&asked->exam),
                      .timing = timing_record(&asked->timing)};
}

/* Returns the number of a kernel's profile among those that are wanted. */
static int64_t number_of_profile(const run_request *whole, size_t kernel) {
  int64_t number = 0;
  for (size_t k = 0; k < kernel; k++) number += run_profile_of(whole, k) != RUN_NO_PROFILE;
  return number;
}

record_run_shard shard_record(const run_request *whole, const run_works *own, record_memory *in) {
  int64_t *items = record_allocate(in, own->count + whole->item_count, sizeof *items),
          *profiles = record_allocate(in, own->count, sizeof *profiles);
  record_run_shard made = {.there = shard_is_part(whole->only),
                           .number = whole->only.number,
                           .of = whole->only.of,
                           .items = items,
                           .profiles = profiles,
                           .run = run_record(whole, in)};
  for (const run_work *w = own->all; w < own->all + own->count; w++) {
    for (size_t n = 0; n < whole->item_count; n++)
      if (run_work_is_of(w, whole, n)) items[made.items_count++] = (int64_t)n;
    if (w->kind == RUN_PROFILE) profiles[made.profiles_count++] = number_of_profile(whole, w->number);
  }
  return made;
}

/* ---- structs of other structs --------------------------------------------------------------------------- */

#define HAS_MUST(key)
#define HAS_MAY(key) made.has_##key = from->has_##key;
#define COPY(need, key)                                                                                                \
  made.key = from->key;                                                                                                \
  HAS_##need(key)
#define COPY_LIST(key)                                                                                                 \
  made.key = from->key;                                                                                                \
  made.key##_count = from->key##_count;
/* Structs that are made, not read, may have null instead of "". */
#define STRING(need, key, ...)                                                                                         \
  made.key = from->key ? from->key : "";                                                                               \
  HAS_##need(key)
#define STRING_OR_NULL(need, key, ...) STRING(need, key, "")
#define WORD(need, key, ...) STRING(need, key, "")
#define INTEGER(need, key, ...) COPY(need, key)
#define INTEGER_OR_NULL(need, key, ...) COPY(need, key)
#define COUNT(need, key, ...) COPY(need, key)
#define NUMBER(need, key, ...) COPY(need, key)
#define AMOUNT(need, key, ...) COPY(need, key)
#define BOOLEAN(need, key, ...) COPY(need, key)
#define OBJECT(need, type, key, ...) made.key = from->key;
#define OBJECT_OR_NULL(need, type, key, ...) COPY(need, key)
#define ARRAY(need, type, key, ...) COPY_LIST(key)
#define OPAQUE(need, key, ...) made.key = from->key;
#define LIST(need, key, ...) made.key = from->key;

static record_shape whole_shape(const record_table_shape *from) {
  record_shape made = {.there = true, .name = from->name, .rows = (int64_t)from->rows, .dim = (int64_t)from->dim};
  SHAPE_FIELDS
  return made;
}

record_row record_row_of(const record_result *from) {
  record_row made = record_empty_row();
  made.there = true;
  RESULT_FIELDS(, )
  return made;
}

record_result record_result_of(const record_row *from, const record_table_shape *of) {
  record_result made = record_empty_result();
  RESULT_FIELDS(, )
  made.there = true;
  made.shape = whole_shape(of);
  return made;
}

/* The fields that results of all kinds share. */
#define FOUND(NEED)                                                                                                    \
  FOUND_OF(NEED, )                                                                                                     \
  FOUND_ERRORS(NEED, OBJECT)                                                                                           \
  WORD(NEED, mode, "")                                                                                                 \
  COUNT(NEED, elements, "")                                                                                            \
  COUNT(NEED, of, "")                                                                                                  \
  ARRAY(NEED, check, checks, "")

static record_result result_of_encoded(const record_encoded *from) {
  record_result made = record_empty_result();
  FOUND(MAY)
  STRING_OR_NULL(MAY, digest, "")
  made.shape.name = from->shape.name;
  return made;
}

static record_result result_of_file(const record_file *from) {
  record_result made = record_empty_result();
  FOUND(MUST)
  made.shape = from->shape;
  return made;
}

/* Makes: record_of_encodings, record_of_file_check. */
#define ACCURACY_OF(type, item, OTHERS)                                                                                \
  record_accuracy record_of_##type(const record_##type *from, record_memory *in) {                                     \
    record_result *results = record_allocate(in, from->records_count, sizeof *results);                                \
    record_accuracy made = record_empty_accuracy();                                                                    \
    for (size_t i = 0; i < from->records_count; i++) results[i] = result_of_##item(&from->records[i]);                 \
    made.environment = from->environment;                                                                              \
    made.records = results;                                                                                            \
    made.records_count = from->records_count;                                                                          \
    made.passed = from->passed;                                                                                        \
    made.failed = from->failed;                                                                                        \
    made.skipped = from->skipped;                                                                                      \
    OTHERS                                                                                                             \
    return made;                                                                                                       \
  }
ACCURACY_OF(encodings, encoded, INTEGER(MAY, seed, ""))
ACCURACY_OF(file_check, file, )

record_table_shape record_table_shape_of(const record_shape *from) {
  record_table_shape made = {.there = true, .name = from->name, .rows = (double)from->rows, .dim = (double)from->dim};
  SHAPE_FIELDS
  return made;
}
