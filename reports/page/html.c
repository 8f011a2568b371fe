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

static void cell(page *p, const page_sheet *of, size_t column, const page_cell_text *cell) {
  const page_column *under = &of->columns[column];
  const char *number = under->numeric ? "n" : "", *look = cell->prose ? "prose" : number,
             *old = cell->old && !of->old ? "old" : "";
  fputs(column == 0 ? "<th scope=\"row\"" : "<td", p->stream);
  if (*look || *old) fprintf(p->stream, " class=\"%s%s%s\"", look, *look && *old ? " " : "", old);
  if (of->fit && column > 0) around(p, " data-of=\"", under->title, "\"");
  if (cell->span > 1) fprintf(p->stream, " colspan=\"%zu\"", cell->span);
  fputc('>', p->stream);
  page_write_cell(p, cell);
  fputs(column == 0 ? "</th>" : "</td>", p->stream);
}

static void sheet(page *p, const page_sheet *of) {
  fprintf(p->stream, "<div class=\"table%s%s\"", of->fit ? " fit" : "", of->old ? " old" : "");
  around(p, " role=\"region\" tabindex=\"0\" aria-label=\"", of->caption, "\">\n");
  around(p, "<table>\n<caption>", of->caption, "</caption>\n<thead>\n<tr>");
  for (const page_column *one = of->columns; one < of->columns + of->column_count; one++)
    around(p, one->numeric ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", one->title, "</th>");
  fputs("</tr>\n</thead>\n<tbody>\n", p->stream);
  size_t column = 0;
  for (const page_cell_text *one = of->cells; one < of->cells + of->cell_count; one++) {
    if (column == 0) fputs("<tr>", p->stream);
    cell(p, of, column, one);
    column = (column + one->span) % of->column_count;
    if (column == 0) fputs("</tr>\n", p->stream);
  }
  fputs("</tbody>\n</table>\n</div>\n", p->stream);
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
    .data_end = "</details>\n",
    .begin = begin,
    .end = end,
    .heading = heading,
    .text = text,
    .code_block = code_block,
    .data = data,
    .sheet = sheet,
    .figure = figure,
};
