/* SPDX-License-Identifier: MIT */
/* Mutants with an apply function of their own that is wrong for some slices only. */
#include "tests/mutants/mutant.h"

#include <stdint.h>

WRONG_SLICES(last_row_alone, slice->rows == 1 && !slice->index && slice->row == problem->rows - 1)
WRONG_SLICES(list_of_20, slice->index &&r >= 20)
WRONG_SLICES(list_of_200, slice->index &&r >= 200)
WRONG_SLICES(row_again, slice->index &&r > 0 && slice->index[r] == slice->index[r - 1])
WRONG_SLICES(row_before, slice->index &&r > 0 && slice->index[r] == slice->index[r - 1] - 1)
WRONG_SLICES(wide_stride, n > 0 && slice->stride > 100000)
WRONG_SLICES(odd_stride, n > 0 && slice->stride % 2)
WRONG_SLICES(batch_of_9, slice->batch == 9)
WRONG_SLICES(batch_in_place, in_place && slice->batch > 1)
WRONG_SLICES(list_in_place, in_place && slice->index)
WRONG_SLICES(many_heads, problem->heads >= 40)
WRONG_SLICES(heads_of_128, problem->heads == 128)
WRONG_SLICES(odd_heads, problem->heads % 2 == 1 && problem->heads > 8)
WRONG_SLICES(aligned_otherwise, ((uintptr_t)x ^ (uintptr_t)out) % 32 != 0)
WRONG_SLICES(negative_turn, position_of(problem, row_number(slice, r)) < -500)
WRONG_SLICES(narrow_halves, problem->layout == POSENC_SPLIT && problem->dim % 16 == 6)
WRONG_SLICES(list_of_2048, slice->index &&r >= 2048)
WRONG_SLICES(batch_of_32, n >= 32)
WRONG_SLICES(wide_row, width_of(problem) > 8192)

CHANGED_SLICES(forwards_in_place, if (in_place) p.inverse = false)
CHANGED_SLICES(forwards_by_list, if (slice->index) p.inverse = false)
CHANGED_SLICES(forwards_in_batches, if (slice->batch > 1) p.inverse = false)
CHANGED_SLICES(padding_not_in_place, if (in_place) p.padding = POSENC_NO_PADDING)
CHANGED_SLICES(padding_not_by_list, if (slice->index) p.padding = POSENC_NO_PADDING)
CHANGED_SLICES(padding_not_in_batches, if (slice->batch > 1) p.padding = POSENC_NO_PADDING)
CHANGED_SLICES(padding_not_alone, if (slice->rows == 1) p.padding = POSENC_NO_PADDING)
CHANGED_SLICES(padding_by_row, if (p.padding != POSENC_NO_PADDING) p.padding += p.first)

/* Reads x beyond its last row. */
static APPLY(x_overread) {
  static volatile char seen;
  const int64_t end = (slice->batch - 1) * slice->stride + slice->rows * width_of(problem);
  seen = ((const volatile char *)x)[(size_t)end * posenc_dtype_bytes(problem->dtype)];
  (void)seen, (void)constants;
  return good_apply(problem, slice, x, out);
}

PLUGIN = {
    APPLIED("last-row-alone", "wrong where the last row is asked for alone", last_row_alone),
    APPLIED("list-of-20", "wrong from the 20th row of a list on", list_of_20),
    APPLIED("list-of-200", "wrong from the 200th row of a list on", list_of_200),
    APPLIED("row-again", "wrong where a list has a row twice in succession", row_again),
    APPLIED("row-before", "wrong where a list goes one back", row_before),
    APPLIED("wide-stride", "wrong where sequences are far apart", wide_stride),
    APPLIED("odd-stride", "wrong where sequences are an odd number apart", odd_stride),
    APPLIED("batch-of-9", "wrong for 9 sequences", batch_of_9),
    APPLIED("batch-in-place", "wrong for several sequences in place", batch_in_place),
    APPLIED("list-in-place", "wrong for lists in place", list_in_place),
    APPLIED("many-heads", "wrong from 40 heads on", many_heads),
    APPLIED("heads-of-128", "wrong for 128 heads", heads_of_128),
    APPLIED("odd-heads", "wrong for 9, 11, 13 ... heads", odd_heads),
    APPLIED("aligned-otherwise", "wrong where x and out are aligned differently", aligned_otherwise),
    APPLIED("negative-turn", "wrong below position -500", negative_turn),
    APPLIED("narrow-halves", "wrong for halves of 3, 11, 19 ... elements", narrow_halves),
    APPLIED("x-overread", "reads behind x", x_overread),
    APPLIED("list-of-2048", "wrong from the 2048th row of a list on", list_of_2048),
    APPLIED("batch-of-32", "wrong from the 32nd sequence on", batch_of_32),
    APPLIED("wide-row", "wrong in rows of more than 8192 elements", wide_row),
    APPLIED("forwards-in-place", "never turns back in place", forwards_in_place),
    APPLIED("forwards-by-list", "never turns back by lists", forwards_by_list),
    APPLIED("forwards-in-batches", "never turns back in batches", forwards_in_batches),
    APPLIED("padding-not-in-place", "no padding row in place", padding_not_in_place),
    APPLIED("padding-not-by-list", "no padding row in lists", padding_not_by_list),
    APPLIED("padding-not-in-batches", "no padding row in batches", padding_not_in_batches),
    APPLIED("padding-not-alone", "no padding row where it is asked for alone", padding_not_alone),
    APPLIED("padding-by-row", "takes the padding position for a row", padding_by_row),
    NULL,
};
