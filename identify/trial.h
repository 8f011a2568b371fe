/* SPDX-License-Identifier: MIT */
/* Trials of one hypothesis: a formula, with first positions from phases. */
#ifndef POSENC_IDENTIFY_TRIAL_H
#define POSENC_IDENTIFY_TRIAL_H

#include "identify/explain.h"

making trial_making(const search *s, const columns *at, const formula *f);

/* Takes the explanation for the best if it is much closer; of one that is as close, notes what differs. */
void trial_weigh(search *s, const explanation *e);

/* Tries formulas, with first positions from phases. The best is the plainest of the closest. */
void trial_formulas(search *s, const columns *at, const formula *formulas, size_t count);

/* As trial_formulas, of one formula, at positions from POSITION_NEAR to 2^41. */
void trial_far(search *s, const columns *at, const formula *f);

/* A quarter of a turn added to all phases makes those of sines from those of cosines. */
void trial_shift_phases(search *s, int64_t pairs, int quarters);

#endif
