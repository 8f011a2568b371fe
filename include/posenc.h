/* SPDX-License-Identifier: MIT */
/*
 * posenc: sinusoidal positional encodings, fast and with a stated accuracy.
 *
 * The table, for position p and frequency index i = 0 .. dim/2-1:
 *
 *     angle     = p * scale * base^(-i / (dim/2 - shift))
 *     PE[p, 2i] = sin(angle),  PE[p, 2i+1] = cos(angle)      (layout: interleaved)
 *
 * Use: describe a problem (which table), create a plan (a kernel and its constants for that problem), and execute
 * the plan for any range of rows. The caller owns the memory that is written.
 *
 *     posenc_problem problem = posenc_table(512, 128);
 *     posenc_plan *plan;
 *     if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) ...
 *     posenc_execute(plan, 0, 512, table);
 *     posenc_plan_destroy(plan);
 *
 * Adding the table to embeddings and rotating queries and keys (RoPE) are problems too; their plans are applied:
 *
 *     posenc_problem problem = posenc_rope(4096, 32, 128);
 *     posenc_slice slice = posenc_rows(0, 4096);
 *     if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) ...
 *     posenc_apply(plan, &slice, queries, queries);
 *
 * Conventions of all functions:
 *   - Threads: the library has no mutable global state. Every function may be called from any thread. Objects that are
 *     passed as pointers to const may be shared by any number of threads at once; this includes plans.
 *   - Errors: a function that returns posenc_status checks its arguments before it writes. It writes nothing to `out`
 *     when it returns POSENC_BAD_ARGUMENT; after POSENC_OUT_OF_MEMORY the content of `out` is undefined.
 *   - Sizes: structs that callers fill begin with `size`, which the static inline constructors set.
 *   - Arithmetic: rounds to nearest, as it does unless fesetround was called. Bounds hold in that state.
 *   - Text: returned strings have static storage, unless a comment says otherwise.
 *
 * Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.5. Terms: doc/glossary.md.
 */
#ifndef POSENC_H
#define POSENC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32) || !defined(__GNUC__)
#define POSENC_API
#else
#define POSENC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ------------------------------------------------------------------------------------ */

typedef enum posenc_status {
  POSENC_OK = 0,
  /* A null pointer, a struct of unknown size, rows outside the plan, or a function for another operation. */
  POSENC_BAD_ARGUMENT,
  POSENC_BAD_PROBLEM, /* the problem has no table; posenc_problem_refusal gives the reason */
  POSENC_TOO_LARGE,   /* the table's bytes or positions do not fit in 63 bits */
  POSENC_BAD_ISA,     /* the environment variable POSENC_ISA names an unknown tier */
  POSENC_CANNOT_RUN,  /* the requested kernel cannot do this problem here: see posenc_kernel_refusal */
  POSENC_NO_KERNEL,   /* no kernel does this problem within the requested accuracy on this CPU */
  POSENC_OUT_OF_MEMORY,
  POSENC_BAD_FILE, /* the file cannot be read or has the wrong format */
} posenc_status;

/* An English phrase without a full stop; never null, also for an unknown status. */
POSENC_API const char *posenc_status_message(posenc_status status);

/* "major.minor.patch" of the library that is loaded. */
POSENC_API const char *posenc_version(void);

/* ---- problem ----------------------------------------------------------------------------------- */

/* Order of the columns: s_i and c_i are the sine and cosine of frequency index i. */
typedef enum posenc_layout {
  POSENC_INTERLEAVED = 0,    /* s0 c0 s1 c1 … */
  POSENC_INTERLEAVED_CS = 1, /* c0 s0 c1 s1 … */
  POSENC_SPLIT = 2,          /* s0 s1 … c0 c1 … */
  POSENC_SPLIT_CS = 3,       /* c0 c1 … s0 s1 … */
  POSENC_DUPLICATED = 4,     /* f0 f1 … f0 f1 …: each of the two tables of a rope cache, and nothing else */
} posenc_layout;

typedef enum posenc_dtype {
  POSENC_F32 = 0,  /* IEEE binary32 */
  POSENC_F64 = 1,  /* IEEE binary64 */
  POSENC_F16 = 2,  /* IEEE binary16 */
  POSENC_BF16 = 3, /* bfloat16: the upper half of a binary32 */
} posenc_dtype;

typedef enum posenc_op {
  POSENC_TABLE = 0, /* the table itself */
  POSENC_ADD = 1,   /* x + PE: x has one vector of dim elements for each position */
  /* x has `heads` vectors of dim elements for each position; each pair (a, b) in them is rotated by the angle of its
     position and frequency, to (a cos - b sin, a sin + b cos). */
  POSENC_ROPE = 2,
  POSENC_ROPE_CACHE = 3, /* the table's cosines and its sines as two tables, as frameworks store them for RoPE */
} posenc_op;

/* How a table with an odd number of columns is defined. */
typedef enum posenc_odd {
  POSENC_ODD_REFUSED = 0, /* not at all: an odd dim is a bad problem */
  POSENC_ODD_PAD = 1,     /* the table of dim - 1 columns and then a column of zeros */
  /* One more sine than cosine: frequencies base^(-i / (dim/2 - shift)) for i = 0 .. (dim-1)/2, where dim/2 is not
     rounded. The columns are those of dim + 1 without the last cosine. */
  POSENC_ODD_CEIL = 2,
} posenc_odd;

/*
 * How a RoPE model is extended to more positions than it was trained on. A scaling replaces each frequency w of the
 * plain problem; some also multiply all values by an attention factor. Below, N is `original`, s is `factor`, n is
 * max(length, N), i is the frequency index. The exact frequency is the real number that the formula gives for the
 * doubles in the struct. Scalings require shift 0 and an even dim. Source of the names: "rope_type" in Hugging Face's
 * transformers.
 */
typedef enum posenc_scaling_kind {
  POSENC_SCALING_NONE = 0,
  /* w / s. Source: Chen et al., "Extending Context Window of Large Language Models via Position Interpolation", 2023 */
  POSENC_SCALING_LINEAR = 1,
  /* The base becomes base (s n/N - (s - 1))^(dim/(dim - 2)). Source: "NTK-aware" scaling, bloc97 and emozilla, 2023 */
  POSENC_SCALING_DYNAMIC = 2,
  /*
   * w (1 - g) + w/s g with g = min(1, max(0, (i - a)/(b - a))), a = max(0, cut(high)), b = min(dim - 1, cut(low)) and
   * cut(r) = dim ln(N / (2 π r)) / (2 ln base). `truncate` rounds cut(high) down and cut(low) up. If a = b, as without
   * `truncate` where low = high, then b is a + 1/1000. The attention factor is 0.1 ln s + 1 for s > 1. Source: Peng et
   * al., "YaRN", 2023
   */
  POSENC_SCALING_YARN = 3,
  /*
   * With t = N w / 2π, the number of turns within N positions: w where t > high, w / s where t < low, and between them
   * w ((1 - g)/s + g) with g = (t - low)/(high - low). With low = high nothing is between. Source: Llama 3.1, 2024
   */
  POSENC_SCALING_LLAMA3 = 4,
  /* w / factors[i], which is 0 for an infinite factor: the pair does not turn, as those at the end of a head in Gemma
     4's proportional rope. The attention factor is sqrt(1 + ln s / ln N) for s > 1. Source: Ding et al., "LongRoPE",
     2024 */
  POSENC_SCALING_LONGROPE = 5,
} posenc_scaling_kind;

/* The parameters of a scaling. A kind reads only the fields that name it; all kinds read `attention`. Each kind has a
   constructor below, which takes what has no default and sets the rest. A parameter that is 0 is not set, except
   `attention`: posenc_problem_refusal tells it. */
typedef struct posenc_scaling {
  posenc_scaling_kind kind;
  double factor;    /* all kinds: s, 1 to 2^20 */
  int64_t original; /* all kinds but linear: N, 2 to 2^40, the number of positions that the model was trained on */
  double length;    /* dynamic, dim >= 4: length of the sequence, 1 to 2^40; 4097 × 1.7 is no whole number */
  /* yarn (beta_slow and beta_fast, 1 and 32 by default; base >= 2) and llama3 (1 and 4 by default), in turns:
     2^-10 <= low <= high <= 2^20, and either low = high, a step (Kimi K2, Llama 4 Scout), or (1 + 2^-10) low <= high.
     A step of yarn without `truncate` needs a dim of at most 2^19. */
  double low, high;
  bool truncate;         /* yarn, true by default */
  double attention;      /* attention factor, 2^-10 to 2^10; 0: the formula's, which is 1 unless stated above */
  const double *factors; /* longrope: dim/2 numbers, 2^-8 to 2^20, or infinity. posenc_plan_create copies them */
} posenc_scaling;

/* No scaling: all parameters are unset. `truncate` is yarn's default, as no value of it is unset. */
static inline posenc_scaling posenc_scaling_none(void) {
  posenc_scaling scaling;
  scaling.kind = POSENC_SCALING_NONE;
  scaling.factor = 0.0;
  scaling.original = 0;
  scaling.length = 0.0;
  scaling.low = 0.0;
  scaling.high = 0.0;
  scaling.truncate = true;
  scaling.attention = 0.0;
  scaling.factors = NULL;
  return scaling;
}

/* The scalings: problem.scaling = posenc_scaling_yarn(16, 4096). The caller changes the fields that differ. A parameter
   out of range is a bad problem. */
static inline posenc_scaling posenc_scaling_linear(double factor) {
  posenc_scaling scaling = posenc_scaling_none();
  scaling.kind = POSENC_SCALING_LINEAR;
  scaling.factor = factor;
  return scaling;
}
static inline posenc_scaling posenc_scaling_dynamic(double factor, int64_t original, double length) {
  posenc_scaling scaling = posenc_scaling_none();
  scaling.kind = POSENC_SCALING_DYNAMIC;
  scaling.factor = factor;
  scaling.original = original;
  scaling.length = length;
  return scaling;
}
static inline posenc_scaling posenc_scaling_yarn(double factor, int64_t original) {
  posenc_scaling scaling = posenc_scaling_none();
  scaling.kind = POSENC_SCALING_YARN;
  scaling.factor = factor;
  scaling.original = original;
  scaling.low = 1.0;
  scaling.high = 32.0;
  return scaling;
}
static inline posenc_scaling posenc_scaling_llama3(double factor, int64_t original) {
  posenc_scaling scaling = posenc_scaling_none();
  scaling.kind = POSENC_SCALING_LLAMA3;
  scaling.factor = factor;
  scaling.original = original;
  scaling.low = 1.0;
  scaling.high = 4.0;
  return scaling;
}
/* factors: dim/2 numbers, which must live until the plan is made. */
static inline posenc_scaling posenc_scaling_longrope(double factor, int64_t original, const double *factors) {
  posenc_scaling scaling = posenc_scaling_none();
  scaling.kind = POSENC_SCALING_LONGROPE;
  scaling.factor = factor;
  scaling.original = original;
  scaling.factors = factors;
  return scaling;
}

/*
 * Tables of several axes: images, videos, and tokens with several positions (M-RoPE). Each frequency index belongs to
 * one axis, and its pair of columns encodes the position on that axis: it is a pair of the plain table of that axis,
 * and a kernel that is reproducible gives it the same bits. Sources: He et al., "Masked Autoencoders", 2021; Carion et
 * al., "DETR", 2020; Wang et al., "Qwen2-VL", 2024; Simeoni et al., "DINOv3", 2025.
 */

/* Which axis a frequency index j = 0 .. dim/2-1 belongs to. */
typedef enum posenc_axis_order {
  POSENC_AXES_CHUNKED = 0, /* the first axis has the first `pairs` indices, the second the next ones, and so on */
  /* j belongs to axis j mod count if that one has more than j div count pairs, otherwise to the first axis, which
     has all that are left: the interleaved M-RoPE of Qwen3-VL. */
  POSENC_AXES_CYCLIC = 1,
} posenc_axis_order;

/* The frequency of pair i of axis a, which has index j. */
typedef enum posenc_axis_frequencies {
  POSENC_AXES_RESTARTED = 0, /* that of index i of a table of 2 pairs columns: each axis has all magnitudes */
  POSENC_AXES_CONTINUED = 1, /* that of index j of a table of dim columns: M-RoPE */
  POSENC_AXES_DEALT = 2,     /* that of index i count + a of a table of dim columns (Pixtral); axes of equal pairs */
} posenc_axis_frequencies;

/* One axis. Row r of the table is at place n = first + r, and has coordinate floor(n / stride) mod size: in a grid of
   height H and width W, size W and stride 1, and size H and stride W. */
typedef struct posenc_axis {
  int64_t pairs;        /* of columns, >= 1; those of all axes are dim/2 together */
  int64_t size, stride; /* >= 1 */
  /* Positions of the coordinates 0 .. size-1, within ±2^62; null: the coordinates themselves. With size = rows and
     stride 1 it has one position for each row. posenc_plan_create copies the list. */
  const double *positions;
  double
      divisor; /* 1 to 2^20: positions are divided by it, exactly. Other values than 1 need a problem without scaling */
} posenc_axis;

enum { POSENC_AXES = 4 };

typedef struct posenc_axes {
  size_t size;                   /* sizeof(posenc_axes) as the caller compiled it */
  int count;                     /* 1 .. POSENC_AXES */
  posenc_axis axis[POSENC_AXES]; /* in the order of their columns */
  posenc_axis_order order;
  posenc_axis_frequencies frequencies;
  /* False: the layout is that of the row of dim columns. True: each axis has 2 pairs columns side by side, and the
     layout is that of those (MAE, Gemma 4's pictures); chunked axes only. */
  bool grouped;
} posenc_axes;

/* The axes of a grid: `count` (1 .. POSENC_AXES) sizes, in the order of its dimensions, the last of which changes from
   row to row. Each has the same number of pairs, dim / (2 count). The caller changes what differs; in MAE, which has
   the columns of the width first, the order of the axes. A stride that does not fit in 63 bits, or is that of a size
   below 1, is 0: posenc_problem_refusal tells it. */
static inline posenc_axes posenc_grid(int count, const int64_t *sizes, int64_t dim) {
  posenc_axes axes;
  int64_t stride = 1;
  axes.size = sizeof axes;
  axes.count = count;
  for (int a = POSENC_AXES - 1; a >= 0; a--) {
    const int64_t size = a < count ? sizes[a] : 1;
    axes.axis[a].pairs = a < count ? dim / 2 / count : 0;
    axes.axis[a].size = size;
    axes.axis[a].stride = stride;
    axes.axis[a].positions = NULL;
    axes.axis[a].divisor = 1.0;
    stride = size > 0 && stride <= INT64_MAX / size ? stride * size : 0;
  }
  axes.order = POSENC_AXES_CHUNKED;
  axes.frequencies = POSENC_AXES_RESTARTED;
  axes.grouped = false;
  return axes;
}

/* Value of `padding` for a table without a padding row. */
#define POSENC_NO_PADDING INT64_MIN

/* Which table. The exact values depend on these fields and nothing else. */
typedef struct posenc_problem {
  size_t size;   /* sizeof(posenc_problem) as the caller compiled it: the struct may grow */
  int64_t rows;  /* >= 0; 0 is an empty table */
  int64_t dim;   /* number of columns, >= 2; even, unless `odd` defines the table of an odd dim */
  int64_t first; /* position of row 0: row r has position first + r */
  double base;   /* > 0, finite; 10000 in the paper */
  /* The denominator of the exponent is dim/2 - shift, which must be > 0. 0 in the paper; 1 in tensor2tensor, fairseq
     and Whisper. */
  double shift;
  int64_t padding; /* position whose row is all zeros (fairseq), or POSENC_NO_PADDING; rope has no padding row */
  /* Column order of the table, also of the one that is added. For rope it says which columns form a pair:
     POSENC_INTERLEAVED columns 2i and 2i + 1 (GPT-J), POSENC_SPLIT columns i and dim/2 + i (GPT-NeoX). */
  posenc_layout layout;
  /* Element type of the table: each exact value is rounded to it once, directly. For add and rope the type of x and of
     the result: f32 or bf16. */
  posenc_dtype dtype;
  posenc_op op;
  int64_t heads;          /* rope: >= 1; other operations: 1 */
  bool inverse;           /* rope: rotates by the negative angles */
  double scale;           /* factor of the angles, > 0; 0.5 when 2048 positions are interpolated to 4096 */
  posenc_scaling scaling; /* of the frequencies, in addition to `scale` */
  posenc_odd odd;         /* rope and rope caches have an even dim */
  /* Null, or the position of each row, in any order, within ±2^62; `first` is then 0. A whole position gives the bits
     that the same kernel, if it is reproducible, gives for it in a table without a list. posenc_plan_create copies
     the list. */
  const double *positions;
  /* Null, or several axes: row r is at place first + r, and `padding` is a place. Even dims, without a list of
     positions. posenc_plan_create copies it. */
  const posenc_axes *axes;
} posenc_problem;

/* The paper's table: positions 0 .. rows-1, base 10000, interleaved, f32. The caller changes the fields that differ. */
static inline posenc_problem posenc_table(int64_t rows, int64_t dim) {
  posenc_problem problem;
  problem.size = sizeof problem;
  problem.rows = rows;
  problem.dim = dim;
  problem.first = 0;
  problem.base = 10000.0;
  problem.shift = 0.0;
  problem.padding = POSENC_NO_PADDING;
  problem.layout = POSENC_INTERLEAVED;
  problem.dtype = POSENC_F32;
  problem.op = POSENC_TABLE;
  problem.heads = 1;
  problem.inverse = false;
  problem.scale = 1.0;
  problem.scaling = posenc_scaling_none();
  problem.odd = POSENC_ODD_REFUSED;
  problem.positions = NULL;
  problem.axes = NULL;
  return problem;
}

/* Adds the paper's table to x of shape (rows, dim). */
static inline posenc_problem posenc_add(int64_t rows, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ADD;
  return problem;
}

/* Rotary embedding of x of shape (rows, heads, dim); columns 2i and 2i + 1 form a pair.
   Source: Su et al., "RoFormer", 2021, section 3.4.2. */
static inline posenc_problem posenc_rope(int64_t rows, int64_t heads, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ROPE;
  problem.heads = heads;
  return problem;
}

/* The two tables of shape (rows, dim) that Hugging Face's models store for RoPE. With layout POSENC_INTERLEAVED each
   value stands twice in succession (GPT-J); with POSENC_SPLIT it stands once, in dim/2 columns. */
static inline posenc_problem posenc_rope_tables(int64_t rows, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ROPE_CACHE;
  problem.layout = POSENC_DUPLICATED;
  return problem;
}

/* A base for sequences of `length` positions: the longest wavelength of a wide table, 2π base, is ten times length. */
static inline double posenc_base_for(double length) {
  return length * (10.0 / 6.283185307179586);
}

/* Null if the problem is valid, else the reason why it is not, in a few words. */
POSENC_API const char *posenc_problem_refusal(const posenc_problem *problem);

/* The problem of the table that an operation uses: for POSENC_TABLE the problem itself; for add and rope a table of
   f32; for rope and rope caches a table with the cosine first. For null: a problem that is refused. */
static inline posenc_problem posenc_table_of(const posenc_problem *problem) {
  if (!problem) return posenc_table(0, 0);
  posenc_problem table = *problem;
  if (problem->op == POSENC_TABLE) return table;
  if (problem->op == POSENC_ROPE)
    table.layout = problem->layout == POSENC_SPLIT ? POSENC_SPLIT_CS : POSENC_INTERLEAVED_CS;
  else if (problem->op == POSENC_ROPE_CACHE)
    table.layout = POSENC_SPLIT_CS;
  table.op = POSENC_TABLE;
  if (problem->op != POSENC_ROPE_CACHE) table.dtype = POSENC_F32;
  table.heads = 1;
  table.inverse = false;
  return table;
}

/* Size in bytes of the table, or of one sequence of x: rows * heads * dim * element size. For a rope cache: of each of
   its two tables, which have dim/2 columns with layout POSENC_SPLIT. Returns POSENC_OK, POSENC_BAD_ARGUMENT or
   POSENC_TOO_LARGE; *bytes is set for POSENC_OK only. */
POSENC_API posenc_status posenc_table_bytes(const posenc_problem *problem, size_t *bytes);

/* Bytes of one element; 0 for an unknown dtype. */
POSENC_API size_t posenc_dtype_bytes(posenc_dtype dtype);

/* Columns of the sine and the cosine of frequency index 0; those of index i are i * step columns further. All fields
   are 0 for an unknown layout. */
typedef struct posenc_columns {
  int64_t sin, cos, step;
} posenc_columns;
POSENC_API posenc_columns posenc_layout_columns(posenc_layout layout, int64_t dim);

/* ---- instruction sets -------------------------------------------------------------------------- */

/* Instruction set tiers, as bits of a set: kernels name the tiers that they need, callers those that they allow. */
#define POSENC_ISA_GENERIC 1u /* the compiler's target */
#define POSENC_ISA_AVX2 2u    /* AVX2, FMA and F16C */
#define POSENC_ISA_AVX512 4u  /* AVX-512 F, VL, DQ, BW; ends of rows also by AVX2, FMA and F16C */
#define POSENC_ISA_NEON 8u    /* AArch64's Advanced SIMD */
#define POSENC_ISA_SVE 16u /* AArch64's SVE, with vectors of any length; single rows, add and rope by Advanced SIMD */
#define POSENC_ISA_ALL 31u /* all of these */

/* The tiers that this CPU has and whose registers the system saves: by CPUID and XCR0 on x86-64, by Linux's HWCAP on
   AArch64. */
POSENC_API unsigned posenc_isa_detect(void);

/* Parses a set of tiers: "generic,avx2" is these two; "-avx512" is all but that one. False if a word is no tier, if no
   tier is left, or if an argument is null. */
POSENC_API bool posenc_isa_parse(const char *text, unsigned *isa);

/* The name of a single tier; null for any other value. */
POSENC_API const char *posenc_isa_name(unsigned isa);

/* ---- kernels ----------------------------------------------------------------------------------- */

/*
 * The error bound of a kernel: for every element at every position p with |p| <= max_position, and base >= 1,
 *
 *     |got - exact| <= ulp * ulp(exact) + abs + growth * |p|
 *
 * where p is counted in units of 1/scale, and ulp(exact) is the spacing of the table's dtype in the binade of the
 * exact value. The term `abs` is needed because a kernel with a constant absolute error has no finite bound in ulp
 * near the zeros of the sine.
 */
typedef struct posenc_bound {
  double ulp;           /* factor of ulp(exact) */
  double abs;           /* absolute error */
  double growth;        /* absolute error per position */
  int64_t max_position; /* the domain of the bound */
  /* True: proved from the arithmetic. False: the kernel has no proved bound; the numbers are twice the largest error
     that was measured, and show how the error grows; all 0 if nothing was measured: then no error is judged. */
  bool derived;
} posenc_bound;

/*
 * The largest absolute error that the bound allows at a position, for any element of a table without an attention
 * factor: `ulp` times the ulp just below 1 (only cos 0 = 1 is not below 1), plus `abs`, plus `growth` * |position|.
 * With an attention factor A, the values of a kernel that attends are within `ulp` times the ulp just below 2^e, A <=
 * 2^e, plus A times the rest. For the others the library multiplies rows in double and rounds once: at most A * (the
 * bound for POSENC_F64 + 2^-51) plus half an ulp of the exact value. NaN if bound is null or dtype unknown. The bound
 * of a kernel that writes f32 only is that of posenc_kernel_bound, for the problem.
 */
POSENC_API double posenc_bound_at(const posenc_bound *bound, posenc_dtype dtype, int64_t position);

/*
 * The largest |got - exact| of add or rope that follows from the table's bound. `size` is the size of the exact result
 * for the given x: for add |x + PE|, for rope the length of the rotated pair, sqrt(a² + b²), times the attention
 * factor. Derivation, with e the bound of the table's element of f32: add carries e over and rounds one sum (2^-24 of
 * it). Rope carries over √2 e times the length of the pair and rounds two products and their sum (2^-23 of the length,
 * by Cauchy's inequality). bf16 rounds once more (2^-8 of the result). Subnormal results add half their spacing.
 * Valid as long as nothing overflows. NaN if bound is null, for another operation, and if size is negative or NaN.
 */
POSENC_API double posenc_applied_bound_at(const posenc_bound *bound, const posenc_problem *problem, int64_t position,
                                          double size);

typedef struct posenc_options posenc_options;
typedef struct posenc_wisdom posenc_wisdom;

/* Version of the interface in posenc_kernel; kernels built for another version are refused. */
#define POSENC_KERNEL_ABI 8u

/* An unevaluated sum of two doubles, for numbers that need more than 53 bits. */
typedef struct posenc_sum {
  double high, low;
} posenc_sum;

/* The intermediate values of one pair, from which the error can be attributed to a step. Each is the value that the
   kernel really computes with, its error included. */
typedef struct posenc_stages {
  posenc_sum frequency; /* base^(-i / denominator), scaled as the problem says, in radians per position, modulo 2π */
  posenc_sum phase;     /* position × frequency, in radians, modulo 2π */
  posenc_sum sine, cosine; /* of that phase, before they are rounded to the table's dtype */
} posenc_stages;

/* The rows of a problem that add or rope is applied to, and how x and the result lie in memory. */
typedef struct posenc_slice {
  size_t size;          /* sizeof(posenc_slice) as the caller compiled it */
  int64_t row, rows;    /* rows [row, row + rows) of the problem, if index is null */
  const int64_t *index; /* or the rows index[0] … index[rows - 1], in any order, repeated or not */
  int64_t batch;        /* number of sequences; each has all of these rows */
  /* Elements from the start of one sequence to the next, in x and in the result: at least rows * heads * dim. 0 means
     exactly that many. */
  int64_t stride;
} posenc_slice;

/* Rows [row, row + rows) of one sequence. The caller changes the fields that differ. */
static inline posenc_slice posenc_rows(int64_t row, int64_t rows) {
  posenc_slice slice;
  slice.size = sizeof slice;
  slice.row = row;
  slice.rows = rows;
  slice.index = NULL;
  slice.batch = 1;
  slice.stride = 0;
  return slice;
}

/*
 * A kernel and its contract. The library, tests, benchmarks, documentation and reports read the contract from here.
 *
 * Preconditions of all functions but apply: the problem is valid and can_do accepted it; it is a POSENC_TABLE with an
 * even dim, without axes or a list of positions and, unless the kernel `attends`, without an attention factor; of f32
 * if the kernel is f32_only. The library makes all other tables from such ones. `row` may be any number, also outside
 * the table. The functions may be called from any thread, and execute, stages and apply from several at once with the
 * same constants, which are then read only.
 */
typedef struct posenc_kernel {
  uint32_t abi; /* POSENC_KERNEL_ABI */
  /* The tiers of which the kernel needs one. 0: the kernel runs another kernel, and needs what that one needs. */
  unsigned isa;
  /* 1 to 31 lower case letters, digits and hyphens, in parts between slashes. A pattern selects a name with a slash
     only if the pattern has a slash too. */
  const char *name;
  const char *summary;    /* one line */
  const char *algorithm;  /* how it computes, in a sentence or two */
  const char *provenance; /* author, paper or project, year */
  posenc_bound bound;
  const char *basis; /* source of the bound, in one line */
  bool reproducible; /* same bits on every ISA, compiler, libm and number of threads */
  bool threaded;     /* runs options->threads threads, or those of a device */
  bool scales;       /* supports scale and scaling; if false, the library refuses them, and fractional positions */
  bool attends;      /* multiplies by an attention factor itself; if false, the library multiplies a table of f64 */
  bool keeps_rows;   /* its plan holds the whole table, and execute copies from it */
  /* It writes f32 only. The library refuses f64; tables of 16 bits, and unless the kernel `attends` those with an
     attention factor, are made from its rows of f32: multiplied in double, and rounded (posenc_kernel_bound). */
  bool f32_only;
  const char *absent; /* why this build, or this machine, lacks the kernel, or null */

  /* Null if the kernel can do the (valid) problem, else the reason; may itself be null, if there are no limits. */
  const char *(*can_do)(const posenc_problem *problem);
  /* Computes the constants: what depends on the problem alone. Called once per plan; *constants is null before. May be
     null. */
  posenc_status (*prepare)(const posenc_problem *problem, const posenc_options *options, void **constants);
  /* Writes rows [row, row + rows) of the table to `out`: packed, row `row` first. The caller zeroes the padding row. */
  void (*execute)(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out);
  /* Frees what prepare allocated; may be null. */
  void (*release)(void *constants);
  /* Writes the stages of the same rows: dim/2 pairs for each row, by frequency index, packed. Returns false if the
     kernel has none for the problem. Null if it has none at all. */
  bool (*stages)(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                 posenc_stages *stages);

  /* Add or rope, as the problem says, for a slice that is checked and whose stride is not 0; x and out as in
     posenc_apply. It handles the padding row, and x of f32 and bf16, also if the kernel is f32_only: the table is of
     f32. It gets no problem whose rows the library changes: with an odd dim, axes, a list or an attention factor. Null,
     or such a problem: the library calls execute for some rows at a time and applies them. The bound holds either way:
     see posenc_applied_bound_at. */
  posenc_status (*apply)(const void *constants, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                         void *out);
} posenc_kernel;

/* All kernels of the library, the fast ones first; *count, unless count is null, is their number. */
POSENC_API const posenc_kernel *const *posenc_kernels(size_t *count);

/* The kernel of that name, or null. */
POSENC_API const posenc_kernel *posenc_kernel_find(const char *name);

/* The bound of a kernel's rows before a factor of the problem: its own; or, where the library rounds its rows of f32 to
   16 bits or multiplies them by an attention factor, half an ulp and 1.5 times the error of these rows
   (lib/api/kernels.c). The caller multiplies `growth` by the problem's scale and, as posenc_bound_at says, what is not
   `ulp` by an attention factor. For null, or a problem of unknown size, it has no limits. */
POSENC_API posenc_bound posenc_kernel_bound(const posenc_kernel *kernel, const posenc_problem *problem);

/* Null if the kernel can do the problem on this CPU under these options, else the reason. problem null: whether the
   kernel can run at all. options null: the defaults. */
POSENC_API const char *posenc_kernel_refusal(const posenc_kernel *kernel, const posenc_problem *problem,
                                             const posenc_options *options);

/* ---- plan: a problem and a kernel ----------------------------------------------------------------- */

/* How kernels with both kinds of stores write rows. The bits are the same. */
typedef enum posenc_stores {
  /* Streaming if the rows of one call, or of one thread's part of it, are too large for the caches, and the memory is
     not new: pages that the system has just cleared are in the caches. */
  POSENC_STORES_AUTO = 0,
  POSENC_STORES_REGULAR = 1, /* through the caches: for rows that are read soon */
  /* Past the caches, where `out`, dim and dtype allow it (posenc_alloc): leaves the caches to other data. */
  POSENC_STORES_STREAMING = 2,
} posenc_stores;

struct posenc_options {
  size_t size; /* sizeof(posenc_options) as the caller compiled it */
  /* Null: the library chooses. Of the kernels within max_abs and max_ulp that run here it takes the one that costs
     least for a problem of this size and dtype with one sequence, by a built-in table of costs. It measures nothing.
     Where both limits are 0, it takes one that rounds each element correctly. There is none if base is below 1 or above
     2^40, a frequency above 1, an angle below 2^-38, the scale outside 2^-128 to 2^20, a position outside ±2^62, shift
     above 1, or dim/2 - shift not exact in double. Then the limit is an error of 2^-24 for f32, 2^-11 for f16, 2^-8 for
     bf16 (one ulp just below 1) and 2^-44 for f64, multiplied by the next power of two above an attention factor. */
  const posenc_kernel *kernel;
  /* Largest accepted |got - exact| of an element, if the library chooses; for add and rope, of an element of the table
     of posenc_table_of. 0: no limit. */
  double max_abs;
  /* Largest accepted error in ulp of the exact element; 0: no limit. 0.5 requests correct rounding: a plan is made only
     if a kernel does that. Only kernels whose bound has no `abs` and no `growth` are within such a limit. */
  double max_ulp;
  /* For threaded kernels, the caller's thread included. 0: one for each processor that this process may use. At most
     four per processor are started, and no more than the system allows: with fewer the bits are the same. They start
     with the first call that is large enough, belong to the plan and end with it; a call waits for none of them that
     gets no processor. The library chooses a threaded kernel only if this is not 1 and the table is so large that
     threads save more time than their start takes. */
  int threads;
  unsigned isa;         /* allowed tiers; 0: those of the environment variable POSENC_ISA, or all if it is not set */
  posenc_stores stores; /* add and rope take STREAMING as AUTO, and use regular stores in place */
  /* Null, or times that were measured on this machine: the choice uses them if they know the problem. Read while a
     plan is created, not later. */
  const posenc_wisdom *wisdom;
};

/* The defaults: the library chooses the kernel, and uses one thread. */
static inline posenc_options posenc_default_options(void) {
  posenc_options options;
  options.size = sizeof options;
  options.kernel = NULL;
  options.max_abs = 0.0;
  options.max_ulp = 0.0;
  options.threads = 1;
  options.isa = 0;
  options.stores = POSENC_STORES_AUTO;
  options.wisdom = NULL;
  return options;
}

typedef struct posenc_plan posenc_plan;

/* Creates a plan. options null: the defaults. The problem and its lists are copied. On failure *plan is null, and the
   status is any but POSENC_BAD_FILE. The caller destroys the plan with posenc_plan_destroy. */
POSENC_API posenc_status posenc_plan_create(posenc_plan **plan, const posenc_problem *problem,
                                            const posenc_options *options);

/* POSENC_TABLE: writes rows [row, row + rows) to `out`: rows * dim elements, packed, row `row` first. `out` needs the
   alignment of its element type only. Returns POSENC_OK, POSENC_BAD_ARGUMENT, or POSENC_OUT_OF_MEMORY, which only
   tables with axes, an odd dim or an attention factor can meet. */
POSENC_API posenc_status posenc_execute(const posenc_plan *plan, int64_t row, int64_t rows, void *out);

/* POSENC_ADD and POSENC_ROPE: applies the rows of the slice to x. x and out hold batch × rows × heads × dim elements at
   the slice's stride; out may be x, else they must not overlap. Both need the alignment of their element type only.
   Returns POSENC_OK, POSENC_BAD_ARGUMENT or POSENC_OUT_OF_MEMORY. */
POSENC_API posenc_status posenc_apply(const posenc_plan *plan, const posenc_slice *slice, const void *x, void *out);

/* Writes the stages of rows [row, row + rows): rows * dim/2 pairs, by frequency index, packed; those of the padding row
   are 0. False if the plan's kernel has no stages, if the table has an odd dim, a list of positions, axes or an
   attention factor, or if the rows are not the plan's. */
POSENC_API bool posenc_plan_stages(const posenc_plan *plan, int64_t row, int64_t rows, posenc_stages *stages);

/* POSENC_ROPE_CACHE: writes rows [row, row + rows) of both tables, packed. Either pointer may be null: that table is
   then left out. Returns POSENC_OK, POSENC_BAD_ARGUMENT or POSENC_OUT_OF_MEMORY. */
POSENC_API posenc_status posenc_rope_cache(const posenc_plan *plan, int64_t row, int64_t rows, void *cosines,
                                           void *sines);

/* For kernels: writes the dim/2 frequencies of a problem with an even dim and without axes, as its scaling and its
   scale make them, in radians per position, modulo 2π. Their relative errors are below 2^-52, and the absolute ones of
   tiny frequencies below 2^-180. Returns POSENC_OK, POSENC_BAD_ARGUMENT for other problems and null,
   POSENC_BAD_PROBLEM, POSENC_OUT_OF_MEMORY, or POSENC_CANNOT_RUN for a base below 1, a scale outside 2^-128 to 2^20, or
   a dim/2 - shift that is not exact in double. */
POSENC_API posenc_status posenc_frequencies(const posenc_problem *problem, double *frequencies);

/* The attention factor: the number that multiplies all values of the problem's table. 1, unless its scaling has one;
   NaN if the scaling is not valid. */
POSENC_API double posenc_attention(const posenc_problem *problem);

/* Frees the plan, which no thread may use any more. Null is allowed. */
POSENC_API void posenc_plan_destroy(posenc_plan *plan);

/* The plan's problem, and the kernel that executes it; valid as long as the plan. Null for null. */
POSENC_API const posenc_problem *posenc_plan_problem(const posenc_plan *plan);
POSENC_API const posenc_kernel *posenc_plan_kernel(const posenc_plan *plan);

/* ---- wisdom: times measured on this machine ----------------------------------------------------- */

/*
 * Reads a file that `posenc choose --keep FILE` wrote: the time that each kernel took for a problem. A plan that is
 * created with this wisdom takes the kernel that was measured to be the fastest of those that are accurate enough, if
 * the wisdom has a measurement of a similar problem: the same operation, dtype, layout, dim, heads, base and threads,
 * and at most twice as many rows or half as many. Otherwise the built-in table of costs decides. Measurements of
 * another CPU or library version are ignored. Returns POSENC_OK, POSENC_BAD_ARGUMENT, POSENC_OUT_OF_MEMORY, or
 * POSENC_BAD_FILE if the file cannot be read or is no wisdom; *wisdom is null unless POSENC_OK. The caller frees it
 * with posenc_wisdom_free.
 */
POSENC_API posenc_status posenc_wisdom_read(posenc_wisdom **wisdom, const char *path);

/* The number of measurements of this machine and version; 0 for null. */
POSENC_API size_t posenc_wisdom_count(const posenc_wisdom *wisdom);

/* Frees the wisdom, which no thread may be using to create a plan. Null is allowed; plans that exist do not need it. */
POSENC_API void posenc_wisdom_free(posenc_wisdom *wisdom);

/* For programs that write such a file: its first line, and the line of one measurement, each with its line feed. The
   latter is written, and the result returned, as snprintf does it; -1 for a null pointer, or if seconds is not in
   [0, 10^6). */
POSENC_API const char *posenc_wisdom_header(void);
POSENC_API int posenc_wisdom_line(char *text, size_t size, const posenc_problem *problem, int threads,
                                  const char *kernel, double seconds);

/* Identifies the machine that measurements belong to: library version, instruction sets and the CPU's name. Writes at
   most `size` bytes, with the terminating null if size is not 0. */
POSENC_API void posenc_machine(char *text, size_t size);

/* ---- encoder: a table that grows ---------------------------------------------------------------- */

/*
 * For decoding: a table whose rows are appended as they are needed, without a limit.
 *
 *     posenc_encoder *encoder;
 *     if (posenc_encoder_create(&encoder, &problem, NULL) != POSENC_OK) ...
 *     posenc_encoder_append(encoder, 1);
 *     row = (const float *)posenc_encoder_rows(encoder, &count) + (count - 1) * dim;
 *
 * The rows have the bits that posenc_execute gives, also those beyond problem->rows, which is the expected number and
 * decides only the choice of the kernel. A list of positions, axes, or another operation than POSENC_TABLE, is a bad
 * argument. An encoder may be used by one thread at a time.
 */
typedef struct posenc_encoder posenc_encoder;

/* Creates an encoder without rows. The errors are those of posenc_plan_create. The caller destroys the encoder. */
POSENC_API posenc_status posenc_encoder_create(posenc_encoder **encoder, const posenc_problem *problem,
                                               const posenc_options *options);

/* Appends `rows` rows. On failure the rows so far are unchanged. */
POSENC_API posenc_status posenc_encoder_append(posenc_encoder *encoder, int64_t rows);

/* All rows so far, packed; owned by the encoder and valid until the next append. *count, unless count is null, is their
   number. Null while there are none. */
POSENC_API const void *posenc_encoder_rows(const posenc_encoder *encoder, int64_t *count);

/* Frees the encoder and its rows. Null is allowed. */
POSENC_API void posenc_encoder_destroy(posenc_encoder *encoder);

/* ---- memory ------------------------------------------------------------------------------------ */

/*
 * Memory for a table, aligned to 64 bytes, and from 1 MiB on aligned to 2 MiB and advised for huge pages, where the
 * system has them. Tables may lie in any other memory. What that costs (doc/notebook.md, "Where a table lies"):
 *   - New memory of malloc comes in small pages, whose page faults take several times as long as the kernels do.
 *     Memory that was written before has no such cost.
 *   - Large tables of 16-byte aligned memory, as malloc gives it: 0 to 7 % in the correctly rounded kernels with vector
 *     instructions, if rows are whole cache lines of 64 bytes and the layout is interleaved; 20 % in rope caches; 30 to
 *     40 % in f64 and rotation-avx512 with 256 columns or more. Otherwise, or if `out` is an odd number of elements
 *     past a cache line, tables too large for the caches are written 2 to 3 times as slowly, as they cannot be stored
 *     past the caches.
 * The content is undefined. 0 bytes are allowed. Null if memory runs out. The caller frees it with posenc_free, which
 * accepts null.
 */
POSENC_API void *posenc_alloc(size_t bytes);
POSENC_API void posenc_free(void *memory);

/* ---- other encodings ----------------------------------------------------------------------------- */

/*
 * Other ways to encode positions. Each has one function, which needs no plan, and a contract. The positions are the
 * rows of a slice: row, row + 1 …, or those of its index, in any order.
 *
 *     posenc_slice positions = posenc_rows(0, 512);
 *     posenc_binary(&positions, 64, POSENC_F32, table);
 *
 * Each value is the exact one, rounded once to the dtype, to nearest, ties to even, unless the function's comment says
 * otherwise. In f16, values from 65520 on become infinity, as IEEE 754 requires; all finite results fit the other
 * dtypes.
 */
typedef struct posenc_encoding {
  const char *name;       /* lower case letters and hyphens */
  const char *summary;    /* one line */
  const char *formula;    /* of an element, in one line */
  const char *call;       /* the function that computes it */
  const char *provenance; /* author, paper or project, year */
  bool by_kernels;        /* true: kernels compute it, and the bound is theirs (see posenc_kernels) */
  posenc_bound bound;     /* if not by_kernels */
  const char *basis;      /* source of the bound, in one line */
  bool reproducible;      /* same bits on every ISA, compiler, libm and number of threads; by_kernels: see the kernel */
} posenc_encoding;

/* All encodings, sinusoidal and rope first; *count, unless count is null, is their number. */
POSENC_API const posenc_encoding *const *posenc_encodings(size_t *count);

/* The encoding of that name, or null. */
POSENC_API const posenc_encoding *posenc_encoding_find(const char *name);

/* Integer: all `dim` elements of a row are its position, any 64-bit number. `out` holds rows × dim elements, packed.
   The slice has one sequence. Returns POSENC_OK or POSENC_BAD_ARGUMENT. */
POSENC_API posenc_status posenc_integer(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);

/* Binary: column j of a row is bit j of its position, the least significant first: 200 = 0b11001000 gives 0 0 0 1 0 0 1
   1, then zeros. From column 63 on all are 0. A negative position is a bad argument. Otherwise as posenc_integer. */
POSENC_API posenc_status posenc_binary(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);

/* A trained table: `count` rows of `dim` elements, packed. The caller owns the rows. */
typedef struct posenc_learned_table {
  size_t size; /* sizeof(posenc_learned_table) as the caller compiled it */
  const void *rows;
  int64_t count, dim;
  posenc_dtype dtype;
} posenc_learned_table;

/* A trained table of f32. The caller changes dtype if it differs. */
static inline posenc_learned_table posenc_learned_rows(const void *rows, int64_t count, int64_t dim) {
  posenc_learned_table table;
  table.size = sizeof table;
  table.rows = rows;
  table.count = count;
  table.dim = dim;
  table.dtype = POSENC_F32;
  return table;
}

/*
 * Learned: with x null, copies the table's row of each position to `out`, converted to any dtype; else writes x + that
 * row, with x and out of f32 or bf16. bf16 sums with a table that is not f64 are rounded to f32 first. A position
 * outside 0 .. count-1 is a bad argument, and nothing is written. Batch and stride of the slice are as in posenc_apply:
 * x and `out` hold batch × rows × dim elements, and may be the same. Returns POSENC_OK or POSENC_BAD_ARGUMENT.
 */
POSENC_API posenc_status posenc_learned(const posenc_learned_table *table, const posenc_slice *positions,
                                        posenc_dtype dtype, const void *x, void *out);

/*
 * ALiBi: the bias that is added to attention scores. For head h, the query at position i and the key at position j it
 * is -m_h |i - j|. If the number of heads H is a power of two, the slopes m_1 … m_H are 2^(-8h/H). Otherwise, with n
 * the next power of two below H, they are the n slopes for n heads, followed by every other slope for 2n heads, from
 * the first on. Source: Press et al., "Train Short, Test Long", 2021, and the authors' code.
 */
typedef struct posenc_alibi {
  size_t size;            /* sizeof(posenc_alibi) as the caller compiled it */
  int64_t heads;          /* H of the model, 1 .. 2^20 */
  int64_t head, count;    /* the heads that are written: [head, head + count) of 0 .. H-1 */
  int64_t query, queries; /* positions of the queries: [query, query + queries) */
  int64_t key, keys;      /* positions of the keys: [key, key + keys). No distance |i - j| may exceed 2^53 */
  posenc_dtype dtype;
} posenc_alibi;

/* All heads, with queries and keys at positions 0 .. length-1. For decoding, the caller changes query and queries. */
static inline posenc_alibi posenc_alibi_of(int64_t heads, int64_t length) {
  posenc_alibi bias;
  bias.size = sizeof bias;
  bias.heads = heads;
  bias.head = 0;
  bias.count = heads;
  bias.query = 0;
  bias.queries = length;
  bias.key = 0;
  bias.keys = length;
  bias.dtype = POSENC_F32;
  return bias;
}

/* Writes the bias, of shape (count, queries, keys), packed. Zero is +0. Returns POSENC_OK, POSENC_BAD_ARGUMENT or
   POSENC_OUT_OF_MEMORY. */
POSENC_API posenc_status posenc_alibi_bias(const posenc_alibi *bias, void *out);

/* The slope m of head 0 .. heads-1, with a relative error of at most 2^-97; `high` is the nearest double. NaN if there
   is no such head. */
POSENC_API posenc_sum posenc_alibi_slope(int64_t heads, int64_t head);

/*
 * Add with dropout: each element of x + PE is set to 0 with probability q, and otherwise multiplied by 1/(1-q). Whether
 * an element is dropped depends only on the seed, its sequence, its position and its column, not on threads, slices or
 * their order. An element is dropped if u < q 2^32, where q 2^32 is rounded to nearest, half up, and u is word
 * (column / 8) % 4 of Philox4x32-10 with the key (seed mod 2^32, seed / 2^32) and the counter
 * (8 (column / 32) + column % 8, sequence, position mod 2^32, position / 2^32). Sources: Srivastava et al., "Dropout",
 * 2014; Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
 */
typedef struct posenc_dropout {
  size_t size; /* sizeof(posenc_dropout) as the caller compiled it */
  uint64_t seed;
  /* q of the first and the last column, each in [0, 1 - 2^-32]; column c has first + (last - first) * (c / (dim - 1)),
     computed in double. */
  double first, last;
  int64_t sequence; /* number of the slice's first sequence; those of all its sequences are in [0, 2^32) */
} posenc_dropout;

/* The same probability for all columns. For a ramp, the caller changes `last`. */
static inline posenc_dropout posenc_dropout_of(double probability, uint64_t seed) {
  posenc_dropout dropout;
  dropout.size = sizeof dropout;
  dropout.seed = seed;
  dropout.first = dropout.last = probability;
  dropout.sequence = 0;
  return dropout;
}

/* posenc_apply for a plan of POSENC_ADD, then dropout: kept elements are multiplied by 1/(1-q), computed in double and
   rounded to f32; the product is rounded to f32, and for bf16 once more. The position of a row is the problem's
   first + row. Returns POSENC_OK, POSENC_BAD_ARGUMENT or POSENC_OUT_OF_MEMORY. */
POSENC_API posenc_status posenc_apply_dropout(const posenc_plan *plan, const posenc_slice *slice,
                                              const posenc_dropout *dropout, const void *x, void *out);

/* Writes the mask alone, packed: one byte for each sequence, row and column of the slice, whose rows are positions
   here; 1 if it is kept, 0 if it is dropped. Returns POSENC_OK, POSENC_BAD_ARGUMENT or POSENC_OUT_OF_MEMORY. */
POSENC_API posenc_status posenc_dropout_mask(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                             unsigned char *keep);

#ifdef __cplusplus
}
#endif

/* ---- plugins: kernels outside the library ------------------------------------------------------ */

/*
 * Makes a shared object a plugin of the posenc command (--plugin FILE). Use it once in the object, at file scope, with
 * pointers to the kernels:
 *
 *     static const posenc_kernel mine = {.abi = POSENC_KERNEL_ABI, .name = "mine", ...};
 *     POSENC_PLUGIN(&mine);
 *
 * The command reads `posenc_plugin_abi` before anything that depends on it; `posenc_plugin_kernels` ends with a null.
 */
#define POSENC_PLUGIN(...)                                                                                             \
  POSENC_PLUGIN_EXPORT const uint32_t posenc_plugin_abi;                                                               \
  POSENC_PLUGIN_EXPORT const posenc_kernel *const posenc_plugin_kernels[];                                             \
  const uint32_t posenc_plugin_abi = POSENC_KERNEL_ABI;                                                                \
  const posenc_kernel *const posenc_plugin_kernels[] = {__VA_ARGS__, NULL}

#ifdef __cplusplus
#define POSENC_PLUGIN_EXPORT extern "C" POSENC_API
#else
#define POSENC_PLUGIN_EXPORT extern POSENC_API
#endif

#endif /* POSENC_H */
