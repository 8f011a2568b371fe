/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"
#include "reports/page/script.h"

#include <ctype.h>

static const char style[] =
    ":root{color-scheme:light "
    "dark;--ink:#1a1c1f;--soft:#5c636b;--paper:#fff;--card:#f4f6f8;--line:#d9dee3;--mark:#0063a6}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e6e9;--soft:#9aa3ad;--paper:#131619;--card:#1c2024;--line:#"
    "353b42;"
    "--mark:#6bb8ee}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1rem 1rem 4rem;max-width:88rem;background:var(--paper);color:var(--ink);"
    "font:1rem/1.55 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica "
    "Neue',Arial,sans-serif;overflow-wrap:break-word}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:1rem 0}\n"
    "h2{font-size:1.25rem;margin:2.75rem 0 .75rem;padding-top:.75rem;border-top:1px solid var(--line)}\n"
    "h3{font-size:1.05rem;margin:2rem 0 .5rem}\n"
    "p,ul{max-width:48rem;margin:.5rem 0}\n"
    "li{margin:.15rem 0}\n"
    ".answer{max-width:60rem;font-size:1.1rem;background:var(--card);border-left:4px solid var(--mark);"
    "padding:.75rem 1rem;border-radius:0 .4rem .4rem 0}\n"
    "small{font-size:.85em;color:var(--soft)}\n"
    "code,pre{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.92em}\n"
    "pre{background:var(--card);padding:.75rem 1rem;border-radius:.4rem;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    ".table{overflow-x:auto;margin:.75rem 0}\n"
    "table{border-collapse:separate;border-spacing:0;border-bottom:1px solid "
    "var(--line);font-size:.9rem;font-variant-numeric:tabular-nums}\n"
    "caption{text-align:left;color:var(--soft);padding:.25rem 0;position:sticky;left:0;width:max-content;"
    "max-width:min(60rem,calc(100vw - 2rem))}\n"
    "th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;white-space:nowrap}\n"
    /* On top, where no sticky head of the next row can cover it. */
    "tbody th,tbody td{border-top:1px solid var(--line)}tbody tr:first-child>*{border-top:0}\n"
    /* What the script adds. */
    "thead button{all:unset;cursor:pointer;text-decoration:underline dotted 1px;text-underline-offset:.25em}\n"
    "thead button:hover{color:var(--ink)}:focus-visible{outline:2px solid var(--mark);outline-offset:2px}\n"
    "[aria-sort=ascending] button::after{content:'\\00a0↑'}[aria-sort=descending] button::after{content:'\\00a0↓'}\n"
    "nav div{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;margin:.5rem 0;font-size:.9rem}\n"
    ".skip{position:absolute;left:-100vw}.skip:focus{left:1rem;top:.25rem;background:var(--paper)}\n"
    "a{color:var(--mark)}h2 a,h3 a{color:inherit;text-decoration:none}h2 a:hover,h3 "
    "a:hover{text-decoration:underline}\n"
    "thead th{color:var(--soft);font-weight:600;border-bottom:2px solid var(--line)}\n"
    "th:first-child{position:sticky;left:0;background:var(--paper)}\n"
    "td.n,th.n{text-align:right}\n"
    ".prose{white-space:normal;min-width:12rem;max-width:46rem;overflow-wrap:anywhere}"
    "th.prose{position:static;font-weight:400}\n"
    "td small{display:block}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,37rem),1fr));gap:1rem}\n"
    "figure{margin:.5rem 0;padding:.75rem;border:1px solid var(--line);border-radius:.4rem;max-width:46rem}\n"
    "figcaption{font-size:.9rem;color:var(--soft);margin-bottom:.25rem}\n"
    /* Narrower than that its text cannot be read. */
    ".drawing{overflow-x:auto}\n"
    "svg{display:block;width:100%;min-width:35rem;height:auto}\n"
    /* gnuplot draws in black on nothing: here black is the page's ink. */
    "svg [stroke=black],svg [color=black]{stroke:var(--ink)}svg [stroke=none]{stroke:none}\n"
    /* And behind marks in white: there it is the paper. */
    "svg [color=white]{color:var(--paper)}svg [fill=black]{fill:var(--ink)}svg image{image-rendering:pixelated}\n"
    "details{margin:.5rem 0}summary{cursor:pointer;color:var(--mark);width:max-content;max-width:100%}\n"
    /* Paper cannot scroll. */
    "@media "
    "print{:root{font-size:60%;color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--card:#fff;--line:#bbb;--mark:#"
    "000}"
    "body{max-width:none;padding:0}nav,.skip,summary{display:none}.table,.drawing{overflow:visible}"
    "th,td{white-space:normal;padding:.2rem "
    ".35rem}th:first-child,caption{position:static}caption{width:auto;max-width:none}"
    ".prose{min-width:0}svg{min-width:0}figure,tr,.answer,pre{break-inside:avoid}h2,h3,caption{break-after:avoid}thead{"
    "display:table-header-group}thead "
    "button{text-decoration:none}}\n"
    "footer{margin-top:3rem;color:var(--soft);font-size:.9rem}\n";

static void escape(FILE *stream, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '&':
      fputs("&amp;", stream);
      break;
    case '<':
      fputs("&lt;", stream);
      break;
    case '>':
      fputs("&gt;", stream);
      break;
    case '"':
      fputs("&quot;", stream);
      break;
    case '\'':
      fputs("&#39;", stream);
      break;
    default:
      fputc((unsigned char)*text < ' ' && *text != '\n' ? ' ' : *text, stream);
    }
  }
}

/* Letters and digits alone, so that a section can be cited. */
static void anchor(FILE *stream, const char *text) {
  for (; *text; text++) fputc(isalnum((unsigned char)*text) ? tolower((unsigned char)*text) : '-', stream);
}

static void heading(page *p, int level, const char *text) {
  fprintf(p->stream, "<h%d id=\"", level);
  anchor(p->stream, text);
  fputs("\">", p->stream);
  if (level > 1) {
    fputs("<a href=\"#", p->stream);
    anchor(p->stream, text);
    fputs("\">", p->stream);
  }
  escape(p->stream, text);
  fprintf(p->stream, level > 1 ? "</a></h%d>\n" : "</h%d>\n", level);
}

static void begin(page *p, const char *title) {
  fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
        p->stream);
  escape(p->stream, title);
  fprintf(p->stream, "</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n", style);
  heading(p, 1, title);
}

static void end(page *p) {
  fprintf(p->stream, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", page_script);
}

static const char *const parts[PAGE_PARTS][2] = {
    [PAGE_PARAGRAPH] = {"<p>", "</p>\n"},
    [PAGE_ANSWER] = {"<p class=\"answer\">", "</p>\n"},
    [PAGE_LIST] = {"<ul>\n", "</ul>\n"},
    [PAGE_ITEM] = {"<li>", "</li>\n"},
    [PAGE_FIGURES] = {"<div class=\"figures\">\n", "</div>\n"},
    [PAGE_DATA] = {"<details><summary>The data as a table</summary>\n", "</details>\n"},
};

static void open(page *p, page_part part) {
  fputs(parts[part][0], p->stream);
}

static void open_data(page *p, const char *summary) {
  fputs("<details><summary>", p->stream);
  escape(p->stream, summary);
  fputs("</summary>\n", p->stream);
}

static void close(page *p, page_part part) {
  fputs(parts[part][1], p->stream);
}

static void run(page *p, page_run look, const char *text) {
  static const char *const marks[PAGE_RUNS][2] = {
      [PAGE_TEXT] = {"", ""},
      [PAGE_STRONG] = {"<strong>", "</strong>"},
      [PAGE_SMALL] = {"<small>", "</small>"},
      [PAGE_CODE] = {"<code>", "</code>"},
  };
  fputs(marks[look][0], p->stream);
  escape(p->stream, text);
  fputs(marks[look][1], p->stream);
}

static void code_block(page *p, const char *text) {
  fputs("<pre>", p->stream);
  escape(p->stream, text);
  fputs("</pre>\n", p->stream);
}

static void table_begin(page *p, const char *caption) {
  fputs("<div class=\"table\" role=\"region\" tabindex=\"0\" aria-label=\"", p->stream);
  escape(p->stream, caption);
  fputs("\">\n<table>\n<caption>", p->stream);
  escape(p->stream, caption);
  fputs("</caption>\n<thead>\n<tr>", p->stream);
  for (size_t i = 0; i < p->column_count; i++) {
    fputs(p->columns[i].numeric ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", p->stream);
    escape(p->stream, p->columns[i].title);
    fputs("</th>", p->stream);
  }
  fputs("</tr>\n</thead>\n<tbody>\n", p->stream);
}

static void table_end(page *p) {
  fputs("</tbody>\n</table>\n</div>\n", p->stream);
}

static void row_begin(page *p) {
  fputs("<tr>", p->stream);
}

static void row_end(page *p) {
  fputs("</tr>\n", p->stream);
}

static void cell_begin(page *p, size_t span, bool prose) {
  const char *look = prose ? " class=\"prose\"" : p->columns[p->column].numeric ? " class=\"n\"" : "";
  fputs(p->column == 0 ? "<th scope=\"row\"" : "<td", p->stream);
  fputs(look, p->stream);
  if (span > 1) fprintf(p->stream, " colspan=\"%zu\"", span);
  fputc('>', p->stream);
}

static void cell_end(page *p, size_t span) {
  (void)span;
  fputs(p->column == 0 ? "</th>" : "</td>", p->stream);
}

static void figure(page *p, const char *caption, const char *svg) {
  fputs("<figure>\n<figcaption>", p->stream);
  escape(p->stream, caption);
  fputs("</figcaption>\n<div class=\"drawing\" role=\"group\" tabindex=\"0\" aria-label=\"", p->stream);
  escape(p->stream, caption);
  fprintf(p->stream, "\">%s</div>\n</figure>\n", svg);
}

const page_format page_html = {
    .begin = begin,
    .end = end,
    .heading = heading,
    .open = open,
    .open_data = open_data,
    .close = close,
    .run = run,
    .code_block = code_block,
    .table_begin = table_begin,
    .table_end = table_end,
    .row_begin = row_begin,
    .row_end = row_end,
    .cell_begin = cell_begin,
    .cell_end = cell_end,
    .figure = figure,
};
