/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include <ctype.h>

/* Made from reports/page/style.css and reports/page/script.js, one string literal a line. */
static const char style[] =
#include "reports/page/style.inc"
    ;
static const char script[] =
#include "reports/page/script.inc"
    ;

static void escape(FILE *stream, const char *text) {
  static const char *const entities[] = {
      ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
  for (; *text; text++) {
    const size_t c = (unsigned char)*text;
    if (c < sizeof entities / sizeof *entities && entities[c])
      fputs(entities[c], stream);
    else
      fputc(c < ' ' && c != '\n' ? ' ' : *text, stream);
  }
}

static void text(page *p, page_look look, const char *plain) {
  if (look == PAGE_FILE) {
    fputs("<a href=\"", p->stream);
    escape(p->stream, plain);
    fputs("\">", p->stream);
  }
  escape(p->stream, plain);
}

/* Writes a text, escaped, between two pieces of HTML. */
static void around(page *p, const char *before, const char *plain, const char *after) {
  fputs(before, p->stream);
  escape(p->stream, plain);
  fputs(after, p->stream);
}

/* Writes the title in lower case, with '-' for all but letters and digits, so that links to a section are easy to
   write. */
static void anchor(FILE *stream, const char *plain) {
  for (; *plain; plain++) fputc(isalnum((unsigned char)*plain) ? tolower((unsigned char)*plain) : '-', stream);
}

static void heading(page *p, int level, const char *plain) {
  fprintf(p->stream, "<h%d id=\"", level);
  anchor(p->stream, plain);
  fputs("\">", p->stream);
  if (level > 1) {
    fputs("<a href=\"#", p->stream);
    anchor(p->stream, plain);
    fputs("\">", p->stream);
  }
  escape(p->stream, plain);
  fprintf(p->stream, level > 1 ? "</a></h%d>\n" : "</h%d>\n", level);
}

static void begin(page *p, const char *title) {
  around(p,
         "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
         title, "</title>\n<style>\n");
  fprintf(p->stream, "%s</style>\n</head>\n<body>\n<main>\n", style);
  heading(p, 1, title);
}

static void end(page *p) {
  fprintf(p->stream, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", script);
}

static void code_block(page *p, const char *plain) {
  around(p, "<pre>", plain, "</pre>\n");
}

static void data(page *p, const char *summary) {
  around(p, "<details><summary>", summary, "</summary>\n");
}

static void table(page *p, const char *caption) {
  fprintf(p->stream, "<div class=\"table%s%s\"", p->fit ? " fit" : "", p->old ? " old" : "");
  around(p, " role=\"region\" tabindex=\"0\" aria-label=\"", caption, "\">\n");
  around(p, "<table>\n<caption>", caption, "</caption>\n<thead>\n<tr>");
  for (size_t i = 0; i < p->column_count; i++)
    around(p, p->columns[i].numeric ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", p->columns[i].title,
           "</th>");
  fputs("</tr>\n</thead>\n<tbody>\n", p->stream);
}

static void cell(page *p, size_t span, bool prose) {
  const char *look = prose                           ? "prose"
                     : p->columns[p->column].numeric ? "n"
                                                     : "",
             *old = p->old && !p->all_old ? "old" : "";
  fputs(p->column == 0 ? "<th scope=\"row\"" : "<td", p->stream);
  if (*look || *old) fprintf(p->stream, " class=\"%s%s%s\"", look, *look && *old ? " " : "", old);
  if (p->fit && p->column > 0) around(p, " data-of=\"", p->columns[p->column].title, "\"");
  if (span > 1) fprintf(p->stream, " colspan=\"%zu\"", span);
  fputc('>', p->stream);
}

static void cell_end(page *p, size_t span) {
  (void)span;
  fputs(p->column == 0 ? "</th>" : "</td>", p->stream);
}

static void figure(page *p, const char *caption, const char *svg, const char *narrow) {
  around(p, p->old ? "<figure class=\"old\">\n<figcaption>" : "<figure>\n<figcaption>", caption, "</figcaption>\n");
  fprintf(p->stream, "<div class=\"drawing%s\"", narrow ? " wide" : "");
  around(p, " role=\"group\" tabindex=\"0\" aria-label=\"", caption, "\">");
  fprintf(p->stream, "%s</div>\n", svg);
  if (narrow) fprintf(p->stream, "<div class=\"narrow\">%s</div>\n", narrow);
  fputs("</figure>\n", p->stream);
}

const page_format page_html = {
    .parts =
        {
            [PAGE_PARAGRAPH] = {"<p>", "</p>\n"},
            [PAGE_ANSWER] = {"<p class=\"answer\">", "</p>\n"},
            [PAGE_ANSWER_OLD] = {"<p class=\"answer old\">", "</p>\n"},
            [PAGE_LIST] = {"<ul>\n", "</ul>\n"},
            [PAGE_ITEM] = {"<li>", "</li>\n"},
            [PAGE_MULTIPLES] = {"<div class=\"multiples\">\n", "</div>\n"},
        },
    .looks =
        {
            [PAGE_PLAIN] = {"", ""},
            [PAGE_STRONG] = {"<strong>", "</strong>"},
            [PAGE_SMALL] = {"<small>", "</small>"},
            [PAGE_CODE] = {"<code>", "</code>"},
            [PAGE_FILE] = {"", "</a>"},
            [PAGE_WRONG] = {"<strong class=\"wrong\">", "</strong>"},
        },
    .row = {"<tr>", "</tr>\n"},
    .table_end = "</tbody>\n</table>\n</div>\n",
    .data_end = "</details>\n",
    .begin = begin,
    .end = end,
    .heading = heading,
    .text = text,
    .code_block = code_block,
    .data = data,
    .table = table,
    .cell = cell,
    .cell_end = cell_end,
    .figure = figure,
};
