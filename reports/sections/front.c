/* SPDX-License-Identifier: MIT */
#include "reports/sections/sections.h"

#include "reports/model/answer.h"
#include "reports/page/page.h"

#include <math.h>
#include <string.h>

/* ---- machines ---- */

static const struct {
  const char *use, *title;
} titles[] = {{"default", "posenc, one thread"},
              {"threads", "posenc, all threads"},
              {"device", "posenc on a GPU"},
              {"library", "another library's vector sines, the fastest"},
              {"now", "a framework's formula in C, with the C library's sines, the fastest"},
              {"framework", "a framework itself"}};

static const char *title_of(const char *use) {
  for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
    if (strcmp(titles[i].use, use) == 0) return titles[i].title;
  return use;
}

static bool is_same_row(const record_machine_use *a, const record_machine_use *b) {
  return strcmp(a->use, b->use) == 0 && a->rows == b->rows && a->dim == b->dim;
}

static const record_machine_use *find_use(const record_front_machine *machine, const record_machine_use *like) {
  RECORD_EACH(use, machine, uses)
    if (is_same_row(use, like)) return use;
  return NULL;
}

/* Writes of the column's machine "105 times, 57 % of the limit, 130 µs, correctly rounded: `cr-avx512`", as far as it
   is known, and the largest error where the kernel makes no promise. */
static void say_use(page *p, const void *like) {
  const record_front_machine *machine = p->datum;
  const record_machine_use *use = find_use(machine, like);
  page_date(p, machine->date); /* what is old is grey, machine by machine */
  if (!use) return;
  const record_spread *ns = &use->ns_per_element, *share = &use->of_limit;
  const char *promise = answer_promises[answer_budget_called(use->error)];
  if (use->speed_up.there) page_say(p, STRONG("%s times") ", ", words_significant(use->speed_up.estimate, 3).text);
  if (share->there) page_say(p, "%s\u00a0%% of the limit, ", words_significant(100 * share->median, 2).text);
  if (ns->there) page_say(p, "%s%s", words_duration(ns->median * use->rows * use->dim * 1e-9).text, words_mark(ns));
  page_say(p, "%s", promise);
  if (!*promise) page_say(p, "%serror %s", ns->there ? ", " : "", words_significant(use->max_abs, 2).text);
  page_say(p, ": " CODE("%s"), use->kernel);
}

/* Whether an earlier machine, or an earlier use of the same one, has that row. */
static bool is_written(const record_front_machine *machines, const record_front_machine *at,
                       const record_machine_use *like) {
  for (const record_front_machine *machine = machines; machine < at; machine++)
    if (find_use(machine, like)) return true;
  return find_use(at, like) != like;
}

static void say_table(page *p, const void *value) {
  const record_machine_use *of = value;
  page_date(p, NULL);
  page_say(p, "%s: " SMALL("%s × %s, %s"), title_of(of->use), words_count(of->rows).text, words_count(of->dim).text,
           words_bytes(of->bytes).text);
}

/* Writes what is told of each machine: its record, or where the figures are from. */
static void write_facts(page *p, const record_front_machine *machines, size_t count) {
  page_open(p, PAGE_LIST);
  for (size_t i = 0; i < count; i++) {
    const record_front_machine *one = &machines[i];
    page_open(p, PAGE_ITEM);
    page_say(p, STRONG("%s") ", %.10s: %s", one->label, one->date, one->cpu);
    if (*one->cores) page_say(p, ", %s processors", one->cores);
    if (isfinite(one->others))
      page_say(p, ", of which other processes used %s\u00a0%%%s", words_significant(100 * one->others, 2).text,
               words_is_busy(one->others) ? ", so that times are longer than they need be" : "");
    if (*one->commit) page_say(p, "; posenc %s, commit %s", one->posenc_version, one->commit);
    if (*one->source) page_say(p, "; no record was kept: these are figures of %s", one->source);
    page_say(p, ".");
    page_close(p, PAGE_ITEM);
  }
  page_close(p, PAGE_LIST);
}

void front_write_machines(page *p, const record_front_machine *machines, size_t count) {
  const char *date = p->date;
  page_date(p, NULL);
  page_column_add(p, (page_column){.say = say_table}, "table");
  for (size_t i = 0; i < count; i++)
    page_column_add(p, (page_column){.say = say_use, .prose = true, .datum = &machines[i]}, "%s, %.10s",
                    machines[i].label, machines[i].date);
  page_sheet_begin(
      p,
      "f32 tables in memory that is in use: how many times as fast as the framework's formula (on a GPU: as the "
      "framework), the share of what the machine can do at best with that memory, the median time (‡: the least and "
      "the most are further apart than a fifth of it), the error, and the kernel.",
      true);
  for (size_t i = 0; i < count; i++)
    RECORD_EACH(use, &machines[i], uses)
      if (!is_written(machines, &machines[i], use)) page_row(p, PAGE_ROW(use));
  page_date(p, NULL);
  page_sheet_end(p);
  write_facts(p, machines, count);
  page_date(p, date);
}

/* ---- packages ---- */

static void say_name(page *p, const void *value) {
  const record_package *one = value;
  page_say(p, "%s %s", one->name, one->version);
}

static void say_problem(page *p, const void *value) {
  const record_package *one = value;
  page_say(p, "%s: %s", one->problem, one->way);
}

static void say_ratio(page *p, const void *value) {
  const record_ratio *ratio = value;
  page_say(p, STRONG("%s times") " %s", words_significant(ratio->estimate, 3).text, words_interval(ratio).text);
}

void front_write_packages(page *p, const record_package *packages, size_t count) {
  const char *date = p->date;
  if (!count) return;
  page_date(p, packages->date);
  static const page_column columns[] = {
      {"package", .say = say_name},
      {"what it makes", .say = say_problem},
      {"its largest error", true, NULL, PAGE_REAL, PAGE_AT(0, record_package, max_abs), .digits = 1},
      {"its time by posenc's", true, PAGE_AT(0, record_package, ratio), .say = say_ratio},
  };
  char caption[400];
  snprintf(
      caption, sizeof caption,
      "Packages themselves, as installed, beside posenc's default from Python, correctly rounded, in the same turns "
      "on one thread of %.80s%s.",
      packages->machine,
      packages->busy ? ", while other processes ran: such quotients are rough, and times are not told" : "");
  page_columns(p, columns, sizeof columns / sizeof *columns);
  page_sheet_begin(p, caption, true);
  for (const record_package *one = packages; one < packages + count; one++) page_row(p, PAGE_ROW(one));
  page_sheet_end(p);
  page_date(p, date);
}

void write_front(page *p, const record_report *report) {
  if (report->machines_count > 1) {
    page_section(p, "Several machines");
    front_write_machines(p, report->machines, report->machines_count);
  }
  if (report->packages_count) {
    page_section(p, "Packages");
    front_write_packages(p, report->packages, report->packages_count);
  }
}
