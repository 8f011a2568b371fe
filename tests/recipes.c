/* SPDX-License-Identifier: MIT */
/* Tests recipes: the errors of each are within its measured figures, and of the known order of magnitude. */
#include "impls/recipes/recipes.h"
#include "impls/recipes/recipe.h"
#include "tests/asked.h"
#include "tests/library.h"
#include "verify/verify.h"

#include <stdlib.h>
#include <string.h>

static const record_accuracy *verified_recipes(const shape *shapes, size_t count) {
  const run_request how = {.threads = 1,
                           .silence = VERIFY_DEFAULT_SILENCE,
                           .exam = {.seed = 11, .budget = VERIFY_DEFAULT_BUDGET, .brief = true}};
  size_t kernel_count;
  const posenc_kernel *const *kernels = recipes_kernels(&kernel_count);
  return verified(how, kernels, kernel_count, shapes, count);
}

static void test_contracts(void) {
  size_t count;
  const posenc_kernel *const *kernels = recipes_kernels(&count);
  for (size_t k = 0; k < count; k++)
    ok(strncmp(kernels[k]->name, "recipe/", strlen("recipe/")) == 0 && !kernels[k]->bound.derived &&
           !kernels[k]->reproducible && kernels[k]->stages && !posenc_kernel_find(kernels[k]->name),
       "%s claims nothing, tells its stages, and is not in the library", kernels[k]->name);
}

/* Returns how many tables a recipe has at least, of which `scaled` have a scaling. One that needs a scale has only the
   grids. */
static int least_of(const posenc_kernel *kernel, int scaled) {
  if (kernel->can_do == recipe_of_hf) return scaled / 2 + 6;
  if (kernel->attends) return 24;
  return kernel->scales ? 3 : 6;
}

/* Tests positions around 0 and powers of two, up to those of the measured figures; narrow and wide tables, all layouts,
   with and without a padding row. */
static void test_figures(void) {
  static const int64_t firsts[] = {-100, 4090, 131072, (1 << 20) - 300};
  static const double bases[] = {1e4, 5e5, 1e6, 1e7};
  static const int64_t dims[] = {4, 130, 512};
  shape shapes[72];
  size_t count = 0;
  for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
      for (int shift = 0; shift <= 1; shift++, count++) {
        posenc_problem problem = table_of(300, dims[d], firsts[f], bases[count / 2 % 4], (double)shift);
        problem.layout = (posenc_layout)(count % 4);
        if (shift) problem.padding = firsts[f] + 1;
        shapes[count] = shape_of(&problem);
      }
  for (int64_t size = 14; size <= 64; size += 25, count += 2) { /* centres of cells in turns, and quotients */
    posenc_problem problem = table_of(2 * size, 128, -size, 1e4, 0.0);
    problem.scaling.kind = POSENC_SCALING_LINEAR;
    problem.scaling.factor = (double)size / 16.0 + 1.0;
    shapes[count] = shape_of(&problem);
    problem.base = 100.0;
    problem.scale = 0x1.921fb54442d18p+2;
    problem.scaling.factor = (double)size;
    shapes[count + 1] = shape_of(&problem);
  }
  const size_t unscaled = count;
  double factors[64];
  for (int n = 0; n < 64; n++) factors[n] = 1.0 + 0.4 * n;
  const posenc_scaling scalings[] = {posenc_scaling_linear(3.7), posenc_scaling_dynamic(2.5, 2048, 5000),
                                     posenc_scaling_yarn(4.0, 4096), posenc_scaling_llama3(8.0, 8192),
                                     posenc_scaling_longrope(32.0, 4096, factors)};
  for (size_t s = 0; s < sizeof scalings / sizeof *scalings; s++)
    for (size_t f = 0; f < sizeof firsts / sizeof *firsts; f++)
      for (int half = 0; half <= 1; half++, count++) {
        posenc_problem problem = table_of(300, 128, firsts[f], bases[(s + f) % 4], 0.0);
        problem.scaling = scalings[s];
        problem.scaling.truncate = f % 2;
        if (half) problem.dtype = f % 2 ? POSENC_F16 : POSENC_BF16;
        shapes[count] = shape_of(&problem);
      }
  const record_accuracy *record = verified_recipes(shapes, count);
  size_t kernel_count;
  const posenc_kernel *const *kernels = recipes_kernels(&kernel_count);
  for (size_t k = 0; k < kernel_count; k++) {
    int held = 0, broken = 0;
    RECORD_EACH(one, record, records) {
      if (strcmp(one->kernel, kernels[k]->name) != 0 || record_is_text(one->refusal)) continue;
      held++;
      RECORD_EACH(check, one, checks) {
        if (check->ok || check->skipped) continue;
        broken++;
        printf("# %s %s: %s %s\n", one->kernel, one->shape.name, check->property, check->note);
      }
    }
    ok(held >= least_of(kernels[k], (int)(count - unscaled)) && !broken, "%s within its figures on %d tables",
       kernels[k]->name, held);
  }
  record_free(record);
}

/* The largest errors up to a position, dim 128, base 1e4, as known of frameworks: of f32 recipes together, of ggml's
   recurrence, and of recipes in double. */
typedef struct order {
  int64_t first, rows;
  double f32, ggml, f64;
} order;

static double largest(const record_accuracy *record, const char *const *names, size_t count) {
  double worst = 0.0;
  RECORD_EACH(one, record, records)
    for (size_t n = 0; n < count; n++)
      if (strcmp(one->kernel + strlen("recipe/"), names[n]) == 0) worst = fmax(worst, one->max_abs.abs);
  return worst;
}

static bool about(double x, double known) {
  return x >= known / 2 && x <= known * 2;
}

static void test_orders(void) {
  static const order orders[] = {{0, 4096, 2e-4, 2.4 * 2e-4, 3e-8},
                                 {32768 - 2048, 2048, 2e-3, 2.4 * 2e-3, 3e-8},
                                 {131072 - 2048, 2048, 8e-3, 2.4 * 8e-3, 3e-8},
                                 {(1 << 20) - 2048, 2048, 6e-2, 2.4 * 6e-2, 3e-8}};
  static const char *const f32[] = {"annotated", "ddpm-timestep", "hf-rope",  "gemma-cpp",
                                    "maxtext",   "mlx",           "deepspeed"},
                           *const ggml[] = {"ggml-rope"}, *const f64[] = {"xlm", "flux"},
                           *const controls[] = {"bf16-positions", "bf16-inv", "all-bf16", "tf32-product"};
  for (size_t n = 0; n < sizeof orders / sizeof *orders; n++) {
    const posenc_problem problem = table_of(orders[n].rows, 128, orders[n].first, 1e4, 0.0);
    const shape of = shape_of(&problem);
    const record_accuracy *record = verified_recipes(&of, 1);
    const double in_f32 = largest(record, f32, sizeof f32 / sizeof *f32), recurred = largest(record, ggml, 1),
                 in_f64 = largest(record, f64, 2);
    const int below = (int)(orders[n].first + orders[n].rows);
    ok(about(in_f32, orders[n].f32), "f32 recipes below %d: %.2g", below, in_f32);
    ok(about(recurred, orders[n].ggml), "ggml's recurrence below %d: %.2g", below, recurred);
    ok(about(in_f64, orders[n].f64), "angles in double below %d: %.2g", below, in_f64);
    for (size_t c = 0; c < sizeof controls / sizeof *controls; c++) {
      const double lost = largest(record, &controls[c], 1);
      ok(lost > 0.5, "%s below %d is worth nothing: %.2g", controls[c], below, lost);
    }
    record_free(record);
  }
}

/* Tests that the model of CUDA's fast sine is within the bound that NVIDIA documents, and nearly reaches it, at integer
   angles up to 100π. */
static void test_fast_sines(void) {
  enum { ROWS = 315 };
  static const char *const names[] = {"recipe/flashinfer", "recipe/ggml-cuda-fast"};
  size_t count;
  const posenc_kernel *const *kernels = recipes_kernels(&count);
  for (size_t k = 0; k < count; k++) {
    if (strcmp(kernels[k]->name, names[0]) != 0 && strcmp(kernels[k]->name, names[1]) != 0) continue;
    const posenc_problem problem = table_of(ROWS, 2, 0, 1.0, 0.0);
    float rows[2 * ROWS];
    posenc_plan *plan = plan_or_skip(kernels[k]->name, kernels[k], &problem);
    double near = 0.0, far = 0.0;
    posenc_execute(plan, 0, ROWS, rows);
    for (int p = 0; p < ROWS; p++) {
      const double error = fmax(fabs((double)rows[2 * p] - sin(p)), fabs((double)rows[2 * p + 1] - cos(p)));
      if (p <= 6) near = fmax(near, error);
      far = fmax(far, error);
    }
    ok(near <= 0x1.6ap-21 && far <= 0x1.3bp-15 && far > 0x1p-17,
       "%s: sines of angles to 2π within %.2g, of 2^-20.5, and to 100π within %.2g, of 2^-14.7", kernels[k]->name, near,
       far);
    posenc_plan_destroy(plan);
  }
}

/* Tests a request that is extended by another one, with which it has a shape and a recipe in common. */
static void test_extended(void) {
  size_t count, all;
  const posenc_kernel *const *kernels = recipes_kernels(&all), *const *shipped = recipes_shipped(&count);
  const posenc_problem one = table_of(4, 4, 0, 1e4, 0.0), two = table_of(4, 4, 4, 1e4, 0.0);
  const shape shapes[] = {shape_of(&one), shape_of(&two)};
  const run_request how = {.silence = VERIFY_DEFAULT_SILENCE, .exam = {.budget = 64, .brief = true}};
  run_request request = asked_of(how, kernels, 1, shapes, 2), more = asked_of(how, kernels, 2, shapes + 1, 1);
  more.items[1].profile = RUN_POINTS;
  run_extend(&request, &more);
  const record_accuracy *record = verify_run(&request);
  if (!record) abort();
  bool same = count < all;
  for (size_t i = 0; i < count; i++) same = same && shipped[i] == kernels[i];
  ok(same, "those that a report shows, %zu of %zu, are the first of all", count, all);
  ok(record->kernels_count == 2, "a kernel of both requests is named once");
  static const int rows[] = {0, 4, 4};
  bool ordered = record->records_count == 3;
  for (size_t i = 0; ordered && i < 3; i++)
    ordered =
        record->records[i].shape.first == rows[i] && strcmp(record->records[i].kernel, kernels[i == 2]->name) == 0;
  ok(ordered, "what was found comes shape by shape, kernel by kernel, each once");
  ok(record->profile_count == 1 && !record->profile->has_rows && strcmp(record->profile->kernel, kernels[1]->name) == 0,
     "only the kernel whose errors against position are asked for has them, and no scan");
  record_free(record);
  run_free(&more);
  run_free(&request);
}

static void bound_is(const posenc_kernel *kernel, const posenc_problem *problem, double ulp, double abs_error,
                     double growth, const char *what) {
  const posenc_bound got = posenc_kernel_bound(kernel, problem);
  ok(got.ulp == ulp && got.abs == abs_error && got.growth == growth, "%s: %g ulp, %a, and %g per position", what,
     got.ulp, got.abs, got.growth);
}

/* Tests the bounds of rows of f32 that are rounded again, of values up to 1, and up to 2A where the kernel has
   multiplied them by A. */
static void test_bounds(void) {
  posenc_problem problem = table_of(4, 4, 0, 1e4, 0.0);
  const double growth = recipe_hf_rope.bound.growth, ulp = recipe_hf_rope.bound.ulp;
  posenc_kernel aside = recipe_hf_rope;
  aside.attends = false;
  bound_is(&recipe_hf_rope, &problem, ulp, 0.0, growth, "f32");
  problem.dtype = POSENC_BF16;
  bound_is(&recipe_hf_rope, &problem, 0.5, 1.5 * ulp * 0x1p-24, 1.5 * growth, "bf16");
  problem.scaling.attention = 1.25;
  bound_is(&recipe_hf_rope, &problem, 0.5, 1.5 * ulp * 0x1p-23, 1.5 * growth, "bf16, times a factor in the kernel");
  bound_is(&aside, &problem, 0.5, 1.5 * ulp * 0x1p-24, 1.5 * growth, "bf16, times a factor in the library");
  problem.dtype = POSENC_F32;
  bound_is(&recipe_hf_rope, &problem, ulp, 0.0, growth, "f32, times a factor in the kernel");
  bound_is(&aside, &problem, 0.5, 1.5 * ulp * 0x1p-24, 1.5 * growth, "f32, times a factor in the library");
  problem.op = POSENC_ROPE;
  problem.heads = 1;
  const double once = posenc_applied_bound_at(&(posenc_bound){.ulp = 0.5}, &problem, 0, 1.25),
               four = posenc_applied_bound_at(&(posenc_bound){.ulp = 2.0}, &problem, 0, 1.25);
  ok(four - once > 0x1p-23, "rope, times a factor: %a with 0.5 ulp, %a with 2", once, four);
}

static void refused_by(const posenc_kernel *kernel, const posenc_problem *problem, const char *why, const char *what) {
  const char *got = posenc_kernel_refusal(kernel, problem, NULL);
  ok(why ? got && strstr(got, why) : !got, "%s: %s", what, got ? got : "allowed");
}

static void refused(const posenc_problem *problem, const char *why, const char *what) {
  refused_by(&recipe_hf_rope, problem, why, what);
}

/* Tests which scalings the recipes have: those of their frameworks whose steps are known. */
static void test_scalings(void) {
  static const struct {
    const posenc_kernel *kernel;
    const char *why[6]; /* by kind: none, linear, dynamic, yarn, llama3, longrope */
  } all[] = {{&recipe_ggml_rope, {[POSENC_SCALING_DYNAMIC] = "llama.cpp has no dynamic scaling"}},
             {&recipe_ggml_cuda_rope, {[POSENC_SCALING_DYNAMIC] = "llama.cpp has no dynamic scaling"}},
             {&recipe_mlx, {[POSENC_SCALING_DYNAMIC] = "mlx-lm has no dynamic scaling"}},
             {&recipe_tensorrt_llm, {NULL, NULL, "TensorRT-LLM", "TensorRT-LLM", "TensorRT-LLM", "TensorRT-LLM"}},
             {&recipe_maxtext, {NULL, "MaxText", "MaxText", "MaxText", "MaxText", "MaxText"}}};
  double factors[32];
  for (int i = 0; i < 32; i++) factors[i] = 1.0 + i;
  posenc_scaling kinds[6];
  kinds[POSENC_SCALING_NONE] = posenc_scaling_none();
  kinds[POSENC_SCALING_LINEAR] = posenc_scaling_linear(4.0);
  kinds[POSENC_SCALING_DYNAMIC] = posenc_scaling_dynamic(4.0, 2048, 4096);
  kinds[POSENC_SCALING_YARN] = posenc_scaling_yarn(4.0, 4096);
  kinds[POSENC_SCALING_LLAMA3] = posenc_scaling_llama3(8.0, 8192);
  kinds[POSENC_SCALING_LONGROPE] = posenc_scaling_longrope(32.0, 4096, factors);
  posenc_problem problem = table_of(4, 64, 0, 1e4, 0.0);
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    for (int kind = 0; kind < 6; kind++) {
      problem.scaling = kinds[kind];
      refused_by(all[n].kernel, &problem, all[n].why[kind], all[n].kernel->name);
    }
    problem.scaling = posenc_scaling_yarn(4.0, 4096);
    problem.scaling.truncate = false;
    if (!all[n].why[POSENC_SCALING_YARN])
      refused_by(all[n].kernel, &problem, "it needs truncate=yes", all[n].kernel->name);
  }
}

/* Tests what recipe/hf-rope refuses. */
static void test_refusals(void) {
  posenc_problem problem = table_of(4, 64, 0, 1e4, 0.0);
  problem.scaling = posenc_scaling_yarn(4.0, 4096);
  problem.scaling.low = 2.0;
  problem.scaling.high = 4.0;
  refused(&problem, NULL, "yarn's ramp from 2 to 4 turns");
  problem.scaling.high = 3.9;
  refused(&problem, "ramps", "from 2 to 3.9");
  problem.scaling = posenc_scaling_llama3(8.0, 8192);
  problem.scaling.high = 1.9 * problem.scaling.low;
  refused(&problem, "ramps", "a steep ramp of llama3");
  problem.scaling = posenc_scaling_dynamic(4.0, 32, 64);
  problem.base = 1e37;
  refused(&problem, NULL, "a base of 1e37, times 5.6");
  problem.base = 1e38;
  refused(&problem, "after the scaling", "of 1e38");
  problem.scaling.length = 32;
  refused(&problem, NULL, "of 1e38 that is not raised");
  double factors[32];
  for (int i = 0; i < 32; i++) factors[i] = 1.0;
  problem.scaling = posenc_scaling_longrope(1.0, 4096, factors);
  refused(&problem, NULL, "longrope");
  factors[31] = 0.99;
  refused(&problem, "factors of longrope below 1", "with a factor below 1");
}

int main(void) {
  unsetenv("POSENC_ISA");
  test_contracts();
  test_bounds();
  test_refusals();
  test_scalings();
  test_figures();
  test_orders();
  test_fast_sines();
  test_extended();
  return tap_done();
}
