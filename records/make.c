/* SPDX-License-Identifier: MIT */
#include "records/make.h"

#include "common/contract.h"
#include "common/digest.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/shapes.h"

#include <stdlib.h>

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
                           .encodings = exam->encodings};
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

record_run_shard shard_record(const run_request *whole, const run_item *own, size_t count, record_memory *in) {
  int64_t *items = record_allocate(in, count, sizeof *items);
  for (size_t n = 0; n < count; n++) items[n] = (int64_t)run_number(whole, &own[n]);
  return (record_run_shard){.there = shard_is_part(whole->only),
                            .number = whole->only.number,
                            .of = whole->only.of,
                            .items = items,
                            .items_count = count,
                            .run = run_record(whole, in)};
}
