/* SPDX-License-Identifier: MIT */
/* Plans that exist at once or one after another, and their arguments. */
#ifndef POSENC_VERIFY_PLANS_H
#define POSENC_VERIFY_PLANS_H

#include "verify/variants.h"

/* PLANS (false when memory runs out), READ_ONLY of what is given. */
bool check_plans(stress *t);
void check_const(stress *t);

#endif
