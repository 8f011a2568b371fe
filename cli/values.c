/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/options.h"

#include "common/memory.h"
#include "common/shapes.h"
#include "inspect/files/formats.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most) {
  const char *digits = text + (*text == '-' || *text == '+');
  if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') die_value(option, text, "not an integer");
  errno = 0;
  long long value = strtoll(text, NULL, 10);
  if (errno == ERANGE) die_value(option, text, "does not fit in 64 bits");
  if (value < least || value > most) die("%s %s: not within %" PRId64 " .. %" PRId64, option, text, least, most);
  return value;
}

double parse_real(const char *option, const char *text) {
  char *end;
  double value = strtod(text, &end);
  /* strtod also accepts leading space and hexadecimal numbers. */
  if (*text == '\0' || *end != '\0' || isspace((unsigned char)*text) || strpbrk(text, "xX"))
    die_value(option, text, "not a number");
  if (!isfinite(value)) die_value(option, text, "not finite");
  return value;
}

unsigned parse_isa(const char *option, const char *text) {
  unsigned isa;
  if (!posenc_isa_parse(text, &isa)) die_value(option, text, "no set of tiers (" TIER_NAMES(", ") ")");
  return isa;
}

double parse_positive(const char *option, const char *text) {
  double value = parse_real(option, text);
  if (value <= 0.0) die_value(option, text, "not above 0");
  return value;
}

/* Whether the text contains only characters of numbers and separators. It is then a list, and not the name of a
   file. */
static bool is_list(const char *text, const char *between) {
  const size_t length = strlen(text);
  size_t at = 0;
  while (at < length && (strchr("0123456789+-.eEinf", text[at]) || strchr(between, text[at]))) at++;
  return at == length && strpbrk(text, "0123456789");
}

int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values) {
  /* The problem refers to the numbers, so they are kept until the program ends. */
  static double **kept;
  static size_t kept_count;
  fault why;
  int64_t count;
  kept = allocated(reallocarray(kept, kept_count + 1, sizeof *kept));
  /* Without this check, a list with a typing error would be reported as a missing file. */
  if (files && !is_list(text, between) && *text != '@' && access(text, F_OK) != 0 && errno == ENOENT)
    die_value(option, text, "neither a list of numbers nor a file");
  const bool ok = !files || is_list(text, between)
                      ? numbers_parse(text, strlen(text), between, &kept[kept_count], &count, &why)
                      : numbers_read(text + (*text == '@'), &kept[kept_count], &count, &why);
  if (!ok) die_value(option, text, why.text);
  *values = kept[kept_count++];
  return count;
}

/* ---- --scaling --------------------------------------------------------------------------------- */

static const scaling_form *find_form(const char *option, const char *text, const char *kind) {
  const char *nearest = NULL;
  for (int n = 0; n < SCALINGS; n++) {
    if (strcmp(scaling_forms[n].name, kind) == 0) return &scaling_forms[n];
    nearest = nearer_name(kind, nearest, scaling_forms[n].name);
  }
  die_unknown(option, text, "no such scaling", nearest, "posenc list --problems prints them");
}

/* Returns the index of the key in scaling_keys. */
static int find_key(const char *option, const scaling_form *form, const char *word) {
  const char *nearest = NULL;
  for (int key = 0; key < SCALING_KEYS; key++) {
    if (!(form->keys & 1u << key)) continue;
    if (strcmp(scaling_keys[key].name, word) == 0) return key;
    nearest = nearer_name(word, nearest, scaling_keys[key].name);
  }
  char problem[64];
  snprintf(problem, sizeof problem, "it takes no '%.40s'", word);
  die_unknown(option, form->name, problem, nearest, "posenc list --problems prints its keys");
}

static bool parse_flag(const char *option, const char *text) {
  if (strcmp(text, "yes") != 0 && strcmp(text, "no") != 0) die_value(option, text, "not yes or no");
  return *text == 'y';
}

/* Sets the member of "key=value". */
static void take_key(const char *option, const scaling_form *form, char *word, bool files, unsigned *seen,
                     int64_t *factors, posenc_scaling *scaling) {
  char label[80];
  char *value = strchr(word, '=');
  if (!value) die("%s %s: '%s' is no key=value", option, form->name, word);
  *value++ = '\0';
  const int key = find_key(option, form, word);
  void *member = (char *)scaling + scaling_keys[key].offset;
  if (*seen & 1u << key) die("%s %s: %s is given twice", option, form->name, word);
  *seen |= 1u << key;
  snprintf(label, sizeof label, "%s %s: %s", option, form->name, scaling_keys[key].name);
  switch (scaling_keys[key].type) {
  case SCALING_REAL:
    *(double *)member = parse_real(label, value);
    break;
  case SCALING_WHOLE:
    *(int64_t *)member = parse_integer(label, value, INT64_MIN, INT64_MAX);
    break;
  case SCALING_FLAG:
    *(bool *)member = parse_flag(label, value);
    break;
  case SCALING_LIST:
    *factors = parse_numbers(label, value, ":", files, (const double **)member);
    break;
  }
}

int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling) {
  char *words = allocated(strdup(text)), *rest = words;
  int64_t factors = 0;
  unsigned seen = 0;
  const scaling_form *form = find_form(option, text, strsep(&rest, ","));
  *scaling = form->defaults;
  while (rest) take_key(option, form, strsep(&rest, ","), files, &seen, &factors, scaling);
  for (int key = 0; key < SCALING_KEYS; key++)
    if (form->needed & ~seen & 1u << key) die("%s %s: %s is missing", option, text, scaling_keys[key].name);
  /* With a factor, the attention factor depends on the original length. */
  if (scaling->kind == POSENC_SCALING_LONGROPE && scaling->factor != 1.0 &&
      scaling->original == form->defaults.original)
    die("%s longrope: original is missing", option);
  free(words);
  return factors;
}

/* ---- --grid: axes and their positions, see common/shapes.h ----------------------------------------- */

/* The parts of a value of --grid that have been read. */
typedef struct reader {
  const char *option, *text;
  bool files;
  posenc_axes *axes; /* axes in the order of the grid's dimensions */
  char letters[POSENC_AXES + 1];
  const char *columns; /* null: in the same order */
  char *pairs;
  int lists; /* number of axes with a list */
} reader;

/* Cuts the text at the first such character. Returns the text behind it, or null if there is none. */
static char *cut(char *text, char at) {
  char *found = strchr(text, at);
  if (found) *found++ = '\0';
  return found;
}

/* The most positions of an axis in a file's metadata, where a short text must not take all memory. */
enum { METADATA_MOST = 1 << 24 };

/* Appends a RUN to the list, which stays null as long as positions are the coordinates themselves. */
static void take_run(const reader *r, char *value, posenc_axis *axis, double **list) {
  char *first = cut(value, ':'), *step = first ? cut(first, ':') : NULL;
  if (!*value) die_value(r->option, r->text, "a run is empty");
  const int64_t size = parse_integer(r->option, value, 1, INT64_C(1) << 40), before = axis->size;
  const double from = first ? parse_real(r->option, first) : 0.0, by = step ? parse_real(r->option, step) : 1.0;
  axis->size += size;
  if (!r->files && axis->size > METADATA_MOST) die_value(r->option, r->text, "too many positions");
  if (before == 0 && from == 0.0 && by == 1.0) return;
  *list = reallocarray(*list, (size_t)axis->size, sizeof **list);
  if (!*list) die_value(r->option, r->text, "too many positions for the memory");
  for (int64_t n = 0; !axis->positions && n < before; n++) (*list)[n] = (double)n;
  for (int64_t n = 0; n < size; n++)
    if (!grid_step(from, by, n, &(*list)[before + n]))
      die_value(r->option, r->text, "its positions are not exact in double");
  axis->positions = *list;
}

/* Cuts the text at the first + that is not part of an exponent. Returns the text behind it, or null. */
static char *cut_run(char *text) {
  for (char *at = text; *at; at++)
    if (*at == '+' && at > text && at[-1] != 'e' && at[-1] != 'E') return cut(at, '+');
  return NULL;
}

/* Reads "RUN+RUN…" into an axis. */
static void take_runs(reader *r, char *value, posenc_axis *axis) {
  double *list = NULL;
  int runs = 0;
  for (char *next; value; value = next, runs++) {
    next = cut_run(value);
    take_run(r, value, axis, &list);
  }
  r->lists += runs > 1;
}

static void take_axis(reader *r, char letter, char *value) {
  if (r->axes->count == POSENC_AXES) die_value(r->option, r->text, "more than 4 axes");
  if (strchr(r->letters, letter)) die_value(r->option, r->text, "an axis is given twice");
  posenc_axis *axis = &r->axes->axis[r->axes->count];
  r->letters[r->axes->count++] = letter;
  char *divisor = *value == '@' ? NULL : cut(value, '/');
  *axis = (posenc_axis){.stride = 1, .divisor = divisor ? parse_positive(r->option, divisor) : 1.0};
  if (*value != '@') {
    take_runs(r, value, axis);
    return;
  }
  if (!r->files) die_value(r->option, r->text, "names a file");
  axis->size = parse_numbers(r->option, value, ",", true, &axis->positions);
  r->lists++;
}

static int take_word(const reader *r, const char *word, const char *const *words) {
  for (int n = 0; words[n]; n++)
    if (strcmp(words[n], word) == 0) return n;
  char why[80];
  snprintf(why, sizeof why, "'%.40s' is not %s or %s", word, words[0], words[2] ? words[2] : words[1]);
  die_value(r->option, r->text, why);
}

static void take_axis_key(reader *r, const char *key, char *value) {
  static const char *const flags[] = {"no", "yes", NULL};
  if (key[0] != '\0' && key[1] == '\0' && key[0] >= 'a' && key[0] <= 'z')
    take_axis(r, *key, value);
  else if (strcmp(key, "columns") == 0)
    r->columns = value;
  else if (strcmp(key, "pairs") == 0)
    r->pairs = value;
  else if (strcmp(key, "order") == 0)
    r->axes->order = (posenc_axis_order)take_word(r, value, grid_orders);
  else if (strcmp(key, "frequencies") == 0)
    r->axes->frequencies = (posenc_axis_frequencies)take_word(r, value, grid_frequencies);
  else if (strcmp(key, "grouped") == 0)
    r->axes->grouped = take_word(r, value, flags);
  else
    die_unknown(r->option, r->text, "no such key", NULL,
                "keys are letters of axes, columns, pairs, order, frequencies and grouped");
}

/* Sets the strides of a grid and returns the number of its places; with lists, returns their length. */
static int64_t set_strides(const reader *r) {
  posenc_axes *axes = r->axes;
  int64_t places = 1;
  if (r->lists) {
    for (int a = 0; a < axes->count; a++)
      if (axes->axis[a].size != axes->axis[0].size)
        die_value(r->option, r->text, "lists are of all axes, and as long as each other");
    return axes->axis[0].size;
  }
  for (int a = axes->count - 1; a >= 0; a--) {
    axes->axis[a].stride = places;
    if (__builtin_mul_overflow(places, axes->axis[a].size, &places)) die_value(r->option, r->text, "too many places");
  }
  return places;
}

/* Puts the axes in the order of their columns. */
static void set_columns(const reader *r) {
  posenc_axes *axes = r->axes;
  const posenc_axes rows = *axes;
  if (!r->columns) return;
  if (strlen(r->columns) != strlen(r->letters)) die_value(r->option, r->text, "columns have a letter for each axis");
  for (int a = 0; a < axes->count; a++) {
    const char *found = strchr(r->letters, r->columns[a]);
    if (!found || strchr(r->columns + a + 1, r->columns[a]))
      die_value(r->option, r->text, "columns have a letter for each axis");
    axes->axis[a] = rows.axis[found - r->letters];
  }
}

static void set_pairs(const reader *r) {
  char *word = r->pairs;
  for (int a = 0; word && a < r->axes->count; a++) {
    char *next = cut(word, ':');
    if (!next != (a + 1 == r->axes->count)) die_value(r->option, r->text, "pairs has a number for each axis");
    r->axes->axis[a].pairs = parse_integer(r->option, word, 1, INT64_C(1) << 40);
    word = next;
  }
}

posenc_axes *parse_grid(const char *option, const char *text, bool files, int64_t *rows) {
  char *words = memory_copy_text(text), *rest = words;
  reader r = {.option = option, .text = text, .files = files, .axes = memory_take(1, sizeof *r.axes)};
  r.axes->size = sizeof *r.axes;
  while (rest) {
    char *key = rest;
    rest = cut(key, ',');
    char *value = cut(key, '=');
    if (!value) die_value(option, text, "not of parts LETTER=SIZE and KEY=VALUE");
    take_axis_key(&r, key, value);
  }
  if (r.axes->count == 0) die_value(option, text, "it has no axis");
  *rows = set_strides(&r);
  set_columns(&r);
  set_pairs(&r);
  free(words);
  return r.axes;
}
