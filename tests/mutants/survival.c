/* SPDX-License-Identifier: MIT */
/* Mutants that crash, exit or hang. */
#include "tests/mutants/mutant.h"

#include <signal.h>
#include <unistd.h>

/* They write correct rows before they end or hang, so that no other property fails. */
static volatile char *volatile nowhere;
AFTER_ROWS(null_write, *nowhere = 0)
AFTER_ROWS(arithmetic_signal, raise(SIGFPE))
AFTER_ROWS(illegal_instruction, raise(SIGILL))
AFTER_ROWS(exit_zero, exit(0))
AFTER_ROWS(hang, for (;;) pause())

PLUGIN = {
    MUTANT_OF_GOOD("null-write", "writes to address 0", null_write),
    MUTANT_OF_GOOD("arithmetic-signal", "raises SIGFPE", arithmetic_signal),
    MUTANT_OF_GOOD("illegal-instruction", "raises SIGILL", illegal_instruction),
    MUTANT_OF_GOOD("exit-zero", "ends the process as if all were well", exit_zero),
    MUTANT_OF_GOOD("hang", "never returns", hang),
    NULL,
};
