/* SPDX-License-Identifier: MIT */
#include "reports/machines.h"

#include "common/field.h"
#include "reports/page/plot.h"
#include "reports/page/words.h"

#include <stdlib.h>

static const json_t *environment_of(const json_t *report, const char *which) {
  return json_object_get(json_object_get(report, "environment"), which);
}

static const char *name_of(const json_t *table) {
  return field_string(json_object_get(table, "shape"), "name");
}

static bool is_same(const json_t *a, const json_t *b, const char *key) {
  return json_equal(json_object_get(a, key), json_object_get(b, key));
}

static const json_t *machine_of(const json_t *document, size_t number) {
  return json_array_get(json_object_get(document, "machines"), number);
}

static size_t machine_count(const json_t *document) {
  return json_array_size(json_object_get(document, "machines"));
}

static const char *label(const json_t *document, size_t number) {
  return field_string(machine_of(document, number), "label");
}

static json_int_t count_of(const json_t *holder, const char *key) {
  return json_integer_value(json_object_get(holder, key));
}

bool machines_failed(const json_t *document) {
  bool failed = count_of(json_object_get(document, "accuracy"), "broken") > 0;
  for (size_t i = 0; i < machine_count(document); i++)
    failed = failed || count_of(machine_of(document, i), "failed") > 0;
  return failed;
}

/* ---- figures ------------------------------------------------------------------------------------------------ */

static const char *const footprints[MACHINES_FIGURES] = {"reference", "largest", "in cache"};

/* The times of the shape that "fastest" has of that footprint; null if there is none. */
static const json_t *shown_times(const json_t *document, const char *footprint) {
  const json_t *chosen = field_find(json_object_get(document, "fastest"), "footprint", footprint),
               *times = json_object_get(document, "times");
  for (size_t i = 0; chosen && i < json_array_size(times); i++)
    if (strcmp(name_of(json_array_get(times, i)), field_string(chosen, "shape")) == 0) return json_array_get(times, i);
  return NULL;
}

/* Is it the shape of a footprint before this one? It is drawn once. */
static bool is_drawn_before(const json_t *document, size_t footprint) {
  for (size_t i = 0; i < footprint; i++)
    if (shown_times(document, footprints[i]) == shown_times(document, footprints[footprint])) return true;
  return false;
}

static const json_t *share_of(const json_t *kernels, size_t kernel, size_t machine) {
  const json_t *machines = json_object_get(json_array_get(kernels, kernel), "machines");
  return json_object_get(json_array_get(machines, machine), "of_limit");
}

static bool has_shares(const json_t *kernels, size_t machine) {
  for (size_t k = 0; k < json_array_size(kernels); k++)
    if (field_number(share_of(kernels, k, machine), "median") > 0) return true;
  return false;
}

static bool has_any_shares(const json_t *document, const json_t *times) {
  for (size_t i = 0; i < machine_count(document); i++)
    if (has_shares(json_object_get(times, "kernels"), i)) return true;
  return false;
}

/* A mark with its range for each kernel, those of the machines beside each other. */
static void draw_machine(plot *picture, const json_t *document, const json_t *kernels, size_t machine) {
  const size_t machines = machine_count(document);
  const double step = 0.6 / (double)machines, shift = step * ((double)machine - ((double)machines - 1) / 2);
  if (!has_shares(kernels, machine)) return;
  plot_kernel(picture, "using 1:2:3:4 with yerrorbars", machine, label(document, machine));
  for (size_t k = 0; k < json_array_size(kernels); k++) {
    const json_t *share = share_of(kernels, k, machine);
    if (field_number(share, "median") > 0)
      plot_point(picture, (double)k + shift, 100 * field_number(share, "median"), 100 * field_number(share, "min"),
                 100 * field_number(share, "max"));
  }
}

static char *draw_shares(const json_t *document, const json_t *times, const char *name) {
  const json_t *kernels = json_object_get(times, "kernels");
  plot *picture = plot_begin(name, PLOT_HEIGHT);
  if (!picture) return NULL;
  fprintf(picture->script, "set xrange [-0.6:%.17g]\nset xtics rotate by 45 right noenhanced (",
          (double)json_array_size(kernels) - 0.4);
  for (size_t k = 0; k < json_array_size(kernels); k++) {
    fputs(k ? ", " : "", picture->script);
    plot_quoted(picture->script, field_string(json_array_get(kernels, k), "kernel"));
    fprintf(picture->script, " %zu", k);
  }
  fputs(")\nset yrange [0:*]\nset ylabel '% of the limit'\n", picture->script);
  for (size_t i = 0; i < machine_count(document); i++) draw_machine(picture, document, kernels, i);
  return plot_finish(picture, "Marks with ranges: share of the limit, kernels along the axis, a colour per machine");
}

bool machines_draw(const json_t *document, machines_figures *made) {
  static const char *const names[MACHINES_FIGURES] = {"shares-reference", "shares-largest", "shares-cache"};
  bool ok = true;
  *made = (machines_figures){{NULL}};
  for (size_t i = 0; i < MACHINES_FIGURES && ok; i++) {
    const json_t *times = shown_times(document, footprints[i]);
    if (times && has_any_shares(document, times) && !is_drawn_before(document, i))
      ok = (made->svg[i] = draw_shares(document, times, names[i])) != NULL;
  }
  if (!ok) machines_free(made);
  return ok;
}

void machines_free(machines_figures *made) {
  for (size_t i = 0; i < MACHINES_FIGURES; i++) free(made->svg[i]);
}

/* ---- the page ----------------------------------------------------------------------------------------------- */

/* A table with a column for each machine, behind `leading` ones. Null when memory runs out. */
static page_column *columns_of(page *p, const json_t *document, const page_column *leading, size_t count,
                               bool numeric) {
  page_column *columns = page_columns(p, "", count + machine_count(document));
  for (size_t i = 0; columns && i < count; i++) columns[i] = leading[i];
  for (size_t i = 0; columns && i < machine_count(document); i++)
    columns[count + i] = (page_column){label(document, i), numeric};
  return columns;
}

/* "84.5 GB/s (82.2–85.0)" */
static void say_spread(page *p, const json_t *spread, double scale, const char *unit) {
  page_say(p, "%s%s%s %s", words_significant(field_number(spread, "median") * scale, 3).text, unit, words_mark(spread),
           words_range(spread, scale).text);
}

/* "transformer-base (9.8 MiB)" */
static void cell_table(page *p, const char *name, double bytes) {
  page_cell(p, CODE("%s") " (%s)", name, words_bytes(bytes).text);
}

static void write_answer(page *p, const json_t *document) {
  const json_t *accuracy = json_object_get(document, "accuracy");
  const int broken = (int)count_of(accuracy, "broken"), bits = (int)count_of(accuracy, "bits");
  page_open(p, PAGE_ANSWER);
  if (broken)
    page_say(p,
             STRONG("Failed checks: %d") ". Of %d results by kernels that promise the same bits everywhere, so many "
                                         "differ between machines of one version: Accuracy lists them.",
             broken, bits);
  else if (bits)
    page_say(p,
             "All %d results by kernels that promise the same bits everywhere, on machines of one version, are the "
             "same, bit for bit.",
             bits);
  else
    page_say(p, "No two machines have results of one version, by a kernel that promises the same bits everywhere and "
                "over the same elements: nothing was held to that promise.");
  page_close(p, PAGE_ANSWER);
  for (size_t i = 0; i < machine_count(document); i++) {
    const int failed = (int)count_of(machine_of(document, i), "failed");
    if (!failed) continue;
    page_open(p, PAGE_ANSWER);
    page_say(p, STRONG("Failed checks on %.200s: %d") ", listed in its own report.", label(document, i), failed);
    page_close(p, PAGE_ANSWER);
  }
}

static const char *budget_title(const char *budget) {
  return strcmp(budget, "half") == 0 ? "within 0.5 ulp" : strcmp(budget, "one") == 0 ? "within 1 ulp" : "any";
}

/* "the fastest, GB/s, share" of one machine. */
static void write_fastest_cell(page *p, const json_t *of) {
  if (!json_is_object(of)) {
    page_prose(p, "none");
    return;
  }
  page_prose_begin(p);
  page_say(p, CODE("%s") ", ", field_string(of, "kernel"));
  say_spread(p, json_object_get(of, "bytes_per_second"), 1e-9, "\u00a0GB/s");
  page_say(p, ", ");
  say_spread(p, json_object_get(of, "of_limit"), 100, "\u00a0%");
  page_cell_end(p);
}

static void write_fastest(page *p, const json_t *document) {
  static const page_column leading[] = {{"table", false}, {"shape", false}, {"error", false}};
  const json_t *list = json_object_get(document, "fastest");
  page_column *columns = columns_of(p, document, leading, 3, false);
  page_section(p, "Fastest kernels");
  if (json_array_size(list) == 0) page_paragraph(p, "There is no table of f32 that all machines timed.");
  if (json_array_size(list) > 0 && columns) {
    page_table(
        p,
        "Of tables that all machines timed, memory hot: the fastest of the kernels whose every check passed on "
        "that machine and, within 0.5 or 1 ulp, whose proved bound is so much; median GB/s with least and most "
        "of the repetitions, and the share of what the machine can do at best. Where ranges overlap, or are wide "
        "(‡), a rerun may name another. In cache: half of the least L2 at most.",
        columns, 3 + machine_count(document));
    for (size_t i = 0; i < json_array_size(list); i++) {
      const json_t *entry = json_array_get(list, i);
      page_cell(p, "%s", field_string(entry, "footprint"));
      cell_table(p, field_string(entry, "shape"), field_number(entry, "bytes"));
      page_cell(p, "%s", budget_title(field_string(entry, "budget")));
      for (size_t k = 0; k < machine_count(document); k++)
        write_fastest_cell(p, json_array_get(json_object_get(entry, "machines"), k));
    }
    page_table_end(p);
  }
  free(columns);
}

static void write_figures(page *p, const json_t *document, const machines_figures *drawn) {
  bool any = false;
  for (size_t i = 0; i < MACHINES_FIGURES; i++) any = any || drawn->svg[i];
  if (!any) return;
  page_open(p, PAGE_FIGURES);
  for (size_t i = 0; i < MACHINES_FIGURES; i++) {
    char caption[440];
    const json_t *times = shown_times(document, footprints[i]);
    snprintf(caption, sizeof caption,
             "Share of the limit on %.100s (%s): median, with least and most of the repetitions. Several threads can "
             "pass the limit, which is that of one.",
             name_of(times), words_bytes(field_number(times, "bytes")).text);
    page_figure(p, caption, drawn->svg[i]);
  }
  page_close(p, PAGE_FIGURES);
}

static void write_times_cell(page *p, const json_t *of) {
  page_cell_begin(p);
  if (json_is_object(of)) {
    say_spread(p, json_object_get(of, "of_limit"), 100, "\u00a0%");
    page_say(p, ", ");
    say_spread(p, json_object_get(of, "bytes_per_second"), 1e-9, "\u00a0GB/s");
  }
  page_cell_end(p);
}

static void write_times(page *p, const json_t *document) {
  static const page_column leading[] = {{"kernel", false}};
  const json_t *times = json_object_get(document, "times");
  page_column *columns = columns_of(p, document, leading, 1, true);
  for (size_t i = 0; columns && i < json_array_size(times); i++) {
    const json_t *table = json_array_get(times, i), *kernels = json_object_get(table, "kernels");
    char caption[320];
    snprintf(caption, sizeof caption, "%.100s, %s: share of the limit, and GB/s.", name_of(table),
             words_bytes(field_number(table, "bytes")).text);
    page_table(p, caption, columns, 1 + machine_count(document));
    for (size_t k = 0; k < json_array_size(kernels); k++) {
      const json_t *row = json_array_get(kernels, k);
      page_cell(p, CODE("%s"), field_string(row, "kernel"));
      for (size_t n = 0; n < machine_count(document); n++)
        write_times_cell(p, json_array_get(json_object_get(row, "machines"), n));
    }
    page_table_end(p);
  }
  free(columns);
}

static void write_speed(page *p, const json_t *document, const machines_figures *drawn) {
  page_section(p, "Share of the limit");
  if (!json_array_size(json_object_get(document, "times"))) {
    page_paragraph(p, "There is no shape that two machines timed.");
    return;
  }
  page_paragraph(
      p,
      "A share is of what the same machine can do at best with the same memory, measured beside each timing: "
      "shares can be compared between machines. GB/s hardly can: they tell of memory and clock as much as of "
      "kernels. Medians, with least and most of the repetitions; memory hot. ‡: these two are further apart "
      "than %.0f\u00a0%% of the median.",
      100 * words_too_wide);
  write_figures(p, document, drawn);
  write_times(p, document);
}

static void write_difference_cell(page *p, const json_t *of) {
  if (json_is_object(of))
    page_cell(p, "%s ulp, %s, %s misrounded, " CODE("%s"), words_significant(field_number(of, "max_ulp"), 7).text,
              words_significant(field_number(of, "max_abs"), 4).text, words_count(field_number(of, "misrounded")).text,
              field_string(of, "digest"));
  else
    page_cell(p, "%s", "");
}

static void write_differences(page *p, const json_t *document) {
  static const page_column leading[] = {{"kernel", false}, {"shape", false}, {"promise of the same bits", false}};
  const json_t *list = json_object_get(json_object_get(document, "accuracy"), "differences");
  page_column *columns = columns_of(p, document, leading, 3, false);
  if (!columns) return;
  page_table(
      p, "Where machines differ: largest error in ulp and absolute, misrounded elements, and the digest of the bits.",
      columns, 3 + machine_count(document));
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *row = json_array_get(list, i);
    page_cell(p, CODE("%s"), field_string(row, "kernel"));
    page_cell(p, "%s", field_string(row, "shape"));
    page_cell(p, json_is_true(json_object_get(row, "broken")) ? STRONG("broken") : "–");
    for (size_t k = 0; k < machine_count(document); k++)
      write_difference_cell(p, json_array_get(json_object_get(row, "machines"), k));
  }
  page_table_end(p);
  free(columns);
}

static void write_accuracy(page *p, const json_t *document) {
  const json_t *accuracy = json_object_get(document, "accuracy");
  const int compared = (int)count_of(accuracy, "compared"), same = (int)count_of(accuracy, "same"),
            unlike = (int)count_of(accuracy, "unlike");
  page_section(p, "Accuracy");
  page_open(p, PAGE_PARAGRAPH);
  if (!compared)
    page_say(p, "No kernel was looked at by two machines over the same elements of a shape.");
  else if (same == compared)
    page_say(p,
             "All the same: %d results, each a kernel on a shape, have the same errors and the same bits on the "
             "machines that looked at the same elements.",
             compared);
  else
    page_say(p,
             "Of %d results, each a kernel on a shape, %d have the same errors and the same bits on the machines that "
             "looked at the same elements. The others are listed: libm and vector sines have other bits in other "
             "versions, and on other instruction sets.",
             compared, same);
  if (unlike)
    page_say(p, " %d were not compared between all machines: some looked at other elements, by another seed or budget.",
             unlike);
  page_close(p, PAGE_PARAGRAPH);
  if (same != compared) write_differences(p, document);
}

/* Is a fact of a timing record known from the accuracy record, on all machines? */
static bool is_known(const json_t *document, const char *key) {
  for (size_t i = 0; i < machine_count(document); i++) {
    const json_t *machine = machine_of(document, i), *timing = environment_of(machine, "timing");
    if (json_object_get(timing, key) && !is_same(timing, environment_of(machine, "accuracy"), key)) return false;
  }
  return true;
}

/* Facts that any machine tells, in the order of the first that does. */
static json_t *keys_of(const json_t *document, const char *which) {
  json_t *keys = json_object();
  const bool timing = strcmp(which, "timing") == 0;
  for (size_t i = 0; i < machine_count(document); i++) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)environment_of(machine_of(document, i), which), key, value) {
      if (!timing || !is_known(document, key)) json_object_set_new(keys, key, json_true());
    }
  }
  return keys;
}

static void write_facts(page *p, const json_t *document, const char *which, const char *caption) {
  static const page_column leading[] = {{"fact", false}};
  page_column *columns = columns_of(p, document, leading, 1, false);
  json_t *keys = keys_of(document, which), *value;
  const char *key;
  p->failed = p->failed || !keys;
  if (columns && json_object_size(keys)) {
    page_table(p, caption, columns, 1 + machine_count(document));
    json_object_foreach(keys, key, value) {
      page_cell(p, "%s", key);
      for (size_t i = 0; i < machine_count(document); i++)
        page_prose(p, "%s", field_string(environment_of(machine_of(document, i), which), key));
    }
    page_table_end(p);
  }
  json_decref(keys);
  free(columns);
}

void machines_write(page *p, const json_t *document, const machines_figures *drawn) {
  page_begin(p, "posenc machines");
  write_answer(p, document);
  write_fastest(p, document);
  write_speed(p, document, drawn);
  write_accuracy(p, document);
  page_section(p, "Machines");
  write_facts(p, document, "accuracy", "Where the accuracy records were made.");
  write_facts(p, document, "timing", "What the timing records say besides.");
  page_paragraph(p, "The command that makes this page again:");
  page_code_block(p, field_string(document, "command"));
  page_end(p);
}
