/* SPDX-License-Identifier: MIT */
/* The only C++ file of the command. No exception leaves it, as its callers are C. */
#include "bench/shim.h"

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/* Removes BENCHMARK_… variables, which set flags and would change the record. Google Benchmark reads them in a
   constructor before main, and complains there about wrong values in every command; this runs before all
   constructors. */
void forget_variables(int, char **, char **environment) {
  static const char prefix[] = "BENCHMARK_";
  char **kept = environment;
  for (char **variable = environment; *variable; variable++)
    if (std::strncmp(*variable, prefix, sizeof prefix - 1) != 0) *kept++ = *variable;
  *kept = nullptr;
}
__attribute__((section(".preinit_array"), used)) void (*preinit)(int, char **, char **) = forget_variables;

/* The number of iterations for which a benchmark's time is given, by its name. */
std::map<std::string, double> parts_of;

benchmark::State *state_of(shim_state *state) {
  return reinterpret_cast<benchmark::State *>(state);
}

/* Writes the first line of a message. */
void tell(const std::string &text, char *message, size_t size) {
  std::snprintf(message, size, "%s", text.substr(0, text.find('\n')).c_str());
}

/* Google Benchmark calls this before it would exit with its usage message; an exception prevents that. */
void refuse_flags() {
  throw std::invalid_argument("a --benchmark_ flag has a wrong value");
}

/* Captures what Google Benchmark prints on std::cerr during this object's lifetime, so that the caller can print it in
   one line. */
class CaughtErrors {
public:
  CaughtErrors() : before_(std::cerr.rdbuf(text_.rdbuf())) {}
  ~CaughtErrors() {
    std::cerr.rdbuf(before_);
  }
  CaughtErrors(const CaughtErrors &) = delete;
  CaughtErrors &operator=(const CaughtErrors &) = delete;
  std::string text() const {
    return text_.str();
  }

private:
  std::ostringstream text_;
  std::streambuf *before_;
};

/* Counters for the processor's time, which Google Benchmark would take of this process, although another one works. */
const char seconds_counter[] = "(seconds)", busy_counter[] = "(busy)";

/* Replaces the processor's time. Means and deviations are in the proportion of both times; a coefficient of variation
   stands in the counter itself. */
void take_times(benchmark::BenchmarkReporter::Run &run) {
  const double seconds = run.counters[seconds_counter].value, busy = run.counters[busy_counter].value;
  const double share = seconds != 0 ? busy / seconds : 0;
  run.cpu_accumulated_time = run.aggregate_unit == benchmark::kTime ? run.real_accumulated_time * share : busy;
  run.counters.erase(seconds_counter);
  run.counters.erase(busy_counter);
}

void make_finite(double &value) {
  if (!std::isfinite(value)) value = 0;
}

/* Google's JSON for comparison and for strict readers. Names do not have the number of iterations, and times do not
   depend on the size of an iteration, as both differ from run to run. NaN and Infinity, which are not JSON, are left
   out. */
class Reporter : public benchmark::JSONReporter {
public:
  void ReportRuns(const std::vector<Run> &runs) override {
    std::vector<Run> clean = runs;
    for (Run &run : clean) {
      run.run_name.iterations.clear();
      run.run_name.repetitions.clear();
      run.run_name.time_type.clear();
      take_times(run);
      if (run.aggregate_unit == benchmark::kTime) {
        run.real_accumulated_time *= parts_of[run.run_name.function_name];
        run.cpu_accumulated_time *= parts_of[run.run_name.function_name];
      }
      make_finite(run.real_accumulated_time);
      make_finite(run.cpu_accumulated_time);
      for (auto counter = run.counters.begin(); counter != run.counters.end();) {
        if (std::isfinite(counter->second.value))
          ++counter;
        else
          counter = run.counters.erase(counter);
      }
    }
    benchmark::JSONReporter::ReportRuns(clean);
  }
};

} // namespace

bool shim_initialize(char *const *flags, char *message, size_t size) try {
  std::vector<std::string> words = {"posenc", "--benchmark_enable_random_interleaving=true",
                                    "--benchmark_filter=all"}; /* otherwise that of an earlier run */
  for (char *const *flag = flags; flag && *flag; flag++) words.push_back(*flag);
  std::vector<char *> argv;
  for (std::string &word : words) argv.push_back(&word[0]);
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);

  CaughtErrors errors;
  benchmark::Initialize(&argc, argv.data(), refuse_flags);
  static const char name[] = "posenc";
  benchmark::BenchmarkReporter::Context::executable_name = name;
  if (argc == 1) return true;
  tell(std::string(argv[1]) + ": " + (errors.text().empty() ? "no such flag of Google Benchmark" : errors.text()),
       message, size);
  return false;
} catch (const std::exception &error) {
  tell(error.what(), message, size);
  return false;
}

bool shim_register(const char *name, shim_function *function, void *arg, int64_t iterations, int repetitions,
                   double parts) try {
  parts_of[name] = parts;
  benchmark::RegisterBenchmark(name,
                               [=](benchmark::State &state) { function(reinterpret_cast<shim_state *>(&state), arg); })
      ->Iterations(iterations)
      ->Repetitions(repetitions)
      ->UseManualTime();
  return true;
} catch (const std::exception &) {
  return false;
}

bool shim_keep_running(shim_state *state) {
  return state_of(state)->KeepRunning();
}

void shim_set_times(shim_state *state, double seconds, double busy) {
  state_of(state)->SetIterationTime(seconds);
  shim_count(state, seconds_counter, seconds);
  shim_count(state, busy_counter, busy);
}

bool shim_count(shim_state *state, const char *name, double value) try {
  state_of(state)->counters[name] = value;
  return true;
} catch (const std::exception &) {
  return false;
}

char *shim_run(size_t *length, char *message, size_t size) try {
  std::ostringstream json, errors;
  Reporter reporter;
  reporter.SetOutputStream(&json);
  reporter.SetErrorStream(&errors);
  if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) {
    tell(errors.str(), message, size);
    return nullptr;
  }
  const std::string text = json.str();
  char *copy = static_cast<char *>(std::malloc(text.size()));
  if (!copy) throw std::bad_alloc();
  *length = text.size();
  return static_cast<char *>(std::memcpy(copy, text.data(), text.size()));
} catch (const std::exception &error) {
  tell(error.what(), message, size);
  return nullptr;
}

void shim_clear() {
  benchmark::ClearRegisteredBenchmarks();
  parts_of.clear();
}
