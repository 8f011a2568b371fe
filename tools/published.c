/* SPDX-License-Identifier: MIT */
/*
 * Prints README.md's section about the published report, or shortens the report.json in its folder.
 *
 *     posenc-published FOLDER            prints the section, in Markdown
 *     posenc-published --brief FOLDER    keeps in report.json only what the section needs: a "published" of fields.def
 */
#include "common/output.h"
#include "records/record.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the section ---- */

static int print_section(json_t *document, const char *path) {
  record_fault fault;
  const record_published *shown = record_read_published(document, &fault);
  page p = {.format = &page_markdown, .stream = stdout};
  if (!shown) {
    fprintf(stderr, "posenc-published: %s: %s\n", path, fault.text);
    return 2;
  }
  puts("[The whole report](reports/published/report.md) of the first machine has all kernels, other tables and states "
       "of memory, and the method; `make publish` makes it as a page, too.\n");
  front_write_machines(&p, shown->machines, shown->machines_count);
  front_write_packages(&p, shown->packages, shown->packages_count);
  puts("![Time per element of the fastest kernels, coloured by their errors](reports/published/bars.svg)\n");
  record_free(shown);
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}

/* ---- the brief report ---- */

/* Whether the first machine, that of the report, has the time of the library's choice. */
static bool has_default(const record_published *document) {
  if (!document->machines_count) return false;
  RECORD_EACH(one, &document->machines[0], uses)
    if (strcmp(one->use, "default") == 0) return one->ns_per_element.there;
  return false;
}

/* Replaces the report at that path, which has the fields of the brief one, by that. Returns the exit status. */
static int make_brief(json_t *document, const char *path) {
  const record_published *taken = record_take_published(document);
  record_published made = *taken;
  made.schema = "posenc-published-2";
  const bool is_timed = has_default(taken);
  if (!is_timed) fprintf(stderr, "posenc-published: %s: the library's choice was not timed\n", path);
  output *out = is_timed ? output_open(path) : NULL;
  if (out) record_print_as(record_write_published(&made), JSON_INDENT(1), output_stream(out));
  const bool done = out && output_commit(out);
  if (is_timed && !done) fprintf(stderr, "posenc-published: %s: %s\n", path, strerror(errno));
  record_free(taken);
  return done ? 0 : 2;
}

int main(int argc, char **argv) {
  const bool brief = argc == 3 && strcmp(argv[1], "--brief") == 0;
  const char *folder = argv[argc - 1];
  char path[4096];
  json_error_t error;
  if (argc != 2 && !brief) {
    fputs("Usage: posenc-published [--brief] FOLDER\n", stderr);
    return 2;
  }
  if (snprintf(path, sizeof path, "%s/report.json", folder) >= (int)sizeof path) {
    fprintf(stderr, "posenc-published: %s: the name is too long\n", folder);
    return 2;
  }
  FILE *file = fopen(path, "re");
  json_t *document = file ? record_load(file, 0, &error) : NULL;
  if (!document) {
    fprintf(stderr, "posenc-published: %s: %s\n", path, file ? error.text : strerror(errno));
    return 2;
  }
  fclose(file);
  return brief ? make_brief(document, path) : print_section(document, path);
}
