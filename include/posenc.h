/* SPDX-License-Identifier: MIT */
/*
 * posenc: sinusoidal positional encodings, fast and with a stated accuracy.
 *
 * The table, for position p and frequency index i = 0 .. dim/2-1:
 *
 *     angle     = p * scale * base^(-i / (dim/2 - shift))
 *     PE[p, 2i] = sin(angle),  PE[p, 2i+1] = cos(angle)      (layout: interleaved)
 *
 * One way through: describe a problem (what), make a plan (a kernel bound to that problem, constants
 * computed once), execute it over any range of rows into memory you own.
 *
 *     posenc_problem problem = posenc_table(512, 128);
 *     posenc_plan *plan;
 *     if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) ...
 *     posenc_execute(plan, 0, 512, table);
 *     posenc_plan_destroy(plan);
 *
 * What adds the table to embeddings, or rotates queries and keys by it, is a problem of its own, and is applied:
 *
 *     posenc_problem problem = posenc_rope(4096, 32, 128);
 *     posenc_slice slice = posenc_rows(0, 4096);
 *     if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) ...
 *     posenc_apply(plan, &slice, queries, queries);
 *
 * The library has no global state. A plan is immutable: any number of threads may execute it at once.
 * Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.5.
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
  POSENC_BAD_ARGUMENT, /* a null pointer, a struct of unknown size, rows outside the plan's, another operation than the plan's */
  POSENC_BAD_PROBLEM, /* no such table exists: see posenc_problem_refusal */
  POSENC_TOO_LARGE,   /* the table's bytes or positions do not fit in 63 bits */
  POSENC_BAD_ISA,     /* the environment's POSENC_ISA names something that is no tier */
  POSENC_CANNOT_RUN,  /* the kernel asked for cannot do this problem here: see posenc_kernel_refusal */
  POSENC_NO_KERNEL,   /* no kernel does this problem within the asked accuracy on this CPU */
  POSENC_OUT_OF_MEMORY,
  POSENC_BAD_FILE, /* it cannot be read, or is not what it should be */
} posenc_status;

/* One English sentence without full stop; never null, static storage. */
POSENC_API const char *posenc_status_message(posenc_status status);

/* "major.minor.patch" of the library that runs. */
POSENC_API const char *posenc_version(void);

/* ---- problem: what ----------------------------------------------------------------------------- */

typedef enum posenc_layout {
  POSENC_INTERLEAVED = 0,    /* s0 c0 s1 c1 … */
  POSENC_INTERLEAVED_CS = 1, /* c0 s0 c1 s1 … */
  POSENC_SPLIT = 2,          /* s0 s1 … c0 c1 … */
  POSENC_SPLIT_CS = 3,       /* c0 c1 … s0 s1 … */
  POSENC_DUPLICATED = 4,     /* of each of the two tables of a rope cache: f0 f1 … f0 f1 … */
} posenc_layout;

typedef enum posenc_dtype {
  POSENC_F32 = 0,  /* IEEE binary32 */
  POSENC_F64 = 1,  /* IEEE binary64 */
  POSENC_F16 = 2,  /* IEEE binary16 */
  POSENC_BF16 = 3, /* bfloat16: the upper half of a binary32 */
} posenc_dtype;

typedef enum posenc_op {
  POSENC_TABLE = 0, /* the table itself */
  POSENC_ADD = 1,   /* x + PE, where x has a vector of dim elements for each position */
  POSENC_ROPE =
      2, /* for each position, x has `heads` vectors of dim elements; each pair (a, b) of them is turned by its angle, to
                       (a cos - b sin, a sin + b cos) */
  POSENC_ROPE_CACHE = 3, /* the cosines and the sines of the table, in two tables, as frameworks keep them for rope */
} posenc_op;

/* What becomes of an odd dim. */
typedef enum posenc_odd {
  POSENC_ODD_REFUSED = 0, /* there is no such table */
  POSENC_ODD_PAD = 1,     /* the table of dim - 1 columns, and a column of zeros */
  POSENC_ODD_CEIL =
      2, /* one more sine than cosine: frequencies base^(-i / (dim/2 - shift)), i = 0 .. (dim-1)/2, where dim/2 is a
                             fraction; columns as those of dim + 1 without the last cosine */
} posenc_odd;

/*
 * How a RoPE model is stretched to more positions than it was trained on: frequency w of the plain problem becomes another, and in some
 * all values are multiplied by an attention factor. N is `original`, s is `factor`. Exact is the real number that the formula gives of these doubles.
 * Needs shift 0. Sources: the names are those of Hugging Face's transformers, "rope_type".
 */
typedef enum posenc_scaling_kind {
  POSENC_SCALING_NONE = 0,
  POSENC_SCALING_LINEAR = 1, /* w / s. Chen et al., 2023, "Extending Context Window ... via Position Interpolation" */
  POSENC_SCALING_DYNAMIC =
      2, /* base (s n/N - (s - 1))^(dim/(dim - 2)) instead of base, n = max(length, N). "NTK-aware", bloc97 and emozilla, 2023 */
  POSENC_SCALING_YARN =
      3, /* w (1 - g) + w/s g, where g = min(1, max(0, (i - a)/(b - a))), a = max(0, cut(high)), b = min(dim - 1, cut(low)),
            cut(r) = dim ln(N / (2 π r)) / (2 ln base), with `truncate` rounded down for a, up for b; b = a + 0.001 where both are equal.
            Attention 0.1 ln s + 1 for s > 1. Peng et al., 2023, "YaRN" */
  POSENC_SCALING_LLAMA3 =
      4, /* with t = N w / 2π turns: w where t > high, w / s where t < low, else w ((1 - g) / s + g), g = (t - low)/(high - low).
            Llama 3.1, 2024 */
  POSENC_SCALING_LONGROPE =
      5, /* w / factors[i]. Attention sqrt(1 + ln s / ln N) for s > 1. Ding et al., 2024, "LongRoPE" */
} posenc_scaling_kind;

typedef struct posenc_scaling {
  posenc_scaling_kind kind;
  double factor;    /* s, 1 to 2^20 */
  int64_t original; /* N, 2 to 2^40: positions that the model was trained on; all but linear */
  int64_t length;   /* n, 0 to 2^40: of the sequence; dynamic, of a dim of 4 or more */
  double low,
      high; /* yarn: rotations, beta_slow and beta_fast, 1 and 32, of a base of 2 or more; llama3: 1 and 4. 2^-10 <= low < high <= 2^20, and not closer than 0.1 % */
  bool truncate; /* yarn */
  double
      attention; /* 2^-10 to 2^10: the attention factor of this table; 0: the formula's, which is 1 where it tells none */
  const double *factors; /* longrope: dim/2 of them, 2^-8 to 2^20; posenc_plan_create copies them */
} posenc_scaling;

/* Row without position: no row of the table is a padding row. */
#define POSENC_NO_PADDING INT64_MIN

typedef struct posenc_problem {
  size_t size;     /* sizeof(posenc_problem) as the caller compiled it: the struct may grow */
  int64_t rows;    /* >= 0; 0 is an empty table */
  int64_t dim;     /* columns, >= 2, and even unless `odd` says what becomes of the last one */
  int64_t first;   /* position of row 0; row r is position first + r */
  double base;     /* > 0, finite; 10000 in the paper */
  double shift;    /* exponent denominator is dim/2 - shift: 0 in the paper, 1 in tensor2tensor,
                      fairseq and Whisper; dim/2 - shift > 0 */
  int64_t padding; /* the position whose row is all zeros (fairseq), or POSENC_NO_PADDING; no such thing in rope */
  posenc_layout
      layout; /* of the table, and of the one that is added. In rope it tells pairs: POSENC_INTERLEAVED takes neighbours (GPT-J),
                           POSENC_SPLIT columns i and dim/2 + i (GPT-NeoX) */
  posenc_dtype
      dtype; /* of the table; an exact value is rounded to it once, never by way of another. Of x and of what becomes of it
                           in add and rope: f32 or bf16 */
  posenc_op op;
  int64_t heads;          /* of rope; 1 in the others */
  bool inverse;           /* rope turns back, by the negative angle */
  double scale;           /* of angles, > 0: 0.5 in the interpolation of 2048 positions to 4096 */
  posenc_scaling scaling; /* of frequencies, beside it */
  posenc_odd odd;         /* not in rope */
  const double *
      positions; /* null, or of each row, in any order, within ±2^62: `first` is then 0. The bits of a whole position are those that the same
                              kernel, if it is reproducible, gives in a table. posenc_plan_create copies them */
} posenc_problem;

/* The paper's table: positions 0 .. rows-1, base 10000, interleaved, f32. Change what differs. */
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
  problem.scaling.kind = POSENC_SCALING_NONE;
  problem.scaling.factor = 1.0;
  problem.scaling.original = 0;
  problem.scaling.length = 0;
  problem.scaling.low = 1.0;
  problem.scaling.high = 32.0;
  problem.scaling.truncate = true;
  problem.scaling.attention = 0.0;
  problem.scaling.factors = NULL;
  problem.odd = POSENC_ODD_REFUSED;
  problem.positions = NULL;
  return problem;
}

/* The paper's table, added to x of shape (rows, dim). */
static inline posenc_problem posenc_add(int64_t rows, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ADD;
  return problem;
}

/* Rotary embedding of x of shape (rows, heads, dim), neighbours as pairs. Source: Su et al., "RoFormer", 2021, section 3.4.2. */
static inline posenc_problem posenc_rope(int64_t rows, int64_t heads, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ROPE;
  problem.heads = heads;
  return problem;
}

/* The two tables of shape (rows, dim) that Hugging Face's models keep for rope. Layout interleaved has each value twice in succession, as
   GPT-J's have; split has each once, in dim/2 columns. */
static inline posenc_problem posenc_rope_tables(int64_t rows, int64_t dim) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = POSENC_ROPE_CACHE;
  problem.layout = POSENC_DUPLICATED;
  return problem;
}

/* A base for sequences of some length: the longest wave of a wide table is 2π base, ten times that length. */
static inline double posenc_base_for(double length) {
  return length * (10.0 / 6.283185307179586);
}

/* Null if the problem has an answer, else what is wrong with it, in a few words of static storage. */
POSENC_API const char *posenc_problem_refusal(const posenc_problem *problem);

/* The table that an operation works with: of add and rope it is f32, and of rope and its cache it has the cosine first. Of a table:
   itself. Of null: a problem that is refused. */
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

/* Bytes of the whole table, or of one sequence of x: rows * heads * dim * element size; of a rope cache, those of each of its two tables, half
   of that for the layout split. */
POSENC_API posenc_status posenc_table_bytes(const posenc_problem *problem, size_t *bytes);

/* Bytes of one element; 0 for what is no dtype. */
POSENC_API size_t posenc_dtype_bytes(posenc_dtype dtype);

/* Column of sin and of cos of frequency index 0; the next index is `step` columns further. All are 0 of what is no layout. */
typedef struct posenc_columns {
  int64_t sin, cos, step;
} posenc_columns;
POSENC_API posenc_columns posenc_layout_columns(posenc_layout layout, int64_t dim);

/* ---- instruction sets -------------------------------------------------------------------------- */

/* Tiers, as bits of a set. A kernel needs one; a caller may allow some. */
#define POSENC_ISA_GENERIC 1u /* what the compiler was told to target */
#define POSENC_ISA_AVX2 2u    /* AVX2, FMA and F16C */
#define POSENC_ISA_AVX512 4u  /* AVX-512 F, VL, DQ, BW */
#define POSENC_ISA_ALL 7u

/* Tiers that this CPU has (CPUID) and this system saves (XCR0). */
POSENC_API unsigned posenc_isa_detect(void);

/* "generic,avx2" is just those tiers; "-avx512" is all but that one. False if a word is no tier, or an argument is null. */
POSENC_API bool posenc_isa_parse(const char *text, unsigned *isa);

/* Name of a single tier; null for anything else. */
POSENC_API const char *posenc_isa_name(unsigned isa);

/* ---- kernels: who ------------------------------------------------------------------------------ */

/*
 * What a kernel promises: for every element of every position p with |p| <= max_position, base >= 1,
 *
 *     |got - exact| <= ulp * ulp(exact) + abs + growth * |p|
 *
 * where p is counted in units of 1/scale, and ulp(exact) is the spacing of the table's dtype in the binade of the exact value. `abs` is there
 * because a kernel with a fixed absolute error has no finite bound in ulp near a zero of sine.
 */
typedef struct posenc_bound {
  double ulp;
  double abs;
  double growth;        /* per position */
  int64_t max_position; /* the bound's domain */
  bool derived;         /* true: proved from the arithmetic. false: none claimed, the figures are twice
                           what was measured, and only show how the error grows */
} posenc_bound;

/* The largest error that the bound allows at a position, for any element of a table without an attention factor: ulp is that just below 1, and only cos 0 is
   not below. With a factor A a table is made from one of f64 and rounded once: A × (the bound in f64 + 2^-51), and half an ulp of the exact value.
   NaN without a bound or a dtype. */
POSENC_API double posenc_bound_at(const posenc_bound *bound, posenc_dtype dtype, int64_t position);

/*
 * What add and rope promise follows from the table's bound: the largest |got - exact| for an exact result, given x, of that size. Of add
 * that is |x + PE|; of rope the length of the pair, sqrt(a² + b²). The table's element, rounded to f32, may be wrong by its bound e; then
 * f32 rounds a sum (2^-24 of it), or two products and their sum (2^-23 of the length, by Cauchy); bf16 rounds once more (2^-8 of it).
 * Subnormal results add half their spacing. As long as nothing overflows. An attention factor is taken into account: in rope the size is that of the
 * result, which has it. NaN without a bound, for what is neither add nor rope, and for a size that is negative or NaN.
 */
POSENC_API double posenc_applied_bound_at(const posenc_bound *bound, const posenc_problem *problem, int64_t position,
                                          double size);

typedef struct posenc_options posenc_options;
typedef struct posenc_wisdom posenc_wisdom;

/* Interface version of the struct below; a kernel built for another one is refused. */
#define POSENC_KERNEL_ABI 4u

/* A number that one double cannot hold: the sum of two. */
typedef struct posenc_sum {
  double high, low;
} posenc_sum;

/* What a kernel makes on the way to one pair: it tells where its error comes from. Each is the value that the kernel really
   works with, its own errors included. */
typedef struct posenc_stages {
  posenc_sum
      frequency; /* its base^(-i / denominator), scaled as the problem says, radians per position; whole turns may be missing */
  posenc_sum phase;        /* its position × frequency, radians; whole turns may be missing */
  posenc_sum sine, cosine; /* of that phase, just before they are rounded to the table's dtype */
} posenc_stages;

/* Which rows of a problem add and rope are applied to. */
typedef struct posenc_slice {
  size_t size;          /* sizeof(posenc_slice) as the caller compiled it */
  int64_t row, rows;    /* rows [row, row + rows) of the problem; or, */
  const int64_t *index; /* if not null, its rows index[0] … index[rows - 1], in any order */
  int64_t batch;        /* so many sequences, each of those rows */
  int64_t
      stride; /* elements from one sequence to the next, in x and in the result, rows * heads * dim or more; 0: just those */
} posenc_slice;

/* Rows [row, row + rows) of one sequence. Change what differs. */
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

/* A kernel and its contract. Tests, benchmarks, documentation and report read this one place. */
typedef struct posenc_kernel {
  uint32_t abi;           /* POSENC_KERNEL_ABI */
  unsigned isa;           /* the tier it needs; of several, one will do; 0: only what the kernel that it runs needs */
  const char *name;       /* 1 to 31 lower case letters, digits and hyphens, in parts between slashes: what has
                             one is selected only by a pattern that has one too */
  const char *summary;    /* one line */
  const char *algorithm;  /* how, in a sentence or two */
  const char *provenance; /* author, paper or project, year */
  posenc_bound bound;
  const char *basis;  /* where the bound comes from, in one line */
  bool reproducible;  /* same bits on every ISA, compiler, libm and thread count */
  bool threaded;      /* uses options->threads threads */
  bool scales;        /* follows the problem's scale and scaling; others are not asked for tables with such */
  bool keeps_rows;    /* its plan holds the whole table: what execute takes is that of a copy */
  const char *absent; /* why this build lacks it, or null */

  /* In all of these but apply the problem is a table with an even dim, without a list of positions, and with no attention factor to mind: the
     library makes the others of such. `row` may be any number, even one that the table lacks. */

  /* Null if it can do the (valid) problem, else why not, in static storage: a dtype that it does not write, say. */
  const char *(*can_do)(const posenc_problem *problem);
  /* Computes what depends only on the problem. Called once per plan; *constants is null before. */
  posenc_status (*prepare)(const posenc_problem *problem, const posenc_options *options, void **constants);
  /* Writes rows [row, row + rows) of the table to `out`, which points at row `row`; rows are packed.
     Several threads may be in here with the same constants. The padding row is not its business. */
  void (*execute)(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out);
  /* Frees what prepare made; null if there is nothing to free. */
  void (*release)(void *constants);
  /* What it makes on the way to the same rows: the stages of dim/2 pairs for each, by frequency index, packed. Everything
     else is as for execute. Null, or false, if it does not expose them. */
  bool (*stages)(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                 posenc_stages *stages);

  /* Add or rope, which the problem is, of a checked slice whose stride is not 0; x and out as in posenc_apply. Null: the library asks
     execute for some rows at a time, and applies those. Either way the kernel's bound is kept: see posenc_applied_bound_at. The padding row
     is its business. */
  posenc_status (*apply)(const void *constants, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                         void *out);
} posenc_kernel;

/* All kernels of the library, the fast ones first. Static storage. */
POSENC_API const posenc_kernel *const *posenc_kernels(size_t *count);

/* The kernel of that name, or null. */
POSENC_API const posenc_kernel *posenc_kernel_find(const char *name);

/* Null if the kernel can do the problem here under these options, else why not, in static storage.
   problem null: can it run at all. options null: the defaults. */
POSENC_API const char *posenc_kernel_refusal(const posenc_kernel *kernel, const posenc_problem *problem,
                                             const posenc_options *options);

/* ---- plan: the two bound ----------------------------------------------------------------------- */

/* How rows reach memory, in kernels that have both ways. The bits are the same. */
typedef enum posenc_stores {
  POSENC_STORES_AUTO = 0,    /* streaming where the rows of one posenc_execute are too large for the caches */
  POSENC_STORES_REGULAR = 1, /* through the caches: right for whoever reads the rows soon */
  POSENC_STORES_STREAMING =
      2, /* past them wherever `out` and dim are aligned for it: right beside data that should stay */
} posenc_stores;

struct posenc_options {
  size_t size;                 /* sizeof(posenc_options) as the caller compiled it */
  const posenc_kernel *kernel; /* null: of the kernels within max_abs and max_ulp that run here, the fastest for a
                                  problem of this size and dtype, one sequence: by a built-in order of cost, nothing is
                                  measured */
  double max_abs;       /* largest |got - exact| of an element of the table, posenc_table_of's for add and rope, that
                                  is accepted when the library chooses. 0: any if there is a max_ulp,
                                  else the default, one ulp just below 1 (f32 2^-24, f16 2^-11, bf16 2^-8), and 2^-44
                                  for f64; with an attention factor as many times that as the power of two above it */
  double max_ulp;       /* the same in ulp of the exact element. 0: no such
                                  wish. 0.5 is correct rounding. Only kernels without an absolute error, of which
                                  there are none for f64, promise anything of the kind: see posenc_bound */
  int threads;          /* for threaded kernels. 0: as many as OpenMP gives; at most four per processor
                                  are started, and no more than posenc_threads tells. The library chooses a threaded kernel only where this is not 1, and
                                  the table is large enough to pay for starting threads */
  unsigned isa;         /* allowed tiers. 0: the environment's POSENC_ISA, or else all */
  posenc_stores stores; /* of posenc_execute; add and rope store regularly */
  const posenc_wisdom *
      wisdom; /* null, or times measured here before: the choice follows them where they know the problem. Read while a plan
                                  is created, not later */
};

/* The defaults: the library chooses, one thread. */
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

/* options null: the defaults. On failure *plan is null. The problem is copied. */
POSENC_API posenc_status posenc_plan_create(posenc_plan **plan, const posenc_problem *problem,
                                            const posenc_options *options);

/* Of a table: writes rows [row, row + rows) to `out`: rows * dim elements, packed, first the row `row`.
   `out` needs the alignment of its element type, no more. */
POSENC_API posenc_status posenc_execute(const posenc_plan *plan, int64_t row, int64_t rows, void *out);

/*
 * Add or rope of the slice: x holds batch × rows × heads × dim elements, and so does out. In place if out is x; else they must not
 * overlap. Both need the alignment of their element type, no more.
 */
POSENC_API posenc_status posenc_apply(const posenc_plan *plan, const posenc_slice *slice, const void *x, void *out);

/* Writes the stages of rows [row, row + rows): rows * dim/2 pairs, by frequency index, packed; of the padding row they are
   all 0. False if the plan's kernel does not expose them, or there are no such rows. */
POSENC_API bool posenc_plan_stages(const posenc_plan *plan, int64_t row, int64_t rows, posenc_stages *stages);

/* Of a rope cache: rows [row, row + rows) of its two tables, packed. Either may be null, which is then left out. */
POSENC_API posenc_status posenc_rope_cache(const posenc_plan *plan, int64_t row, int64_t rows, void *cosines,
                                           void *sines);

/* What all values of the problem's table are multiplied by: 1, unless its scaling has an attention factor; NaN if its scaling is none. */
POSENC_API double posenc_attention(const posenc_problem *problem);

/* Null is allowed. */
POSENC_API void posenc_plan_destroy(posenc_plan *plan);

/* What the plan was made of: the problem, and the kernel that executes it. */
POSENC_API const posenc_problem *posenc_plan_problem(const posenc_plan *plan);
POSENC_API const posenc_kernel *posenc_plan_kernel(const posenc_plan *plan);

/* ---- wisdom: what was measured on this machine --------------------------------------------------- */

/*
 * `posenc choose --keep FILE` writes down what each kernel took. A plan that is made with it takes the fastest kernel, within the accuracy asked for, by
 * these times, if its problem is like one that was measured: the same operation, dtype, layout, dim, heads, base and threads, and at most twice as
 * many rows or half as many; else, as ever, by the built-in order of cost. What was measured on another CPU, or by another version of the library, is
 * left out. POSENC_BAD_FILE if there is no such file, or it is no wisdom; then *wisdom is null.
 */
POSENC_API posenc_status posenc_wisdom_read(posenc_wisdom **wisdom, const char *path);

/* Measurements that are of this machine and version; null has none. */
POSENC_API size_t posenc_wisdom_count(const posenc_wisdom *wisdom);

/* Null is allowed. No plan may be under creation with it. */
POSENC_API void posenc_wisdom_free(posenc_wisdom *wisdom);

/* For whoever writes such a file: its first line; and a line for a measurement, as snprintf does: -1 for null, or for seconds that are no time. */
POSENC_API const char *posenc_wisdom_header(void);
POSENC_API int posenc_wisdom_line(char *text, size_t size, const posenc_problem *problem, int threads,
                                  const char *kernel, double seconds);

/* What measurements belong to: version, instruction sets and the CPU's name. Writes at most `size` bytes, always terminated. */
POSENC_API void posenc_machine(char *text, size_t size);

/* ---- encoder: a table that grows ---------------------------------------------------------------- */

/*
 * For decoding: the rows of a table, made as they are needed, any number of them.
 *
 *     posenc_encoder *encoder;
 *     if (posenc_encoder_create(&encoder, &problem, NULL) != POSENC_OK) ...
 *     posenc_encoder_append(encoder, 1);
 *     row = (const float *)posenc_encoder_rows(encoder, &count) + (count - 1) * dim;
 *
 * They have the bits that posenc_execute gives, also beyond problem->rows, which is only what is planned for. Not for a list of positions.
 * One thread at a time.
 */
typedef struct posenc_encoder posenc_encoder;

POSENC_API posenc_status posenc_encoder_create(posenc_encoder **encoder, const posenc_problem *problem,
                                               const posenc_options *options);

/* Makes `rows` more. On failure the encoder is as it was. */
POSENC_API posenc_status posenc_encoder_append(posenc_encoder *encoder, int64_t rows);

/* All rows so far, packed; valid until the next append. *count, unless null, is how many. Null while there are none. */
POSENC_API const void *posenc_encoder_rows(const posenc_encoder *encoder, int64_t *count);

/* Null is allowed. */
POSENC_API void posenc_encoder_destroy(posenc_encoder *encoder);

/* ---- memory ------------------------------------------------------------------------------------ */

/* Memory for a table; any other will do, but new memory of this kind is faster to write: aligned to 64 bytes, and from 1 MiB on to
   2 MiB and advised for huge pages where the system has them. Its content is undefined. Null when memory runs out; 0 bytes are
   allowed. To be freed with posenc_free alone, which takes null. */
POSENC_API void *posenc_alloc(size_t bytes);
POSENC_API void posenc_free(void *memory);

/* ---- threads ------------------------------------------------------------------------------------ */

/* Of `wanted` threads, the caller among them, as many as this process can have at once: it starts the others, and they end. At least 1.
   OpenMP's libraries end the process where a thread cannot be started. A threaded kernel asks before it has a team that is larger than the calling
   thread's last, and does with fewer, which changes no bit; between that and its start others may still take what there was. */
POSENC_API int posenc_threads(int wanted);

/* ---- other encodings ----------------------------------------------------------------------------- */

/*
 * What else positions are encoded by. Each has one call, which needs no plan, and a contract. Positions are the rows of a slice: row, row + 1
 * … or those of its index, in any order.
 *
 *     posenc_slice positions = posenc_rows(0, 512);
 *     posenc_binary(&positions, 64, POSENC_F32, table);
 *
 * A value is the exact one, rounded to its dtype once, to nearest, ties to even. What is too large for f16, from 65520 on, becomes infinity, as
 * IEEE 754 has it; all finite results fit the other dtypes.
 */
typedef struct posenc_encoding {
  const char *name;       /* lower case letters and hyphens */
  const char *summary;    /* one line */
  const char *formula;    /* of an element, in one line */
  const char *call;       /* the function that computes it */
  const char *provenance; /* author, paper or project, year */
  bool by_kernels;        /* its bound is that of the kernel that a plan has: see posenc_kernels. Else it is */
  posenc_bound bound;     /* this one */
  const char *basis;      /* where the bound comes from, in one line */
  bool reproducible;      /* same bits on every ISA, compiler, libm and thread count; of a kernel: its contract tells */
} posenc_encoding;

/* All of them, sinusoidal and rope first. Static storage. */
POSENC_API const posenc_encoding *const *posenc_encodings(size_t *count);

/* The one of that name, or null. */
POSENC_API const posenc_encoding *posenc_encoding_find(const char *name);

/* Integer: all `dim` elements of a row are its position, any 64-bit number. `out` has rows × dim elements, packed; the slice has one
   sequence. */
POSENC_API posenc_status posenc_integer(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);

/* Binary: column j of a row is bit j of its position, the least significant first: 200, which is 11001000, becomes 0 0 0 1 0 0 1 1. From
   column 63 on it is 0: positions are >= 0, and a negative one is a bad argument. Else as posenc_integer. */
POSENC_API posenc_status posenc_binary(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);

/* A table that somebody has trained: `count` rows of `dim` elements, packed. */
typedef struct posenc_learned_table {
  size_t size; /* sizeof(posenc_learned_table) as the caller compiled it */
  const void *rows;
  int64_t count, dim;
  posenc_dtype dtype;
} posenc_learned_table;

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
 * Learned: the table's row of each position, written to `out`, of any dtype; or, unless x is null, x + that row, of f32 or bf16. The positions
 * are 0 .. count-1; if one is not, that is a bad argument, and nothing is written. Batch and stride of the slice are as in posenc_apply: x and
 * `out` hold batch × rows × dim elements, and may be the same.
 */
POSENC_API posenc_status posenc_learned(const posenc_learned_table *table, const posenc_slice *positions,
                                        posenc_dtype dtype, const void *x, void *out);

/*
 * ALiBi, the bias that is added to attention scores: of head h, the query at position i and the key at position j it is -m_h |i - j|. The slopes
 * m_1 … m_H are 2^(-8h/H) where the number of heads H is a power of two; else those of the next power n below it, and behind them every other slope
 * of 2n, from its first on. Source: Press et al., "Train Short, Test Long", 2021, and the code of its authors.
 */
typedef struct posenc_alibi {
  size_t size;            /* sizeof(posenc_alibi) as the caller compiled it */
  int64_t heads;          /* H of the model, 1 .. 2^20 */
  int64_t head, count;    /* those that are written: [head, head + count) of 0 .. H-1 */
  int64_t query, queries; /* positions [query, query + queries) */
  int64_t key, keys;      /* likewise. No distance exceeds 2^53 */
  posenc_dtype dtype;
} posenc_alibi;

/* All heads, all queries and keys at positions 0 .. length-1. For decoding, change query and queries. */
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

/* Writes the bias, of shape (count, queries, keys), packed. Zero is +0. */
POSENC_API posenc_status posenc_alibi_bias(const posenc_alibi *bias, void *out);

/* The slope m of head 0 .. heads-1, within 2^-97 of itself, high rounded to nearest; NaN if there is no such head. */
POSENC_API posenc_sum posenc_alibi_slope(int64_t heads, int64_t head);

/*
 * Dropout of what add gives: an element is dropped, which makes it 0, with probability q; else it is multiplied by 1/(1-q). Whether it is dropped
 * depends on the seed, its sequence, its position and its column alone: threads, pieces and their order change nothing. It is where
 * u < q 2^32, rounded to nearest, half up, where u is word (column / 8) % 4 of Philox4x32-10 with the key (seed mod 2^32, seed / 2^32) and the
 * counter (8 (column / 32) + column % 8, sequence, position mod 2^32, position / 2^32). Source: Srivastava et al., 2014, "Dropout"; Salmon et
 * al., 2011, "Parallel Random Numbers: As Easy as 1, 2, 3".
 */
typedef struct posenc_dropout {
  size_t size; /* sizeof(posenc_dropout) as the caller compiled it */
  uint64_t seed;
  double first,
      last; /* q of column 0 and of the last one, 0 <= q <= 1 - 2^-32: first + (last - first) * (column / (dim - 1)), in doubles */
  int64_t sequence; /* number of the slice's first sequence, which the others follow, below 2^32 */
} posenc_dropout;

/* One probability for all columns. For a ramp, change `last`. */
static inline posenc_dropout posenc_dropout_of(double probability, uint64_t seed) {
  posenc_dropout dropout;
  dropout.size = sizeof dropout;
  dropout.seed = seed;
  dropout.first = dropout.last = probability;
  dropout.sequence = 0;
  return dropout;
}

/* posenc_apply of a plan that adds, with dropout: its result, times 1/(1-q) in double rounded to f32, rounded to f32 and, of bf16, once more.
   A row's position is the problem's first + row. */
POSENC_API posenc_status posenc_apply_dropout(const posenc_plan *plan, const posenc_slice *slice,
                                              const posenc_dropout *dropout, const void *x, void *out);

/* The mask alone: for each sequence of the slice, whose rows are positions here, and each column a byte, 1 to keep, 0 to drop; packed. */
POSENC_API posenc_status posenc_dropout_mask(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                             unsigned char *keep);

#ifdef __cplusplus
}
#endif

/* ---- plugins: kernels of others ---------------------------------------------------------------- */

/*
 * Makes a shared object a plugin of the posenc command (--plugin FILE). Once in the object, at file scope, with pointers
 * to the kernels:
 *
 *     static const posenc_kernel mine = {.abi = POSENC_KERNEL_ABI, .name = "mine", ...};
 *     POSENC_PLUGIN(&mine);
 *
 * `posenc_plugin_abi` is read before anything that depends on it; `posenc_plugin_kernels` ends with a null.
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
