/* SPDX-License-Identifier: MIT */
#include "reports/report.h"

#include "reports/model/answer.h"
#include "reports/page/page.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool machines_failed(const record_machines *record) {
  bool failed = record->accuracy.broken > 0 || record->accuracy.wrong > 0;
  RECORD_EACH(machine, record, machines) failed = failed || machine->failed > 0;
  return failed;
}

/* ---- figures ------------------------------------------------------------------------------------------------ */

static const char *const footprints[MACHINES_FIGURES] = {"reference", "largest", "in cache"};

/* Returns the times of the shape that "fastest" has for that footprint, or null. */
static const record_times_of_machines *shown_times(const record_machines *record, const char *footprint) {
  RECORD_EACH(chosen, record, fastest) {
    if (strcmp(chosen->footprint, footprint) != 0) continue;
    RECORD_EACH(table, record, times)
      if (strcmp(table->shape.name, chosen->shape) == 0) return table;
    return NULL;
  }
  return NULL;
}

/* Whether an earlier footprint has the same shape, which is then drawn already. */
static bool is_drawn_before(const record_machines *record, size_t footprint) {
  for (size_t i = 0; i < footprint; i++)
    if (shown_times(record, footprints[i]) == shown_times(record, footprints[footprint])) return true;
  return false;
}

static bool has_shares(const record_times_of_machines *table, size_t machine) {
  RECORD_EACH(kernel, table, kernels)
    if (kernel->machines[machine].of_limit.median > 0) return true;
  return false;
}

/* Returns the label, and what others used of a busy machine, as it stands at every time. */
static words shown_label(const record_machine *machine) {
  words result;
  if (words_is_busy(machine->others))
    snprintf(result.text, sizeof result.text, "%.120s, others %.20s\u00a0%%", machine->label,
             words_significant(100 * machine->others, 2).text);
  else
    snprintf(result.text, sizeof result.text, "%.150s", machine->label);
  return result;
}

/* Draws a mark with its range for each kernel, side by side for the machines. */
static void draw_machine(plot *picture, const record_machines *record, const record_times_of_machines *table,
                         size_t machine) {
  const double machines = (double)record->machines_count, step = 0.6 / machines,
               shift = step * ((double)machine - (machines - 1) / 2);
  if (!has_shares(table, machine)) return;
  plot_kernel(picture, "using 1:2:3:4 with yerrorbars", machine, shown_label(&record->machines[machine]).text);
  for (size_t k = 0; k < table->kernels_count; k++) {
    const record_spread *share = &table->kernels[k].machines[machine].of_limit;
    if (share->median > 0)
      plot_point(picture, (double)k + shift, 100 * share->median, 100 * share->min, 100 * share->max);
  }
}

static char *draw_shares(const record_machines *record, const record_times_of_machines *table, const char *name) {
  plot *picture = plot_begin(name, PLOT_WIDTH, PLOT_HEIGHT);
  if (!picture) return NULL;
  fprintf(picture->script, "set xrange [-0.6:%.17g]\nset xtics rotate by 45 right noenhanced (",
          (double)table->kernels_count - 0.4);
  for (size_t k = 0; k < table->kernels_count; k++) {
    fputs(k ? ", " : "", picture->script);
    plot_quoted(picture->script, table->kernels[k].kernel);
    fprintf(picture->script, " %zu", k);
  }
  fputs(")\nset yrange [0:*]\nset ylabel '% of the limit'\n", picture->script);
  for (size_t i = 0; i < record->machines_count; i++) draw_machine(picture, record, table, i);
  return plot_finish(picture, "Marks with ranges: share of the limit, kernels along the axis, a colour per machine");
}

bool machines_draw(const record_machines *record, machines_figures *made) {
  static const char *const names[MACHINES_FIGURES] = {"shares-reference", "shares-largest", "shares-cache"};
  bool ok = true;
  *made = (machines_figures){{NULL}};
  for (size_t i = 0; i < MACHINES_FIGURES && ok; i++) {
    const record_times_of_machines *table = shown_times(record, footprints[i]);
    bool any = false;
    for (size_t k = 0; table && k < record->machines_count; k++) any = any || has_shares(table, k);
    if (any && !is_drawn_before(record, i)) ok = (made->svg[i] = draw_shares(record, table, names[i])) != NULL;
  }
  if (!ok) machines_free(made);
  return ok;
}

void machines_free(machines_figures *made) {
  for (size_t i = 0; i < MACHINES_FIGURES; i++) free(made->svg[i]);
}

/* ---- the page ----------------------------------------------------------------------------------------------- */

/* A row of a table with a column for each machine: what it is of, and the list of the machines' cells. */
enum { OF_ROW, OF_CELLS };

/* Adds a column for each machine, whose cells are in a list of structs of `size` bytes. */
static void add_machine_columns(page *p, const record_machines *record, page_column column, size_t size) {
  RECORD_EACH(machine, record, machines) {
    column.datum = machine;
    page_column_add(p, column, "%s", shown_label(machine).text);
    column.offset += size;
  }
}

/* Makes a table with these columns, and one for each machine. */
#define MACHINE_TABLE(p, caption, columns, record, column, size)                                                       \
  (page_columns(p, columns, sizeof(columns) / sizeof *(columns)), add_machine_columns(p, record, column, size),        \
   page_sheet_begin(p, caption, false))

/* Names the machines whose times are unreliable. */
static void write_busy(page *p, const record_machines *record) {
  RECORD_EACH(machine, record, machines)
    if (words_is_busy(machine->others))
      page_paragraph(p,
                     STRONG("A busy machine: on %.200s other processes used %s\u00a0%% of the processors, so times are "
                            "longer than they need be."),
                     machine->label, words_significant(100 * machine->others, 2).text);
}

/* Prints "84.5 GB/s (82.2–85.0)". */
static void say_spread(page *p, const record_spread *spread, double scale, const char *unit) {
  page_say(p, "%s%s%s %s", words_significant(spread->median * scale, 3).text, unit, words_mark(spread),
           words_range(spread, scale).text);
}

static void write_answers(page *p, const record_machines *record) {
  const int64_t broken = record->accuracy.broken, bits = record->accuracy.bits;
  page_open(p, PAGE_ANSWER);
  if (broken)
    page_say(
        p,
        STRONG("Failed checks: %" PRId64) ". Of %" PRId64 " results by kernels that promise the same bits "
                                          "everywhere, so many differ between machines of one version: Accuracy lists "
                                          "them.",
        broken, bits);
  else if (bits)
    page_say(p,
             "All %" PRId64
             " results by kernels that promise the same bits everywhere, on machines of one version, are the "
             "same, bit for bit.",
             bits);
  else
    page_say(p, "No two machines have results of one version, by a kernel that promises the same bits everywhere and "
                "over the same elements: nothing was compared for that promise.");
  page_close(p, PAGE_ANSWER);
  if (record->accuracy.wrong) {
    page_open(p, PAGE_ANSWER);
    page_say(p, WRONG("Misrounded though the contract is correct rounding: %" PRId64) ", in red in Accuracy.",
             record->accuracy.wrong);
    page_close(p, PAGE_ANSWER);
  }
  RECORD_EACH(machine, record, machines) {
    if (!machine->failed) continue;
    page_open(p, PAGE_ANSWER);
    page_say(p, STRONG("Failed checks on %.200s: %" PRId64) ", listed in its own report.", machine->label,
             machine->failed);
    page_close(p, PAGE_ANSWER);
  }
}

static void say_shape(page *p, const void *value) {
  const record_fastest_of_machines *of = value;
  page_say(p, CODE("%s") " (%s)", of->shape, words_bytes(of->bytes).text);
}

static void say_budget(page *p, const void *value) {
  const answer_budget budget = answer_budget_called(*(const char *const *)value);
  page_say(p, budget == ANSWER_ANY ? "%s" : "within %s", answer_titles[budget]);
}

/* Writes "the fastest, GB/s, share" of one machine. */
static void say_fastest(page *p, const void *value) {
  const record_machine_speed *of = value;
  if (!of->there) {
    page_say(p, "none");
    return;
  }
  page_say(p, CODE("%s") ", ", of->kernel);
  say_spread(p, &of->bytes_per_second, 1e-9, "\u00a0GB/s");
  page_say(p, ", ");
  say_spread(p, &of->of_limit, 100, "\u00a0%");
}

static void write_beside(page *p, const record_machines *record) {
  bool any = false;
  RECORD_EACH(machine, record, front) any = any || machine->uses_count;
  if (any) front_write_machines(p, record->front, record->front_count);
}

static void write_fastest_of_each(page *p, const record_machines *record) {
  page_section(p, "Fastest kernels");
  if (record->fastest_count == 0) {
    page_paragraph(p, "There is no table of f32 that all machines timed.");
    return;
  }
  static const page_column columns[] = {
      {"table", false, NULL, PAGE_TEXT, PAGE_AT(OF_ROW, record_fastest_of_machines, footprint)},
      {"shape", .say = say_shape},
      {"error", false, PAGE_AT(OF_ROW, record_fastest_of_machines, budget), .say = say_budget},
  };
  static const page_column speeds = {.in = OF_CELLS, .say = say_fastest, .prose = true};
  MACHINE_TABLE(
      p,
      "Of tables that all machines timed, memory hot: the fastest of the kernels whose every check passed on "
      "that machine and, within 0.5 or 1 ulp, whose proved bound is so much; median GB/s with least and most "
      "of the repetitions, and the share of what the machine can do at best. Where ranges overlap, or are wide "
      "(‡), a rerun may name another. In cache: half of the least L2 at most.",
      columns, record, speeds, sizeof(record_machine_speed));
  RECORD_EACH(entry, record, fastest) page_row(p, PAGE_ROW([OF_ROW] = entry, [OF_CELLS] = entry->machines));
  page_sheet_end(p);
}

static void write_figures(page *p, const record_machines *record, const machines_figures *drawn) {
  for (size_t i = 0; i < MACHINES_FIGURES; i++) {
    char caption[440];
    const record_times_of_machines *table = shown_times(record, footprints[i]);
    if (!table) continue;
    snprintf(caption, sizeof caption,
             "Share of the limit on %.100s (%s): median, with least and most of the repetitions. Several threads can "
             "pass the limit, which is that of one.",
             table->shape.name, words_bytes(table->bytes).text);
    page_figure(p, caption, drawn->svg[i]);
  }
}

static void say_times(page *p, const void *value) {
  const record_machine_speed *of = value;
  if (!of->there) return;
  say_spread(p, &of->of_limit, 100, "\u00a0%");
  page_say(p, ", ");
  say_spread(p, &of->bytes_per_second, 1e-9, "\u00a0GB/s");
}

static void write_times(page *p, const record_machines *record) {
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, PAGE_AT(OF_ROW, record_kernel_on_machines, kernel)}};
  static const page_column times = {.numeric = true, .in = OF_CELLS, .say = say_times};
  RECORD_EACH(table, record, times) {
    char caption[320];
    snprintf(caption, sizeof caption, "%.100s, %s: share of the limit, and GB/s.", table->shape.name,
             words_bytes(table->bytes).text);
    MACHINE_TABLE(p, caption, columns, record, times, sizeof(record_machine_speed));
    RECORD_EACH(row, table, kernels) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_CELLS] = row->machines));
    page_sheet_end(p);
  }
}

static void write_speed(page *p, const record_machines *record, const machines_figures *drawn) {
  page_section(p, "Share of the limit");
  if (!record->times_count) {
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
  write_figures(p, record, drawn);
  write_times(p, record);
}

static void say_difference(page *p, const void *value) {
  const record_machine_figures *of = value;
  if (of->there)
    page_say(p, "%s ulp, %s, %s misrounded, " CODE("%s"), words_significant(of->max_ulp, 7).text,
             words_significant(of->max_abs, 4).text, words_count(of->misrounded).text, of->digest);
}

static void say_broken(page *p, const void *broken) {
  page_say(p, *(const bool *)broken ? STRONG("broken") : "–");
}

static void write_differences(page *p, const record_machines *record) {
#define IN_DIFFERENCE(field) PAGE_AT(OF_ROW, record_difference_of_machines, field)
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, IN_DIFFERENCE(kernel)},
      {"shape", false, NULL, PAGE_TEXT, IN_DIFFERENCE(shape)},
      {"promise of the same bits", false, IN_DIFFERENCE(broken), .say = say_broken},
  };
  static const page_column digests = {.in = OF_CELLS, .say = say_difference};
  const record_accuracy_of_machines *accuracy = &record->accuracy;
  MACHINE_TABLE(
      p, "Where machines differ: largest error in ulp and absolute, misrounded elements, and the digest of the bits.",
      columns, record, digests, sizeof(record_machine_figures));
  RECORD_EACH(row, accuracy, differences) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_CELLS] = row->machines));
  page_sheet_end(p);
}

static void say_error(page *p, const void *value) {
  const record_accuracy_cell *of = value;
  if (of->there)
    page_say(p, of->wrong ? WRONG("%s ulp, %s, %s of %s misrounded") : "%s ulp, %s, %s of %s misrounded",
             words_significant(of->max_ulp, 4).text, words_significant(of->max_abs, 3).text,
             words_count((double)of->misrounded).text, words_count((double)of->elements).text);
}

#define ACCURACY_COLUMNS                                                                                               \
  {"kernel", false, NULL, PAGE_NAME, PAGE_AT(OF_ROW, record_accuracy_row, kernel)}, {                                  \
    "dtype", false, NULL, PAGE_TEXT, PAGE_AT(OF_ROW, record_accuracy_row, dtype)                                       \
  }

static void write_commands(page *p, const record_machines *record) {
  enum { OF_CELL = OF_CELLS, OF_MACHINE };
  static const page_column columns[] = {
      ACCURACY_COLUMNS,
      {.title = "machine", .kind = PAGE_TEXT, PAGE_AT(OF_MACHINE, record_machine, label)},
      {.title = "command", .kind = PAGE_NAME, PAGE_AT(OF_CELL, record_accuracy_cell, replay), .prose = true},
  };
  const record_accuracy_of_machines *accuracy = &record->accuracy;
  page_data(p, "The command of each cell");
  PAGE_SHEET(p, "The command that makes the largest error of a cell again.", columns);
  RECORD_EACH(row, accuracy, rows)
    for (size_t i = 0; i < row->machines_count; i++)
      if (row->machines[i].there)
        page_row(p, PAGE_ROW([OF_ROW] = row, [OF_MACHINE] = &record->machines[i], [OF_CELL] = &row->machines[i]));
  page_sheet_end(p);
  page_data_end(p);
}

/* Writes the table of kernels and dtypes by machine. */
static void write_errors_of_each(page *p, const record_machines *record) {
  const record_accuracy_of_machines *accuracy = &record->accuracy;
  if (!accuracy->rows_count) return;
  static const page_column columns[] = {ACCURACY_COLUMNS};
  static const page_column errors = {.in = OF_CELLS, .say = say_error};
  MACHINE_TABLE(
      p,
      "Largest error in ulp and absolute, and misrounded elements, of all tables that a machine looked at. In red: "
      "elements are misrounded, though the contract is correct rounding.",
      columns, record, errors, sizeof(record_accuracy_cell));
  RECORD_EACH(row, accuracy, rows) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_CELLS] = row->machines));
  page_sheet_end(p);
  write_commands(p, record);
}

/* Writes the errors of packages themselves, which ran on one machine. */
static void write_packages(page *p, const record_package_errors *of) {
  if (!of->there) return;
  char caption[400];
  snprintf(caption, sizeof caption,
           "Packages themselves, as installed, on %.100s, %.10s: the largest error of their functions' tables below "
           "position 2²⁰ (of grids: of all), and the first position that right code in that dtype would not have so.",
           of->machine, of->date);
#define IN_PACKAGE(field) PAGE_AT(0, record_package_error, field)
  static const page_column columns[] = {
      {.title = "package", .kind = PAGE_TEXT, IN_PACKAGE(package)},
      {.title = "function", .kind = PAGE_TEXT, IN_PACKAGE(function)},
      {.title = "dtype", .kind = PAGE_TEXT, IN_PACKAGE(dtype)},
      {.title = "largest", .numeric = true, .kind = PAGE_REAL, IN_PACKAGE(max_abs), .digits = 2},
      {.title = "at", .numeric = true, .kind = PAGE_TEXT, IN_PACKAGE(at)},
      {.title = "first wrong", .kind = PAGE_TEXT, IN_PACKAGE(first_wrong)},
      {.title = "command", .kind = PAGE_NAME, IN_PACKAGE(command), .prose = true},
  };
  PAGE_SHEET(p, caption, columns);
  RECORD_EACH(row, of, rows) page_row(p, PAGE_ROW(row));
  page_sheet_end(p);
}

static void write_accuracy(page *p, const record_machines *record) {
  const int64_t compared = record->accuracy.compared, same = record->accuracy.same, unlike = record->accuracy.unlike;
  page_section(p, "Accuracy");
  page_open(p, PAGE_PARAGRAPH);
  if (!compared)
    page_say(p, "No kernel was looked at by two machines over the same elements of a shape.");
  else if (same == compared)
    page_say(p,
             "All the same: %" PRId64
             " results, each a kernel on a shape, have the same errors and the same bits on the "
             "machines that looked at the same elements.",
             compared);
  else
    page_say(p,
             "Of %" PRId64 " results, each a kernel on a shape, %" PRId64
             " have the same errors and the same bits on the "
             "machines that looked at the same elements. The others are listed: libm and vector sines have other bits "
             "in other versions, and on other instruction sets.",
             compared, same);
  if (unlike)
    page_say(p,
             " %" PRId64
             " were not compared between all machines: some looked at other elements, by another seed, budget or rule.",
             unlike);
  page_close(p, PAGE_PARAGRAPH);
  if (same != compared) write_differences(p, record);
  write_errors_of_each(p, record);
  write_packages(p, &record->packages);
}

/* Whether the accuracy record has the same fact of a timing record, on all machines. */
static bool is_known(const record_machines *record, const char *key) {
  RECORD_EACH(machine, record, machines) {
    const record_fact *fact = record_find_fact(&machine->environment.timing, key);
    if (fact && !record_same_fact(fact, record_find_fact(&machine->environment.accuracy, key))) return false;
  }
  return true;
}

static const record_facts *facts_of(const record_machine *machine, bool timing) {
  return timing ? &machine->environment.timing : &machine->environment.accuracy;
}

/* Whether a machine before this one has the fact. */
static bool is_told(const record_machines *record, const record_machine *machine, const char *key, bool timing) {
  for (const record_machine *other = record->machines; other < machine; other++)
    if (record_find_fact(facts_of(other, timing), key)) return true;
  return false;
}

/* Writes the value of a fact of the column's machine. */
static void say_fact(page *p, const void *key) {
  const bool *timing = p->of[OF_CELLS];
  page_say(p, "%s", record_fact_text(facts_of(p->datum, *timing), *(const char *const *)key));
}

/* Writes the facts that any machine has, in the order in which they first occur. */
static void write_facts(page *p, const record_machines *record, bool timing, const char *caption) {
  static const page_column columns[] = {{"fact", false, NULL, PAGE_TEXT, PAGE_AT(OF_ROW, record_fact, key)}};
  static const page_column facts = {PAGE_AT(OF_ROW, record_fact, key), .say = say_fact, .prose = true};
  MACHINE_TABLE(p, caption, columns, record, facts, 0);
  RECORD_EACH(machine, record, machines) {
    const record_facts *told = facts_of(machine, timing);
    RECORD_EACH(fact, told, list)
      if (!(timing && is_known(record, fact->key)) && !is_told(record, machine, fact->key, timing))
        page_row(p, PAGE_ROW([OF_ROW] = fact, [OF_CELLS] = &timing));
  }
  page_sheet_end(p);
}

void machines_write(page *p, const record_machines *record, const machines_figures *drawn) {
  page_begin(p, "posenc machines");
  write_busy(p, record);
  write_answers(p, record);
  write_beside(p, record);
  write_fastest_of_each(p, record);
  write_speed(p, record, drawn);
  write_accuracy(p, record);
  page_section(p, "Machines");
  write_facts(p, record, false, "Where the accuracy records were made.");
  write_facts(p, record, true, "What the timing records say besides.");
  page_paragraph(p, "The command that makes this page again:");
  page_code_block(p, record->command);
  page_end(p);
}
