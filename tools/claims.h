/* SPDX-License-Identifier: MIT */
/* Claims about the encoding that can be computed, with the same result on every machine. */
#ifndef POSENC_TOOLS_CLAIMS_H
#define POSENC_TOOLS_CLAIMS_H

/* Prints the claims as a Markdown table. The claims that records decide are in reports/model/claims.c. */
void print_claims(void);

#endif
