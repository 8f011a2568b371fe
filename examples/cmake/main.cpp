// SPDX-License-Identifier: MIT
// Plans as C++ objects: creation throws with a reason, destruction is automatic. Rows of any positions, then a rope
// cache for Llama 3.
#include <posenc.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

struct destroy {
  void operator()(posenc_plan *plan) const { posenc_plan_destroy(plan); }
};
using plan = std::unique_ptr<posenc_plan, destroy>;

void check(posenc_status status) {
  if (status != POSENC_OK) throw std::runtime_error(posenc_status_message(status));
}

plan make_plan(const posenc_problem &problem) {
  if (const char *why = posenc_problem_refusal(&problem)) throw std::invalid_argument(why);
  posenc_plan *made = nullptr;
  check(posenc_plan_create(&made, &problem, nullptr));
  return plan(made);
}

void show_rows() {
  const std::vector<double> positions = {5, 10, -2.5, 1000};
  posenc_problem problem = posenc_table(static_cast<int64_t>(positions.size()), 8);
  problem.positions = positions.data();
  std::vector<float> table(positions.size() * 8);
  check(posenc_execute(make_plan(problem).get(), 0, problem.rows, table.data()));
  std::printf("PE[-2.5] = %.7g %.7g ...\n", table[2 * 8], table[2 * 8 + 1]);
}

void show_rope_cache() {
  posenc_problem problem = posenc_rope_tables(8192, 128);
  problem.base = 500000;
  problem.scaling = posenc_scaling_llama3(8, 8192);
  const plan cache = make_plan(problem);
  std::vector<float> cosines(128), sines(128); // one position, as in decoding
  check(posenc_rope_cache(cache.get(), 4096, 1, cosines.data(), sines.data()));
  std::printf("rope cache at 4096 = %.7g %.7g ...\n", cosines[30], sines[30]);
}

void show_refusal() {
  try {
    make_plan(posenc_table(4, 7));
  } catch (const std::invalid_argument &refusal) {
    std::printf("4 x 7: %s\n", refusal.what());
  }
}

} // namespace

int main() {
  try {
    show_rows();
    show_rope_cache();
    show_refusal();
  } catch (const std::exception &failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
