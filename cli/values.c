/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/values.h"

#include "cli/message.h"
#include "common/memory.h"
#include "common/scaling.h"
#include "files/numbers.h"

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
  while (at < length && (strchr("0123456789+-.eE", text[at]) || strchr(between, text[at]))) at++;
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
