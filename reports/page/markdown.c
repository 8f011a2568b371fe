/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include "common/terminal.h"

#include <string.h>

static void heading(page *p, int level, const char *title) {
  fprintf(p->stream, "%.*s ", level, "######");
  plain_markdown(p->stream, title);
  fputs("\n\n", p->stream);
}

static void begin(page *p, const char *title) {
  heading(p, 1, title);
}

static void end(page *p) {
  (void)p; /* Markdown has no end */
}

/* Returns the longest run of backticks, to which a fence adds one. */
static int longest_ticks(const char *text) {
  int longest = 0;
  for (int ticks = 0; *text; text++) {
    ticks = *text == '`' ? ticks + 1 : 0;
    if (ticks > longest) longest = ticks;
  }
  return longest;
}

static void fence(page *p, int ticks) {
  while (ticks-- > 0) fputc('`', p->stream);
}

static void code(page *p, const char *text) {
  const int ticks = longest_ticks(text) + 1;
  const char *space = ticks > 1 ? " " : "";
  fence(p, ticks);
  fputs(space, p->stream);
  for (; *text; text++) {
    if (*text == '|' && p->in_cell) fputc('\\', p->stream); /* '|' would end the cell, even in code */
    fputc((unsigned char)*text < ' ' ? ' ' : *text, p->stream);
  }
  fputs(space, p->stream);
  fence(p, ticks);
}

static void text(page *p, page_look look, const char *plain) {
  if (look == PAGE_CODE)
    code(p, plain);
  else if (look == PAGE_FILE)
    fprintf(p->stream, "[%s](%s)", plain, plain);
  else
    plain_markdown(p->stream, plain);
}

static void code_block(page *p, const char *plain) {
  const int ticks = longest_ticks(plain) < 3 ? 3 : longest_ticks(plain) + 1;
  fence(p, ticks);
  fprintf(p->stream, "\n%s\n", plain);
  fence(p, ticks);
  fputs("\n\n", p->stream);
}

static void data(page *p, const char *summary) {
  (void)p, (void)summary; /* the table in it has a caption */
}

/* Writes a cell. One over several columns is followed by empty ones. */
static void cell(page *p, const page_cell_text *of) {
  fputc(' ', p->stream);
  page_write_cell(p, of);
  for (size_t i = 0; i < of->span; i++) fputs(" |", p->stream);
}

static void sheet(page *p, const page_sheet *of) {
  plain_markdown(p->stream, of->caption);
  fputs("\n\n|", p->stream);
  for (size_t i = 0; i < of->column_count; i++) {
    fputc(' ', p->stream);
    plain_markdown(p->stream, of->columns[i].title);
    fputs(" |", p->stream);
  }
  fputs("\n|", p->stream);
  for (size_t i = 0; i < of->column_count; i++) fputs(of->columns[i].numeric ? " ---: |" : " --- |", p->stream);
  size_t column = 0;
  for (const page_cell_text *one = of->cells; one < of->cells + of->cell_count; one++) {
    if (column == 0) fputs("\n|", p->stream);
    cell(p, one);
    column = (column + one->span) % of->column_count;
  }
  fputs("\n\n", p->stream);
}

static void figure(page *p, const char *caption, const char *svg, const char *narrow) {
  (void)svg, (void)narrow; /* figures are only in the HTML page */
  plain_markdown(p->stream, caption);
  fputs(" Drawn in the HTML page.\n\n", p->stream);
}

const page_format page_markdown = {
    .parts =
        {
            [PAGE_PARAGRAPH] = {"", "\n\n"},
            [PAGE_ANSWER] = {"> ", "\n\n"},
            [PAGE_ANSWER_OLD] = {"> ", "\n\n"},
            [PAGE_LIST] = {"", "\n"},
            [PAGE_ITEM] = {"- ", "\n"},
            [PAGE_MULTIPLES] = {"", ""},
        },
    .looks =
        {
            [PAGE_PLAIN] = {"", ""},
            [PAGE_STRONG] = {"**", "**"},
            [PAGE_SMALL] = {"", ""},
            [PAGE_CODE] = {"", ""}, /* as many backticks as the text needs */
            [PAGE_FILE] = {"", ""},
            [PAGE_WRONG] = {"**", "**"},
        },
    .data_end = "",
    .begin = begin,
    .end = end,
    .heading = heading,
    .text = text,
    .code_block = code_block,
    .data = data,
    .sheet = sheet,
    .figure = figure,
};
