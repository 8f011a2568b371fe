/* SPDX-License-Identifier: MIT */
/* The length of the sequence that a table was made for, if its scaling depends on it and a config does not say it; and
   first positions of tables whose angles have errors of f32. */
#include "inspect/identify/search.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

/* Relative errors of angles of code in f32: of frequency, position and product; and of frequencies alone. */
static const double of_angles = 5e-7;

enum { PHASES_LEAST = 3, NARROWINGS = 3 };

/* ---- dynamic scaling: one unknown number --------------------------------------------------------- */

/* The logarithm of the stretch of a base: frequency i is that of the plain base times e^(-stretch share[i]). */
typedef struct stretches {
  double least, most;
} stretches;

typedef struct ladder {
  search *s;
  int64_t pairs;
  double rows;
  double *plain, *share; /* of each frequency index */
  double *room;          /* what the phases are off if the frequencies are those of the ends of `all` */
  double *slow, *fast;   /* the frequencies of these ends */
  stretches all;         /* those that the measured frequencies allow at positions near 0 and far from it */
} ladder;

/* A first position, and the stretches that explain all phases at it. */
typedef struct found_start {
  double position;
  stretches of;
} found_start;

static double stretch_of(const posenc_scaling *s, double length) {
  return length <= (double)s->original ? 0.0 : log(s->factor * length / (double)s->original - (s->factor - 1.0));
}

static double length_of(const posenc_scaling *s, double stretch) {
  return (exp(stretch) + s->factor - 1.0) * (double)s->original / s->factor;
}

static double frequency_at(const ladder *l, int64_t i, double stretch) {
  return l->plain[i] * exp(-stretch * l->share[i]);
}

static bool is_empty(const stretches *s) {
  return !(s->least <= s->most);
}

/* Takes the stretches that put `times` the frequency between two values. */
static void narrow(const ladder *l, int64_t i, double times, double least, double most, stretches *s) {
  const double plain = l->plain[i] * times, share = l->share[i];
  if (!(share > 0.0 && plain > 0.0)) {
    if (plain < least || plain > most) s->most = -1.0;
    return;
  }
  s->least = fmax(s->least, most > 0.0 ? log(plain / most) / share : INFINITY);
  if (least > 0.0) s->most = fmin(s->most, log(plain / least) / share);
}

/* Narrows to stretches that the measured frequencies have, whose errors include those of angles at a position. */
static void narrow_by_frequencies(const ladder *l, double position, stretches *s) {
  const double of_position = 8.0 * of_angles * (position + l->rows) / l->rows + of_angles;
  for (int64_t i = 0; i < l->pairs && !is_empty(s); i++) {
    const estimate *w = &l->s->frequencies[i];
    if (!formula_mark(w)) continue;
    const double error = 2.0 * w->error + of_position * w->value;
    narrow(l, i, 1.0, w->value - error, w->value + error, s);
  }
}

/* Narrows to stretches that the phases of row 0 have at a position, from the slowest to the fastest. Those whose turns
   are not known are left for later. */
static void narrow_by_phases(const ladder *l, double position, stretches *s) {
  const double relative = of_angles * (position + l->rows), clear = 0.45 * whole_turn;
  for (int64_t i = l->pairs - 1; i >= 0 && !is_empty(s); i--) {
    const estimate *phase = &l->s->phases[i];
    const double most = position * frequency_at(l, i, s->least), least = position * frequency_at(l, i, s->most),
                 error = phase->error + l->room[i] + relative * frequency_at(l, i, s->least);
    if (!((most - least) / 2.0 + error < clear)) continue;
    const double middle = (most + least) / 2.0,
                 angle = phase->value + whole_turn * rint((middle - phase->value) / whole_turn);
    if (angle - error > most || angle + error < least) s->most = -1.0;
    if (angle - error > least || angle + error < most) narrow(l, i, position, angle - error, angle + error, s);
  }
}

/* Whether some stretch may explain each phase of row 0 at a position: what narrow_by_phases refuses at first, without
   its exponentials and logarithms. */
static bool may_start(const ladder *l, double position) {
  const double relative = of_angles * (position + l->rows), clear = 0.45 * whole_turn;
  for (int64_t i = l->pairs - 1; i >= 0; i--) {
    const estimate *phase = &l->s->phases[i];
    const double middle = position * (l->fast[i] + l->slow[i]) / 2.0,
                 apart = position * (l->fast[i] - l->slow[i]) / 2.0 + phase->error + l->room[i] + relative * l->fast[i],
                 turns = (middle - phase->value) / whole_turn;
    if (apart < clear && fabs(turns - rint(turns)) * whole_turn > apart) return false;
  }
  return true;
}

/* Sets the phases of row 0: of measured frequencies, or else of the stretch in the middle. */
static void set_phases(ladder *l, const stretches *s, bool measured) {
  const double middle = (s->least + s->most) / 2.0;
  estimate unused;
  for (int64_t i = 0; i < l->pairs; i++) {
    const estimate *w = &l->s->frequencies[i];
    const bool is_known = measured && formula_mark(w);
    const double of_middle = frequency_at(l, i, middle),
                 off = is_known ? w->error : of_middle * l->share[i] * (s->most - s->least) / 2.0;
    l->fast[i] = frequency_at(l, i, s->least);
    l->slow[i] = frequency_at(l, i, s->most);
    l->s->w[i] = is_known ? w->value : of_middle;
    l->room[i] = off * l->rows;
  }
  waves_phases(&l->s->window, &l->s->columns, &l->s->sampling, l->s->w, l->s->phases, &unused);
}

/* Finds the next whole first position, from one on, that explains the phases. Returns false if there is none. */
static bool next_start(const ladder *l, int64_t from, found_start *found) {
  for (int64_t p = from; p <= POSITION_NEAR; p++) {
    *found = (found_start){(double)p, l->all};
    if (!may_start(l, found->position)) continue;
    for (int n = 0; n < NARROWINGS && !is_empty(&found->of); n++) narrow_by_phases(l, found->position, &found->of);
    if (!is_empty(&found->of)) return true;
  }
  return false;
}

/* Computes the stretches of a start again, with phases of its own frequencies. */
static void refine(ladder *l, found_start *found) {
  set_phases(l, &found->of, false);
  for (int n = 0; n < NARROWINGS; n++) narrow_by_phases(l, found->position, &found->of);
  narrow_by_frequencies(l, found->position, &found->of);
}

static void ladder_open(ladder *l, search *s) {
  const size_t size = (size_t)s->columns.pairs + 1;
  *l = (ladder){.s = s, .pairs = s->columns.pairs, .rows = (double)s->window.count};
  double *const all = memory_take(5 * size, sizeof *all);
  l->plain = all; /* the first of five arrays in one block */
  l->share = all + size;
  l->room = all + 2 * size;
  l->slow = all + 3 * size;
  l->fast = all + 4 * size;
}

static void ladder_close(ladder *l) {
  free(l->plain);
}

/* Sets the frequencies of a dynamic scaling, of all lengths that the measured ones allow. */
static void stretch_all(ladder *l, const posenc_problem *of) {
  const double longest = 0x1p24; /* of the sequences of models; 10,485,760 positions are the most that one tells */
  l->all = (stretches){0.0, stretch_of(&of->scaling, fmax(longest, of->scaling.length))};
  for (int64_t i = 0; i < l->pairs; i++) {
    l->plain[i] = of->scale * pow(of->base, -(double)i / (double)l->pairs);
    l->share[i] = (double)i / (double)(l->pairs - 1);
  }
  narrow_by_frequencies(l, (double)POSITION_NEAR, &l->all);
}

/* Returns the base that makes the same table without a scaling: one of models; or, if no sequence that is likely makes
   it, one of so few digits that a stretched base would seldom be as plain. 0: there is none. */
static double base_of(const ladder *l, const posenc_problem *of, const stretches *s) {
  const double share = l->share[1] * (double)l->pairs, likely = 8.0, seldom = 1.0 / 32.0; /* share: of ln base */
  const double middle = (s->least + s->most) / 2.0 * share, room = (s->most - s->least) / 2.0 * share;
  for (size_t n = 0; n < formula_base_count; n++)
    if (formula_bases[n] > of->base && fabs(log(formula_bases[n] / of->base) - middle) <= room) return formula_bases[n];
  const plain_number plain = plainest(of->base * exp(middle), room);
  const bool is_likely = length_of(&of->scaling, s->least) <= likely * (double)of->scaling.original,
             is_plain = 2.0 * room * pow(10.0, plain.digits) < seldom; /* numbers of so few digits are that close */
  return is_plain && !is_likely ? plain.value : 0.0;
}

/* Returns how far the frequencies and the phases of row 0 are from those of a stretch: the sum of squares, in units of
   their errors. */
static double distance_of(const ladder *l, double position, double stretched) {
  double squares = 0.0;
  for (int64_t i = 0; i < l->pairs; i++) {
    const estimate *w = &l->s->frequencies[i];
    const double slower = w->value - frequency_at(l, i, stretched),
                 of_value = w->error + of_angles * (1.0 + position / l->rows) * w->value;
    if (formula_mark(w)) squares += slower * slower / (of_value * of_value);
    const double angle = position * frequency_at(l, i, stretched),
                 off = angle_wrapped(l->s->phases[i].value - angle) / (l->s->phases[i].error + of_angles * angle);
    squares += isfinite(l->s->phases[i].error) ? off * off : 0.0;
  }
  return squares;
}

/* Returns the length whose phases are the nearest, of the whole ones in a range, or of the middle ones of many. */
static double nearest_length(const ladder *l, const posenc_scaling *s, const found_start *found, double least,
                             double most) {
  const double few = 256.0, middle = rint(length_of(s, (found->of.least + found->of.most) / 2.0)),
               from = fmax(least, fmin(middle, most) - few), to = fmin(most, from + 2.0 * few);
  double nearest = from, distance = INFINITY;
  for (double length = from; length <= to; length++) {
    const double of_length = distance_of(l, found->position, stretch_of(s, length));
    if (of_length < distance) nearest = length, distance = of_length;
  }
  return nearest;
}

/* Returns the least distance of the stretches of a start. */
static double least_distance(const ladder *l, const found_start *found) {
  enum { SAMPLES = 64, THIRDS = 40 };
  const double step = (found->of.most - found->of.least) / SAMPLES;
  double middle = found->of.least, distance = INFINITY;
  for (int n = 0; n <= SAMPLES; n++) {
    const double at = found->of.least + n * step, of_sample = distance_of(l, found->position, at);
    if (of_sample < distance) middle = at, distance = of_sample;
  }
  double least = fmax(middle - step, 0.0), most = middle + step;
  for (int n = 0; n < THIRDS; n++) {
    const double third = (most - least) / 3.0, low = distance_of(l, found->position, least + third),
                 high = distance_of(l, found->position, most - third);
    distance = fmin(distance, fmin(low, high));
    if (low < high)
      most -= third;
    else
      least += third;
  }
  return distance;
}

/* Whether a length is as near to the values as the distance of others. The squares of errors, which are bounds, of
   right tables differ by at most 0.35; and where those are the bounds of angles in f32, by more, as the roundings of a
   frequency are the same in all rows. */
static bool is_as_near(const ladder *l, const posenc_scaling *s, const found_start *found, double length,
                       double distance) {
  const double same = 1.0, stretched = stretch_of(s, length);
  double of_f32 = 0.0;
  for (int64_t i = 0; i < l->pairs; i++) {
    const double of_angle = of_angles * found->position * frequency_at(l, i, stretched),
                 share = of_angle / (l->s->phases[i].error + of_angle);
    if (of_angle > 0.0) of_f32 += share * share;
  }
  return distance_of(l, found->position, stretched) <= distance + same * (1.0 + of_f32);
}

/* Judges the length that is taken from the values: it must be as near to them as any is that is no whole number; and
   then, whether few of those are. */
static void judge_length(const ladder *l, const posenc_scaling *s, const found_start *found, table_length *made) {
  const double few = 0.0625, distance = least_distance(l, found), longer = fmax(made->length, (double)s->original);
  if (made->verdict != LENGTH_SHOWN && made->verdict != LENGTH_BASE) return;
  if (!is_as_near(l, s, found, made->length, distance)) made->verdict = LENGTH_NONE;
  made->is_sure = made->length != rint(made->length) || (!is_as_near(l, s, found, longer + few, distance) &&
                                                         !is_as_near(l, s, found, made->length - few, distance));
}

/* Whether the length of vLLM's caches, positions times the factor, which may be no whole number, is among those that
   fit. Its rows are as many as those of the next whole length. */
static bool has_part(const posenc_scaling *s, const stretches *of, double end, double *part) {
  *part = s->factor * (double)s->original;
  const double stretch = stretch_of(s, *part);
  return *part != rint(*part) && of->least <= stretch && stretch <= of->most && ceil(*part) >= end;
}

/* Takes the lengths of a start: whole ones, of a sequence that has its rows, or the one of has_part. */
static void take_lengths(const ladder *l, const posenc_problem *of, const found_start *found, bool is_told,
                         table_length *made) {
  const posenc_scaling *s = &of->scaling;
  const double original = (double)s->original, end = found->position + (double)l->s->window.rows,
               least = found->of.least > 0.0 ? length_of(s, found->of.least) : 1.0, most = length_of(s, found->of.most),
               from = ceil(fmax(least, end)), to = floor(fmax(most, original));
  const bool is_in = from <= to, is_short = s->length <= original && from <= original,
             is_possible = is_in && (is_short || (from <= s->length && s->length <= to));
  double part;
  *made = (table_length){.verdict = LENGTH_NONE, .least = (int64_t)ceil(least), .most = (int64_t)to};
  if (is_in) {
    made->least = (int64_t)from;
    made->length = nearest_length(l, s, found, from, to);
    made->base = base_of(l, of, &found->of);
    made->verdict = made->base > 0.0 ? LENGTH_BASE : LENGTH_SHOWN;
    if (is_possible &&
        (is_told || is_as_near(l, s, found, s->length, distance_of(l, found->position, stretch_of(s, made->length)))))
      made->verdict = LENGTH_ASKED;
    if (made->verdict == LENGTH_SHOWN && is_short && made->length > original) made->least = s->original + 1;
  } else if (to < end && made->least <= made->most) {
    made->verdict = LENGTH_EARLY;
  }
  if (!has_part(s, &found->of, end, &part)) return;
  const bool is_asked = made->verdict == LENGTH_ASKED;
  const double of_whole = distance_of(l, found->position, stretch_of(s, is_asked ? s->length : made->length)),
               of_part = distance_of(l, found->position, stretch_of(s, part));
  if (is_in && (is_asked ? of_whole < of_part : !is_as_near(l, s, found, part, of_whole))) return;
  made->verdict = LENGTH_SHOWN;
  made->length = part;
}

/* Whether the phases of a start fit so well that a wrong first position would seldom have them: without the two that
   fit the best, as position and stretch are free. */
static bool is_only_start(const ladder *l, const found_start *found) {
  const double relative = of_angles * (found->position + l->rows), seldom = 1e-3;
  double chance = log((double)POSITION_NEAR), best = 0.0, second = 0.0;
  for (int64_t i = 0; i < l->pairs; i++) {
    const double fast = frequency_at(l, i, found->of.least), slow = frequency_at(l, i, found->of.most),
                 apart = found->position * (fast - slow) / 2.0 + l->s->phases[i].error + l->room[i] + relative * fast;
    const double of_phase = apart < whole_turn / 2.0 ? log(2.0 * apart / whole_turn) : 0.0;
    chance += of_phase;
    second = fmin(second, fmax(best, of_phase));
    best = fmin(best, of_phase);
  }
  return chance - best - second < log(seldom);
}

/* Whether lengths of a sequence that has the rows are found. */
static bool length_is_found(const table_length *found) {
  return found->verdict == LENGTH_ASKED || found->verdict == LENGTH_SHOWN || found->verdict == LENGTH_BASE;
}

/* Finds the lengths of all starts, until some fit, or until a start is the only one. */
static void find_lengths(ladder *l, const posenc_problem *of, bool is_told, table_length *found) {
  enum { TRIED_MAX = 64 };
  const stretches all = l->all;
  found_start here;
  int tried = 0;
  set_phases(l, &all, true);
  for (int64_t from = 0; tried < TRIED_MAX && next_start(l, from, &here); from = (int64_t)here.position + 1) {
    take_lengths(l, of, &here, is_told, found);
    if (!length_is_found(found) && !is_only_start(l, &here)) continue;
    refine(l, &here);
    if (!is_empty(&here.of)) take_lengths(l, of, &here, is_told, found);
    if (!is_empty(&here.of)) judge_length(l, &of->scaling, &here, found);
    if (!is_empty(&here.of) && (length_is_found(found) || is_only_start(l, &here))) return;
    tried++;
    set_phases(l, &all, true);
  }
  if (tried == TRIED_MAX || length_is_found(found)) found->verdict = LENGTH_OPEN;
}

table_length length_find(const identify_request *request, const posenc_problem *of, bool is_told) {
  search s;
  ladder l;
  table_length found = {.verdict = LENGTH_OPEN};
  search_open(&s, request);
  search_columns(&s);
  ladder_open(&l, &s);
  if (s.window.finite && 2 * l.pairs == of->dim && l.pairs > 1 && search_count_known(&s) >= PHASES_LEAST) {
    stretch_all(&l, of);
    if (is_empty(&l.all))
      found.verdict = LENGTH_NONE;
    else
      find_lengths(&l, of, is_told, &found);
  }
  ladder_close(&l);
  search_close(&s);
  return found;
}

/* ---- frequencies that are known ------------------------------------------------------------------ */

void length_starts(search *s, int64_t *starts, size_t *count, size_t most) {
  ladder l;
  found_start here;
  *count = 0;
  ladder_open(&l, s);
  for (int64_t i = 0; i < l.pairs; i++) l.plain[i] = (double)s->w[i];
  set_phases(&l, &l.all, false);
  for (int64_t from = 0; *count < most && next_start(&l, from, &here); from = starts[*count - 1] + 1)
    starts[(*count)++] = (int64_t)here.position;
  ladder_close(&l);
}

/* ---- two lists of factors ------------------------------------------------------------------------ */

bool length_fits(const identify_request *request, const posenc_problem *of) {
  search s;
  int64_t known = 0, off = 0;
  search_open(&s, request);
  search_columns(&s);
  const making at = {.columns = s.columns};
  making how;
  const bool is_possible = s.window.finite && making_with(&at, of, &how);
  const double relative = 8.0 * of_angles * (double)POSITION_NEAR / (double)(s.window.count + 1);
  if (is_possible) formula_frequencies(&how.formula, s.columns.pairs, s.w);
  for (int64_t i = 0; is_possible && i < s.columns.pairs; i++) {
    const estimate *w = &s.frequencies[i];
    if (!formula_mark(w)) continue;
    known++;
    off += fabs(w->value - (double)s.w[i]) > 2.0 * w->error + relative * w->value;
  }
  search_close(&s);
  return known >= PHASES_LEAST && off <= columns_spare(known) / 4;
}
