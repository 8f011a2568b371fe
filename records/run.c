/* SPDX-License-Identifier: MIT */
#include "records/run.h"

#include "common/memory.h"
#include "records/shape.h"

#include <stdlib.h>

/* Makes the lists of names and digests: of kernels, of cases and of plugins, one after the other. */
static void make_texts(const run_request *asked, run_record *made) {
  const char **kernels = memory_take(asked->kernel_count + asked->shape_count + asked->plugin_count, sizeof *kernels),
             **cases = kernels + asked->kernel_count, **plugins = cases + asked->shape_count;
  for (size_t k = 0; k < asked->kernel_count; k++) kernels[k] = asked->kernels[k]->name;
  for (size_t i = 0; i < asked->shape_count; i++) cases[i] = asked->cases[i] ? asked->cases[i]->digest.text : "";
  for (size_t i = 0; i < asked->plugin_count; i++) plugins[i] = asked->plugins[i].text;
  made->texts = kernels;
  made->of.kernels = kernels, made->of.kernels_count = asked->kernel_count;
  made->of.cases = cases, made->of.cases_count = asked->shape_count;
  made->of.plugins = plugins, made->of.plugins_count = asked->plugin_count;
}

static void make_items(const run_request *asked, run_record *made) {
  made->shapes = memory_take(asked->shape_count, sizeof *made->shapes);
  made->items = memory_take(asked->item_count, sizeof *made->items);
  for (size_t i = 0; i < asked->shape_count; i++) made->shapes[i] = shape_record(&asked->shapes[i]);
  for (size_t n = 0; n < asked->item_count; n++) {
    const run_item *one = &asked->items[n];
    made->items[n] = (record_run_item){.there = true,
                                       .kernel = (int64_t)one->kernel,
                                       .shape = (int64_t)one->shape,
                                       .modes = one->modes,
                                       .profile = one->profile};
  }
  made->of.shapes = made->shapes, made->of.shapes_count = asked->shape_count;
  made->of.items = made->items, made->of.items_count = asked->item_count;
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

void run_make(const run_request *asked, run_record *made) {
  made->of = (record_run){.there = true,
                          .isa = asked->isa,
                          .threads = asked->threads,
                          .stores = stores_name(asked->stores),
                          .exam = exam_record(&asked->exam),
                          .timing = timing_record(&asked->timing)};
  make_texts(asked, made);
  make_items(asked, made);
}

void run_forget(run_record *made) {
  for (size_t i = 0; i < made->of.shapes_count; i++) shape_forget(&made->shapes[i]);
  free(made->texts);
  free(made->shapes);
  free(made->items);
}

json_t *run_json(const run_request *asked) {
  run_record made;
  run_make(asked, &made);
  json_t *json = record_write_run(&made.of);
  run_forget(&made);
  return json;
}
