/* SPDX-License-Identifier: MIT */
#include "cli/options.h"

#include "common/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- launchers ------------------------------------------------------------------------------------------------ */

/* Jobs are independent; ranks are the processes of one job. */
typedef enum level { JOBS, RANKS, LEVELS } level;

/* A launcher, and the variables by which it numbers the processes that it starts: from 0 on, or from `first` on in
   steps. */
typedef struct launcher {
  const char *name;
  level of;
  const char *index, *count; /* null: the launcher does not set the number of shards */
  const char *first, *last, *step;
  const char *file; /* a file that a process must create to confirm that it computes a shard */
} launcher;

static const launcher launchers[] = {
    {"slurm-array", JOBS, "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
     "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP", NULL},
    {"kubernetes", JOBS, "JOB_COMPLETION_INDEX", NULL, NULL, NULL, NULL, NULL},
    {"gtest", JOBS, "GTEST_SHARD_INDEX", "GTEST_TOTAL_SHARDS", NULL, NULL, NULL, "GTEST_SHARD_STATUS_FILE"},
    {"test", JOBS, "TEST_SHARD_INDEX", "TEST_TOTAL_SHARDS", NULL, NULL, NULL, "TEST_SHARD_STATUS_FILE"},
    {"slurm-step", RANKS, "SLURM_PROCID", "SLURM_NTASKS", NULL, NULL, NULL, NULL},
    {"open-mpi", RANKS, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL, NULL, NULL, NULL},
    {"pmi", RANKS, "PMI_RANK", "PMI_SIZE", NULL, NULL, NULL, NULL},
};
enum { LAUNCHERS = sizeof launchers / sizeof *launchers };

/* The shard that the option asks for: by any launcher, or by the one of that name. of: the number of shards, 0 if the
   launcher sets it. */
typedef struct asked {
  const char *option, *text, *name;
  size_t name_length;
  int64_t of;
} asked;

__attribute__((noreturn)) static void refuse(const asked *a, const char *why) {
  die_value(a->option, a->text, why);
}

static bool is_slurm_step(const launcher *l) {
  return strcmp(l->name, "slurm-step") == 0;
}

/* srun --preserve-env leaves the job's SLURM_NTASKS as it is. */
static const char *count_name(const launcher *l) {
  static const char of_step[] = "SLURM_STEP_NUM_TASKS";
  return is_slurm_step(l) && getenv(of_step) ? of_step : l->count;
}

/* The variables of a launcher, as "INDEX=1 COUNT=4". */
typedef struct setting {
  char text[200];
} setting;

static setting setting_of(const launcher *l) {
  setting s = {""};
  const char *const names[] = {l->first, l->last, l->step, count_name(l)};
  snprintf(s.text, sizeof s.text, "%s=%.20s", l->index, getenv(l->index) ? getenv(l->index) : "");
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const size_t used = strlen(s.text);
    if (names[i] && getenv(names[i]))
      snprintf(s.text + used, sizeof s.text - used, " %s=%.20s", names[i], getenv(names[i]));
  }
  return s;
}

/* Returns the variable's value, or `otherwise` if it is not set. */
static int64_t value_of(const asked *a, const char *variable, int64_t otherwise) {
  const char *text = variable ? getenv(variable) : NULL;
  char *end, why[200];
  if (!text) return otherwise;
  errno = 0;
  const long long value = strtoll(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end && errno == 0 && value <= INT_MAX) return value;
  snprintf(why, sizeof why, "%s=%.40s is not a whole number", variable, text);
  refuse(a, why);
}

/* Whether the process is a job's script, or the shell of salloc, which is a step of this number. Slurm runs both with
   the variables of the first rank. */
static bool is_of_script(const launcher *l) {
  static const char interactive[] = "4294967290";
  const char *step = getenv("SLURM_STEP_ID");
  return is_slurm_step(l) && getenv("SLURM_JOB_ID") && (!step || strcmp(step, interactive) == 0);
}

static bool is_there(const asked *a, const launcher *l) {
  if (a->name && (strlen(l->name) != a->name_length || strncmp(l->name, a->name, a->name_length) != 0)) return false;
  return (getenv(l->index) || (l->count && getenv(l->count))) && !is_of_script(l);
}

static shard shard_of(const asked *a, const launcher *l) {
  char why[400];
  const int64_t count = value_of(a, count_name(l), -1), of = l->count ? count : a->of, step = value_of(a, l->step, 1),
                first = value_of(a, l->first, 0), at = value_of(a, l->index, -1) - first;
  const char *refusal;
  if (!l->count && !a->of)
    refusal = "does not tell of how many: auto/N does";
  else if (l->count && count < 0)
    refusal = "lacks its number of shards";
  else if (at + first < 0)
    refusal = "lacks the number of this shard";
  else if (of < 1)
    refusal = "are no shards";
  else if (of > SHARDS_MOST)
    refusal = "is more than " TEXT_OF(SHARDS_MOST) " shards";
  else if (l->first && !a->of && (first > 1 || of == 1))
    refusal = "may be a part of an array: auto/N tells of how many, --shard I/N does one shard again";
  else if (step < 1 || value_of(a, l->last, first + (of - 1) * step) != first + (of - 1) * step)
    refusal = "has gaps, or is a part of an array: --shard I/N does one shard again";
  else if (at < 0 || at % step || at / step >= of)
    refusal = "is none of the shards";
  else
    return (shard){(int)(at / step) + 1, (int)of};
  snprintf(why, sizeof why, "%s %s", setting_of(l).text, refusal);
  refuse(a, why);
}

/* Creates the launcher's file. Bazel and Google Test fail a run in shards without it. */
static void tell_launcher(const asked *a, const launcher *l) {
  const char *path = l->file ? getenv(l->file) : NULL;
  FILE *made = path && *path ? fopen(path, "a") : NULL;
  char why[400];
  if (path && *path && (!made || fclose(made) != 0)) {
    snprintf(why, sizeof why, "%s=%.200s: %s", l->file, path, strerror(errno));
    refuse(a, why);
  }
}

/* Returns the shard of a level. All its launchers must agree, except those that started a single process. */
static shard shard_of_level(const asked *a, level of, bool *known) {
  shard found = {1, 1};
  const launcher *by = NULL;
  char why[700];
  for (const launcher *l = launchers; l < launchers + LAUNCHERS; l++) {
    if (l->of != of || !is_there(a, l)) continue;
    const shard part = shard_of(a, l);
    tell_launcher(a, l);
    *known = true;
    if (part.of == 1) continue;
    if (by && (part.number != found.number || part.of != found.of)) {
      snprintf(why, sizeof why, "%s and %s contradict each other; auto:%s or auto:%s takes one", setting_of(by).text,
               setting_of(l).text, by->name, l->name);
      refuse(a, why);
    }
    found = part;
    by = l;
  }
  return found;
}

static shard shard_auto(const asked *a) {
  bool known = false;
  const shard rank = shard_of_level(a, RANKS, &known);
  asked jobs = *a;
  jobs.of = (a->of + rank.of - 1) / rank.of; /* if that is not exact, N is refused below */
  const shard job = shard_of_level(&jobs, JOBS, &known);
  const int64_t of = (int64_t)job.of * rank.of;
  char why[300];
  if (!known && a->name)
    refuse(a, "that launcher has not started this process: its variables are not set, or are the job's");
  if (!known)
    refuse(a, "no variables of an array of Slurm, srun, Open MPI, PMI, Kubernetes, GTEST_ or TEST_ tell the shard");
  if (of > SHARDS_MOST) refuse(a, "jobs and their ranks are more than " TEXT_OF(SHARDS_MOST) " shards");
  if (a->of && of != a->of) {
    snprintf(why, sizeof why, "the variables tell of %" PRId64 " shards", of);
    refuse(a, why);
  }
  return (shard){(job.number - 1) * rank.of + rank.number, (int)of};
}

static bool is_launcher(const asked *a) {
  for (const launcher *l = launchers; l < launchers + LAUNCHERS; l++)
    if (strlen(l->name) == a->name_length && strncmp(l->name, a->name, a->name_length) == 0) return true;
  return false;
}

shard shard_read(const char *option, const char *text) {
  shard told;
  if (shard_parse(text, &told)) return told;
  const char *rest = text + strlen("auto"), *slash = strchr(text, '/');
  asked a = {.option = option, .text = text};
  bool ok = strncmp(text, "auto", strlen("auto")) == 0 && (*rest == '\0' || *rest == ':' || *rest == '/');
  if (ok && *rest == ':') {
    a.name = rest + 1;
    a.name_length = strcspn(a.name, "/");
    if (!is_launcher(&a))
      refuse(&a, "not one of auto:slurm-array, kubernetes, gtest, test, slurm-step, open-mpi and pmi");
  }
  if (ok && slash) {
    char *end;
    const long of = strtol(slash + 1, &end, 10);
    ok = slash[1] >= '1' && slash[1] <= '9' && !*end && of <= SHARDS_MOST;
    a.of = of;
  }
  if (!ok) die_value(option, text, "not auto, auto/N or I/N, with I from 1 to N and N up to " TEXT_OF(SHARDS_MOST));
  return shard_auto(&a);
}

/* ---- files and commands ---------------------------------------------------------------------------------------- */

const char *shard_output(shard part, const char *name) {
  char *path = NULL;
  size_t size;
  FILE *stream = allocated(open_memstream(&path, &size));
  for (const char *at = name; *at; at++)
    if (at[0] == '%' && at[1] == 'I' && at++)
      fprintf(stream, "%d", part.number);
    else
      putc(*at, stream);
  if (fclose(stream) != 0) memory_end();
  return path;
}

/* Whether a word is this option, which may be abbreviated and have a value. getopt has refused ambiguous ones. */
static bool names(const char *word, const char *option) {
  const size_t length = strcspn(word, "=");
  return length > 3 && length <= strlen(option) && strncmp(word, option, length) == 0;
}

/* Returns how many words, 0 to 2, are an option for the shard or the file of its record. */
static int words_of_shard(const char *word) {
  if (strcmp(word, "-o") == 0) return 2;
  if (strncmp(word, "-o", 2) == 0 || names(word, "--resume")) return 1;
  if (!names(word, "--shard") && !names(word, "--output")) return 0;
  return strchr(word, '=') ? 1 : 2;
}

const char *shard_command(int argc, char **argv) {
  const char **kept = allocated(calloc((size_t)argc, sizeof *kept));
  size_t count = 0;
  for (int i = 1, skipped; i < argc; i += skipped ? skipped : 1)
    if (!(skipped = words_of_shard(argv[i]))) kept[count++] = argv[i];
  char *line = quoted_line(argv[0], count, kept);
  free(kept);
  return line;
}
