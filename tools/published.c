/* SPDX-License-Identifier: MIT */
/*
 * Prints README.md's section about the published report, or shortens the report.json in its folder.
 *
 *     posenc-published FOLDER            prints the section, in Markdown
 *     posenc-published --brief FOLDER    keeps in report.json only what the section needs: a "published" of fields.def
 */
#include "common/field.h"
#include "common/output.h"
#include "records/read.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the section ---- */

static int print_section(const json_t *document, const char *path) {
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
static bool has_default(const json_t *document) {
  const json_t *uses = json_object_get(json_array_get(json_object_get(document, "machines"), 0), "uses");
  return json_object_get(field_find(uses, "use", "default"), "ns_per_element");
}

/* Replaces the report at that path by the brief one. Returns the exit status. */
static int make_brief(const json_t *document, const char *path) {
  json_t *machines = json_object_get(document, "machines"), *packages = json_object_get(document, "packages");
  if (!has_default(document)) {
    fprintf(stderr, "posenc-published: %s: the library's choice was not timed\n", path);
    return 2;
  }
  json_t *record =
      json_pack("{s:s, s:O, s:O}", "schema", "posenc-published-2", "machines", machines, "packages", packages);
  output *out = output_open(path);
  const bool done = out && json_dumpf(record, output_stream(out), JSON_INDENT(1)) == 0 &&
                    fputc('\n', output_stream(out)) != EOF && output_commit(out);
  if (!done) fprintf(stderr, "posenc-published: %s: %s\n", path, strerror(errno));
  json_decref(record);
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
  json_t *document = json_load_file(path, 0, &error);
  if (!document) {
    fprintf(stderr, "posenc-published: %s: %s\n", path, error.text);
    return 2;
  }
  const int status = brief ? make_brief(document, path) : print_section(document, path);
  json_decref(document);
  return status;
}
