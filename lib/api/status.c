/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "posenc.h"

const char *posenc_status_message(posenc_status status) {
  switch (status) {
  case POSENC_OK:
    return "success";
  case POSENC_BAD_ARGUMENT:
    return "an argument is null, of unknown size or out of the table's range";
  case POSENC_BAD_PROBLEM:
    return "no such table exists";
  case POSENC_TOO_LARGE:
    return "the table is too large: its bytes or positions overflow";
  case POSENC_BAD_ISA:
    return "the environment variable POSENC_ISA names no set of instruction set tiers";
  case POSENC_CANNOT_RUN:
    return "the kernel cannot do this problem here";
  case POSENC_NO_KERNEL:
    return "no kernel does this problem within the asked accuracy on this CPU";
  case POSENC_OUT_OF_MEMORY:
    return "out of memory";
  case POSENC_BAD_FILE:
    return "the file cannot be read, or is not what it should be";
  }
  return "unknown status";
}

const char *posenc_version(void) {
  return PACKAGE_VERSION;
}
