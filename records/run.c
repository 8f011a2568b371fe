/* SPDX-License-Identifier: MIT */
#include "records/run.h"

#include "records/shape.h"

static const char *const *names_of(const run_request *asked, record_memory *in) {
  const char **names = record_allocate(in, asked->kernel_count, sizeof *names);
  for (size_t k = 0; k < asked->kernel_count; k++) names[k] = asked->kernels[k]->name;
  return names;
}

static const record_shape *shapes_of(const run_request *asked, record_memory *in) {
  record_shape *shapes = record_allocate(in, asked->shape_count, sizeof *shapes);
  for (size_t i = 0; i < asked->shape_count; i++) shapes[i] = shape_record(&asked->shapes[i]);
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

void run_forget(record_run *made) {
  for (size_t i = 0; i < made->shapes_count; i++) shape_forget((record_shape *)(uintptr_t)&made->shapes[i]);
}

json_t *run_json(const run_request *asked) {
  record_memory memory = {NULL};
  record_run made = run_record(asked, &memory);
  json_t *json = record_write_run(&made);
  run_forget(&made);
  record_release(&memory);
  return json;
}
