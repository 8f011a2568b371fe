/* SPDX-License-Identifier: MIT */
/* The name with which messages begin: "posenc", or "posenc bench" once the subcommand is known. */
#ifndef POSENC_COMMON_PROGRAM_H
#define POSENC_COMMON_PROGRAM_H

/* Sets the name, which must last. */
void program_set(const char *name);
const char *program_name(void);

#endif
