/* SPDX-License-Identifier: MIT */
/* Tries a hypothesis: a formula, with first positions from phases. */
#ifndef POSENC_IDENTIFY_TRIAL_H
#define POSENC_IDENTIFY_TRIAL_H

#include "identify/explain.h"

making trial_making(const search *s, const columns *at, const formula *f);

/* Takes the explanation as the best if it is much closer. If it is as close, notes how it differs. */
void trial_weigh(search *s, const explanation *e);

/* Tries formulas, with first positions from phases. The best is the plainest of the closest ones. */
void trial_formulas(search *s, const columns *at, const formula *formulas, size_t count);

/* Tries one formula, as trial_formulas does, at positions from POSITION_NEAR to 2^41. */
void trial_far(search *s, const columns *at, const formula *f);

/* Adds quarters of a turn to all phases, which converts phases of cosines to those of sines. */
void trial_shift_phases(search *s, int64_t pairs, int quarters);

#endif
