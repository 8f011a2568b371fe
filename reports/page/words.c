/* SPDX-License-Identifier: MIT */
#include "reports/page/page.h"

#include "common/environment.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const words dash = {"–"};

words words_significant(double value, int digits) {
  if (!isfinite(value)) return dash;
  words result;
  const int length = snprintf(result.text, sizeof result.text, "%#.*g", digits, value);
  if (result.text[length - 1] == '.') result.text[length - 1] = '\0';
  return result;
}

words words_plain(double value) {
  if (!isfinite(value)) return dash;
  words result;
  snprintf(result.text, sizeof result.text, "%.6g", value);
  return result;
}

words words_fixed(double value, int decimals) {
  if (!isfinite(value) || fabs(value) >= 1e15) return words_significant(value, 4);
  words result;
  snprintf(result.text, sizeof result.text, "%.*f", decimals, value);
  return result;
}

words words_count(double value) {
  static const char thin_space[] = "\u202f"; /* narrow no-break space */
  const words digits = words_fixed(value, 0);
  if (!isfinite(value) || strchr(digits.text, 'e')) return digits;
  words result = {""};
  char *end = result.text;
  for (size_t i = 0, count = strlen(digits.text); i < count; i++) {
    *end++ = digits.text[i];
    const size_t left = count - 1 - i;
    if (left > 0 && left % 3 == 0 && digits.text[i] != '-') end = stpcpy(end, thin_space);
  }
  *end = '\0';
  return result;
}

words words_integer(int64_t value) {
  return words_count(value == RECORD_NONE ? NAN : (double)value);
}

words words_number_of(int64_t count, const char *singular) {
  words result;
  snprintf(result.text, sizeof result.text, "%.80s %.40s%s", words_integer(count).text, singular,
           count == 1 ? "" : "s");
  return result;
}

words words_position(double value) {
  int exponent;
  if (!(value > 0) || frexp(value, &exponent) > 0.5 || exponent > 100) return words_count(value);
  static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  words result = {"2"};
  if (exponent > 10) strcat(result.text, raised[(exponent - 1) / 10 % 10]);
  strcat(result.text, raised[(exponent - 1) % 10]);
  return result;
}

words words_duration(double seconds) {
  static const char *const units[] = {"ns", "µs", "ms", "s"};
  size_t unit = 0;
  double value = seconds * 1e9;
  for (; value >= 1000 && unit + 1 < sizeof units / sizeof *units; unit++) value /= 1000;
  words result;
  snprintf(result.text, sizeof result.text, "%.60s\u00a0%s", words_significant(value, 3).text, units[unit]);
  return result;
}

words words_bytes(double bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < sizeof units / sizeof *units; unit++) bytes /= 1024;
  const words value = words_fixed(bytes, bytes < 10 && bytes != floor(bytes));
  words result;
  snprintf(result.text, sizeof result.text, "%.60s\u00a0%s", value.text, units[unit]);
  return result;
}

words words_size(const record_table *table) {
  words result;
  snprintf(result.text, sizeof result.text, "%.50s × %.50s, %.50s", words_count(table->shape.rows).text,
           words_count(table->shape.dim).text, words_bytes(table->bytes).text);
  return result;
}

const char *words_mark(const record_spread *spread) {
  return spread->max - spread->min > words_too_wide * spread->median ? "‡" : "";
}

/* Returns "(82.2–85.0)". */
static words interval_of(double low, double high) {
  words result;
  snprintf(result.text, sizeof result.text, "(%.40s–%.40s)", words_significant(low, 3).text,
           words_significant(high, 3).text);
  return result;
}

words words_range(const record_spread *spread, double scale) {
  return interval_of(spread->min * scale, spread->max * scale);
}

words words_spread(const record_spread *spread, double scale, const char *unit) {
  words result = {""};
  if (isfinite(spread->median))
    snprintf(result.text, sizeof result.text, "%.40s%.20s%s " SMALL("%.90s"),
             words_significant(spread->median * scale, 3).text, unit, words_mark(spread),
             words_range(spread, scale).text);
  return result;
}

const char *words_sample(const record_row *row) {
  return strcmp(row->mode, "sampled") == 0 ? " (sample)" : "";
}

bool words_is_busy(double others) {
  return others >= OTHERS_MOST;
}

words words_busy(const record_report *report) {
  const double others = record_others(report);
  words result = {""};
  if (words_is_busy(others))
    snprintf(result.text, sizeof result.text, "other processes used %.40s\u00a0%% of the machine",
             words_significant(100 * others, 2).text);
  return result;
}

words_caption caption_of_times(const record_report *report, const char *text) {
  const words busy = words_busy(report);
  words_caption made;
  const size_t length = strlen(text);
  const char *stop = length && text[length - 1] == '.' ? "" : ".";
  snprintf(made.text, sizeof made.text, "%.600s%s%s%s%s", text, *busy.text ? stop : "", *busy.text ? " Meanwhile " : "",
           busy.text, *busy.text ? "." : "");
  return made;
}

words words_interval(const record_ratio *ratio) {
  return isfinite(ratio->low) ? interval_of(ratio->low, ratio->high) : (words){"(too few timings)"};
}
