/* SPDX-License-Identifier: MIT */
/* Writes checks, kernels, claims, the environment, and how the figures were measured. */
#include "common/contract.h"
#include "common/environment.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checks ---- */

/* A row of what failed: the failure, and what the record has of the kernel on the shape, which may be null. */
enum { OF_FAILURE, OF_ROW };

static void again(page *p, const void *value) {
  const record_row *row = value;
  page_say(p, CODE("%s"), row ? row->replay : "");
}

static void write_failures(page *p, const record_report *report) {
#define IN_FAILURE(field) PAGE_AT(OF_FAILURE, record_failure, field)
  static const page_column columns[] = {
      {.title = "kernel", .kind = PAGE_NAME, IN_FAILURE(kernel)},
      {.title = "shape", .kind = PAGE_TEXT, IN_FAILURE(shape)},
      {.title = "property", .kind = PAGE_TEXT, IN_FAILURE(property)},
      {.title = "worst", .numeric = true, .kind = PAGE_REAL, IN_FAILURE(worst), .digits = 4},
      {.title = "bound", .numeric = true, .kind = PAGE_REAL, IN_FAILURE(bound), .digits = 4},
      {.title = "note", .kind = PAGE_TEXT, IN_FAILURE(note), .prose = true},
      {.title = "again", .in = OF_ROW, .say = again, .prose = true},
  };
  const record_report_checks *checks = &report->checks;
  if (checks->failures_count == 0) return;
  PAGE_SHEET(p, "What failed.", columns);
  RECORD_EACH(failure, checks, failures)
    page_row(p, PAGE_ROW([OF_FAILURE] = failure, [OF_ROW] = report_row(report_table(report, failure->shape),
                                                                       failure->kernel)));
  page_sheet_end(p);
}

void write_checks(page *p, const record_report *report) {
  const record_report_checks *checks = &report->checks;
  page_section(p, "Checks");
  page_paragraph(
      p,
      STRONG("%s passed, %s failed, %s skipped") " on %s compared in full and %s of which a sample "
                                                 "was. Skipped is what a kernel refuses to do, what its bound says "
                                                 "nothing "
                                                 "about, and what another check that failed already makes needless.",
      words_integer(checks->passed).text, words_integer(checks->failed).text, words_integer(checks->skipped).text,
      words_number_of(checks->shapes.exhaustive, "shape").text, words_integer(checks->shapes.sampled).text);
  write_failures(p, report);
}

/* ---- what is not on the page ---- */

/* A figure that the page lacks of a kernel on a shape, and the reason; both are empty if the page lacks none. */
typedef struct gap {
  const char *what, *why;
  const char *of_other; /* before the reason, if it is that of another shape; else null */
} gap;

/* Returns why the kernel refused a shape, as records of times do not tell it; "" if it refused none. */
static const char *any_refusal(const record_report *report, const char *kernel) {
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel);
    if (row && *row->refusal) return row->refusal;
  }
  return "";
}

static gap gap_of(const record_report *report, const record_table *table, const record_kernel *kernel) {
  const record_row *row = report_row(table, kernel->name);
  const char *lost = report_loss(report, kernel->name);
  if (row && *row->refusal) return (gap){"everything", row->refusal, NULL};
  if (*kernel->refusal) return (gap){"everything", kernel->refusal, NULL};
  if (row && row->timing.there)
    return *row->mode || table->sweep ? (gap){"", "", NULL} : (gap){"errors", "it ended before they were known", NULL};
  if (!report_is_timed(report)) return (gap){"", "", NULL}; /* which is told once */
  const char *what = row && *row->mode ? "times" : "everything";
  if (*lost) return (gap){what, lost, NULL};
  if (row && !table_is_timed(table)) return (gap){what, "this shape is verified only", NULL};
  const char *refusal = any_refusal(report, kernel->name);
  if (*refusal) return (gap){what, refusal, "it said of another shape: "};
  return (gap){what, "the records have nothing about it", NULL};
}

static void why(page *p, const void *value) {
  const gap *found = value;
  page_say(p, "%s%s", found->of_other ? found->of_other : "", found->why);
}

/* Writes what is lacking of the selected kernels, and of the literal formula beside them, a row for each gap. */
static void write_gaps(page *p, const record_report *report) {
  enum { OF_GAP, OF_TABLE, OF_KERNEL };
  static const page_column columns[] = {
      {"shape", false, NULL, PAGE_TEXT, PAGE_AT(OF_TABLE, record_table, shape.name)},
      {"kernel", false, NULL, PAGE_NAME, PAGE_AT(OF_KERNEL, record_kernel, name)},
      {"left out", false, NULL, PAGE_TEXT, PAGE_AT(OF_GAP, gap, what)},
      {"why", .say = why, .prose = true},
  };
  PAGE_SHEET(p, "What is not on this page, of the kernels that were selected and of the literal formula.", columns);
  RECORD_EACH(table, report, shapes)
    RECORD_EACH(kernel, report, kernels) {
      const bool is_shown = kernel->selected || (report->subjects_count && strcmp(kernel->name, answer_literal) == 0);
      const gap found = is_shown ? gap_of(report, table, kernel) : (gap){"", "", NULL};
      if (*found.what) page_row(p, PAGE_ROW([OF_GAP] = &found, [OF_TABLE] = table, [OF_KERNEL] = kernel));
    }
  page_sheet_end(p);
}

/* Names the states of memory of which there are no times. */
static void write_lacking_states(page *p, const record_report *report) {
  const struct {
    const char *name;
    size_t count;
  } states[] = {
#define STATE(name) {#name, report->name##_count},
      REPORT_STATES(STATE)
#undef STATE
  };
  const char *separator = "Not timed in these states of memory: ";
  page_open(p, PAGE_PARAGRAPH);
  for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
    if (states[i].count) continue;
    page_say(p, "%s%s", separator, states[i].name);
    separator = ", ";
  }
  if (*separator == ',') page_say(p, ". " CODE("posenc report --full") " times them.");
  page_close(p, PAGE_PARAGRAPH);
}

/* Whether there are kernels on the page that were neither selected nor are beside those: the library's choices, and the
   literal formula. */
static bool has_others(const record_report *report) {
  RECORD_EACH(kernel, report, kernels) {
    bool beside = kernel->selected || strcmp(kernel->name, answer_literal) == 0;
    RECORD_EACH(choice, report, choices) beside = beside || strcmp(choice->kernel, kernel->name) == 0;
    if (!beside) return true;
  }
  return false;
}

void write_left_out(page *p, const record_report *report) {
  const record_facts *facts = &report->environment.accuracy;
  const char *left_out = record_fact_text(facts, "left_out"), *seconds = record_fact_text(facts, "budget_seconds");
  page_section(p, "Left out");
  if (*left_out || *seconds)
    page_paragraph(p,
                   "To stay within the budget of time%s%s%s: cold caches, fresh memory, plans%s%s. The command below, "
                   "without " CODE("--budget") ", measures these, too.",
                   *seconds ? ", " : "", seconds, *seconds ? " s" : "", *left_out ? ", and " : "", left_out);
  else if (report_is_timed(report))
    write_lacking_states(p, report);
  if (report->subjects_count && !has_others(report))
    page_paragraph(
        p, "Kernels that were not selected, and what frameworks compute (" CODE("recipe/*") "), but for "
                                                                                            "those named above.");
  write_gaps(p, report);
}

/* Writes of the column's property "10 of 10", of accuracy with "(8 exhaustive, 2 sampled)"; nothing if the kernel has
   no checks of it. */
static void say_count(page *p, const void *value) {
  const record_kernel_checks *kernel = value;
  const char *property = p->datum;
  size_t i = 0;
  while (i < kernel->properties_count && strcmp(kernel->properties_names[i], property) != 0) i++;
  if (i == kernel->properties_count) return;
  const record_property_checks *count = &kernel->properties[i];
  page_say(p, count->passed == count->of ? "%d of %d" : STRONG("%d of %d"), (int)count->passed, (int)count->of);
  if (strcmp(property, "accuracy") == 0)
    page_say(p, SMALL(" (%d exhaustive, %d sampled)"), (int)(count->of - count->sampled), (int)count->sampled);
}

void write_properties(page *p, const record_report *report) {
  const record_report_checks *checks = &report->checks;
  const size_t count = checks->properties_count;
  if (count == 0) return;
  page_section(p, "Checks by kernel");
  page_paragraph(
      p,
      "Accuracy, memory, bounded and pair-norm look at every element of a shape whose figures are exhaustive, and "
      "at sampled rows of the others; rotation, extrapolation and extension look at rows drawn from every shape, and "
      "of add and rope so do in-place, batch, index, inverse, relative, padding and special; search looks at "
      "positions up to 2⁴⁰, of tables.");
  const page_column first = {.kind = PAGE_NAME, PAGE_AT(0, record_kernel_checks, kernel)};
  page_column_add(p, first, "kernel");
  for (size_t i = 0; i < count; i++)
    page_column_add(p, (page_column){.numeric = true, .say = say_count, .datum = checks->properties[i]}, "%s",
                    checks->properties[i]);
  page_sheet_begin(p, "Shapes on which each property held.", false);
  RECORD_EACH(kernel, checks, kernels) page_row(p, PAGE_ROW(kernel));
  page_sheet_end(p);
}

/* ---- kernels ---- */

static void write_kernel(page *p, const record_kernel *kernel) {
  const posenc_bound bound = report_bound(kernel);
  char promise[128];
  format_bound(&bound, promise, sizeof promise);
  const struct {
    const char *label, *text;
  } facts[] = {
      {"Algorithm", kernel->algorithm},
      {"Provenance", kernel->provenance},
      {"ISA", kernel->isa},
      {"Bound", promise},
      {"Basis", kernel->basis},
      {"Reproducible", kernel->reproducible ? "the same bits on every ISA, compiler, libm and thread count" : "no"},
      {"Threads", kernel->threaded ? "several" : "one"},
      {"Does not run here", kernel->refusal},
  };
  page_subsection(p, kernel->name);
  page_paragraph(p, "%s", kernel->summary);
  page_open(p, PAGE_LIST);
  for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
    if (*facts[i].text) page_item(p, STRONG("%s:") " %s", facts[i].label, facts[i].text);
  page_close(p, PAGE_LIST);
}

void write_kernels(page *p, const record_report *report) {
  page_section(p, "Kernels");
  page_paragraph(
      p, "A bound holds for every element: ulp is the spacing of the table's type at the exact value, p the position.");
  RECORD_EACH(kernel, report, kernels) write_kernel(p, kernel);
}

/* ---- claims ---- */

static void verdict(page *p, const void *value) {
  const record_claim *one = value;
  page_say(p, STRONG("%s") "%s%s", one->verdict, *one->when ? " " : "", one->when);
}

void write_claims(page *p, const record_report *report) {
  static const page_column columns[] = {
      {.title = "claim", .kind = PAGE_TEXT, PAGE_AT(0, record_claim, claim), .prose = true},
      {.title = "verdict", .say = verdict, .prose = true},
      {.title = "found", .kind = PAGE_TEXT, PAGE_AT(0, record_claim, found), .prose = true},
  };
  if (!report->claims_count) return;
  page_section(p, "Claims");
  page_paragraph(p, "What is often said of these encodings, and what the records of this page tell. Claims that are "
                    "decided alike on every machine, and pictures of the encoding, are in doc/sinusoids.md of the "
                    "sources.");
  PAGE_SHEET(p, "Each claim with its verdict.", columns);
  RECORD_EACH(one, report, claims) page_row(p, PAGE_ROW(one));
  page_sheet_end(p);
}

/* ---- environment ---- */

/* Writes the facts that `known`, unless it is null, does not have with the same value. */
static void write_facts(page *p, const char *caption, const record_facts *facts, const record_facts *known) {
  static const page_column columns[] = {
      {.title = "fact", .kind = PAGE_TEXT, PAGE_AT(0, record_fact, key)},
      {.title = "value", .kind = PAGE_TEXT, PAGE_AT(0, record_fact, value), .prose = true},
  };
  PAGE_SHEET(p, caption, columns);
  RECORD_EACH(fact, facts, list)
    if (!known || !record_same_fact(fact, record_find_fact(known, fact->key))) page_row(p, PAGE_ROW(fact));
  page_sheet_end(p);
}

/* Warns of figures of two builds or two machines in one row. */
static void warn_of_difference(page *p, const record_facts *accuracy, const record_facts *timing) {
  const char *key;
  for (size_t i = 0; (key = environment_key(FACT_OF_PAGE, i)); i++)
    if (strcmp(record_fact_text(accuracy, key), record_fact_text(timing, key)) != 0)
      page_paragraph(
          p, STRONG("Accuracy and times were not taken from the same build on the same machine: %s differs."), key);
}

/* Writes a paragraph on how steady the machine was. */
static void write_stability(page *p, const record_report *report) {
  const record_stability *told = &report->stability;
  const record_facts *facts = &report->environment.timing;
  const char *load = record_fact_text(facts, "load"), *after = record_fact_text(facts, "load_after");
  if (!told->there) return;
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "How steady the machine was: beside %s of %s its limit was measured too.",
           words_number_of(told->measured, "timing").text, words_number_of(told->shapes, "shape").text);
  if (isfinite(told->worst))
    page_say(
        p,
        " The middle half of these measurements reaches over %s\u00a0%% of their median for the typical shape, and "
        "over %s\u00a0%% for the worst, " CODE("%s") ".",
        words_significant(100 * told->typical, 2).text, words_significant(100 * told->worst, 2).text, told->shape);
  if (told->drift.there)
    page_say(p, " In the last third of the run it was %s times " SMALL("%s") " what it was in the first.",
             words_significant(told->drift.estimate, 3).text, words_interval(&told->drift).text);
  if (isfinite(told->others))
    page_say(p, " Other processes used %s\u00a0%% of the processors meanwhile.",
             words_significant(100 * told->others, 2).text);
  if (*load)
    page_say(p, " The load (processes that ran or waited, over 1, 5 and 15 minutes) was %s before%s%s%s.", load,
             *after ? " and " : "", after, *after ? " after" : "");
  page_say(p, " Figures marked ‡ have least and most further apart than %.0f\u00a0%% of their median.",
           100 * words_too_wide);
  page_close(p, PAGE_PARAGRAPH);
}

static void write_environment(page *p, const record_report *report) {
  const record_facts *accuracy = &report->environment.accuracy, *timing = &report->environment.timing;
  page_section(p, "Environment");
  if (report_is_timed(report)) warn_of_difference(p, accuracy, timing);
  write_stability(p, report);
  page_data(p, "Machine and build");
  write_facts(p, "Where the accuracy record was made.", accuracy, NULL);
  if (report_is_timed(report)) write_facts(p, "What the timing record says besides.", timing, accuracy);
  page_data_end(p);
}

/* ---- how ---- */

static int64_t most_repetitions(const record_report *report) {
  int64_t most = 0;
  RECORD_EACH(table, report, shapes)
    RECORD_EACH(row, table, rows)
      if (row->timing.repetitions > most) most = row->timing.repetitions;
  return most;
}

static void write_timing_method(page *p, const record_report *report) {
  page_item(p,
            "Each time is the median of %s repetitions, run in random order among all others, with least and most "
            "beside it.",
            words_integer(most_repetitions(report)).text);
  page_item(p, "What is timed is the writing of rows, or the work on those of x: the plan is made before (and timed "
               "apart), the memory was touched before, and the code and small tables are hot.");
  page_item(
      p, "The limit of a table is to fill: the best of memset and stores of vectors, through the caches or past "
         "them, on the same buffer, measured just before and just after each repetition. That of add and rope is "
         "to scale, x *= constant in place, with the widest vectors. A share is the median of the ratios of "
         "these pairs, so it is not quite the ratio of the medians beside it. Kernels of several threads have a share "
         "of what one thread or as many can do, whichever is more; the limits that are shown are those of one.");
  if (strcmp(record_fact_text(&report->environment.timing, "library_build_type"), "debug") == 0)
    page_item(p, CODE("library_build_type") " is " CODE("debug") ": Google Benchmark was compiled with its assertions "
                                                                 "(without NDEBUG), as distributions do. That tells "
                                                                 "nothing about the kernels, which were compiled with "
                                                                 "the flags above, nor changes their times: posenc "
                                                                 "reads the clock itself, around their calls alone.");
}

void write_method(page *p, const record_report *report) {
  write_environment(p, report);
  page_section(p, "How the figures were taken");
  page_open(p, PAGE_LIST);
  page_item(p, "Exact values come from MPFR with as many bits as it takes to round them for certain, or by rotations "
               "between its values, within 2⁻⁹⁸, and from MPFR where that does not decide. The error in ulp is "
               "|got − exact| / ulp(exact), a fraction, and the absolute error stands beside it, since near a zero of "
               "sine the ulp vanishes.");
  page_item(p, "Exhaustive figures are over every element of the shape. Sampled ones are over the number said beside "
               "them, and an element that was not drawn may be worse.");
  page_item(p, "Results of add and rope are compared with the exact ones of the x that was given: numbers of a size "
               "about 1, and in every 17th row huge, tiny, zero, or such that they cancel the table, which count for "
               "the share of the bound alone. An ulp is that of the exact sum, which has no end where x cancels the "
               "table by chance, and of rope that of the exact pair's length.");
  if (report->seed != RECORD_NONE)
    page_item(p, "What is sampled, and x, follow from the seed %.0f.", (double)report->seed);
  if (report_is_timed(report))
    write_timing_method(p, report);
  else
    page_item(p, "There is no timing record, as where the table is empty or posenc was built without Google Benchmark: "
                 "hence no times, no bandwidths and no speed-ups on this page.");
  page_close(p, PAGE_LIST);
  page_paragraph(p, "The command that makes this report again:");
  page_code_block(p, report->command);
}
