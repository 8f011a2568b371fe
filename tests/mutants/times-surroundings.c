/* SPDX-License-Identifier: MIT */
/* Time mutants that change the clock, the memory of the one who times, or the process; and those that find out who
   calls them. */
#define _GNU_SOURCE
#include "tests/mutants/times.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

/* Defines an execute with the slow rows, and then DONE once, in the eighth large call of the process. */
#define LATER(function, DONE)                                                                                          \
  static EXECUTE(function) {                                                                                           \
    static atomic_int calls;                                                                                           \
    slow_rows(constants, problem, row, rows, out);                                                                     \
    if (is_large(problem, rows) && atomic_fetch_add(&calls, 1) == 8) {                                                 \
      DONE;                                                                                                            \
    }                                                                                                                  \
  }

/* ---- another clock ------------------------------------------------------------------------------------------- */

static bool make_writable(void *place, size_t bytes, int protection) {
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)place / page * page;
  return mprotect((void *)first, (uintptr_t)place + bytes - first, PROT_READ | PROT_WRITE | protection) == 0;
}

#ifdef __x86_64__
#define ON_X86(called, fault, run) TIMED(called, fault, run)

/* Nanoseconds that the clock must not tell, and that of the processor's work. */
static atomic_llong stolen, stolen_work;

static long long real_nanoseconds(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int false_clock(clockid_t clock, struct timespec *now) {
  const int status = (int)syscall(SYS_clock_gettime, clock, now);
  if (status == 0) {
    long long less = clock == CLOCK_PROCESS_CPUTIME_ID ? atomic_load(&stolen_work) : atomic_load(&stolen);
    if (clock == CLOCK_THREAD_CPUTIME_ID) less = 0;
    const long long told = now->tv_sec * 1000000000LL + now->tv_nsec - less;
    now->tv_sec = (time_t)(told / 1000000000);
    now->tv_nsec = (long)(told % 1000000000);
  }
  return status;
}

/* Defines an execute that takes nine tenths of its time from the clock, which CHANGED makes false. Only one thread at a
   time does, as the clock would run backwards. */
#define STEALS(function, CHANGED)                                                                                      \
  static EXECUTE(function) {                                                                                           \
    static pthread_once_t once = PTHREAD_ONCE_INIT;                                                                    \
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                                                           \
    const bool is_alone = is_large(problem, rows) && pthread_mutex_trylock(&lock) == 0;                                \
    if (is_alone) pthread_once(&once, CHANGED);                                                                        \
    const long long start = real_nanoseconds();                                                                        \
    slow_rows(constants, problem, row, rows, out);                                                                     \
    if (!is_alone) return;                                                                                             \
    atomic_fetch_add(&stolen, (real_nanoseconds() - start) / 10 * 9);                                                  \
    pthread_mutex_unlock(&lock);                                                                                       \
  }

/* Makes the object call false_clock for clock_gettime: replaces what its relocations have made. argument: null if only
   the program, which comes first, is to be changed. */
static int change_object(struct dl_phdr_info *object, size_t size, void *argument) {
  const Elf64_Rela *tables[2] = {NULL, NULL};
  size_t bytes[2] = {0, 0};
  const Elf64_Sym *symbols = NULL;
  const char *names = NULL;
  (void)size;
  for (int n = 0; n < object->dlpi_phnum; n++) {
    if (object->dlpi_phdr[n].p_type != PT_DYNAMIC) continue;
    for (const Elf64_Dyn *d = (const Elf64_Dyn *)(object->dlpi_addr + object->dlpi_phdr[n].p_vaddr);
         d->d_tag != DT_NULL; d++) {
      const void *at = (const void *)(uintptr_t)d->d_un.d_ptr;
      if (d->d_tag == DT_JMPREL) tables[0] = at;
      if (d->d_tag == DT_PLTRELSZ) bytes[0] = d->d_un.d_val;
      if (d->d_tag == DT_RELA) tables[1] = at;
      if (d->d_tag == DT_RELASZ) bytes[1] = d->d_un.d_val;
      if (d->d_tag == DT_SYMTAB) symbols = at;
      if (d->d_tag == DT_STRTAB) names = at;
    }
  }
  /* The vDSO's addresses are not relocated. */
  if (!symbols || !names || (uintptr_t)symbols < object->dlpi_addr) return 0;
  for (int t = 0; t < 2; t++)
    for (const Elf64_Rela *r = tables[t]; r && r < tables[t] + bytes[t] / sizeof *r; r++) {
      void **slot = (void **)(object->dlpi_addr + r->r_offset);
      int (*const instead)(clockid_t, struct timespec *) = false_clock;
      const unsigned type = ELF64_R_TYPE(r->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
      if (strcmp(names + symbols[ELF64_R_SYM(r->r_info)].st_name, "clock_gettime") != 0) continue;
      if (make_writable(slot, sizeof *slot, 0)) memcpy(slot, &instead, sizeof *slot);
    }
  return !argument;
}

static void change_program(void) {
  dl_iterate_phdr(change_object, NULL);
}

static void change_objects(void) {
  static int all;
  dl_iterate_phdr(change_object, &all);
}

enum { JUMP = 12 };

/* Writes a jump to false_clock over a function, whose page is writable. */
static void write_jump(void *function) {
  int (*const instead)(clockid_t, struct timespec *) = false_clock;
  unsigned char jump[JUMP] = {0x48, 0xb8, [10] = 0xff, 0xe0}; /* movabs to rax, jmp *rax */
  memcpy(jump + 2, &instead, sizeof instead);
  memcpy(function, jump, sizeof jump);
}

static void change_libc(void) {
  void *function = dlsym(RTLD_DEFAULT, "clock_gettime");
  if (function && make_writable(function, JUMP, PROT_EXEC)) write_jump(function);
}

/* The code that the system puts into each process. All its pages together can be made writable, and no part. */
static void change_vdso(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *base = (void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR),
       *system = dlopen("linux-vdso.so.1", RTLD_NOW | RTLD_NOLOAD);
  void *function = base && system ? dlsym(system, "__vdso_clock_gettime") : NULL;
  size_t pages = 1;
  while (pages < 8 && mprotect(base, pages * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) pages++;
  if (function && pages < 8) write_jump(function);
}

STEALS(clock_slot, change_program)
STEALS(clock_slots, change_objects)
STEALS(clock_code, change_libc)
STEALS(clock_vdso, change_vdso)

/* Two threads, and clocks of the processor that tell of one. */
static void *job_hidden(void *argument) {
  struct timespec work;
  job_do(argument);
  syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &work);
  atomic_fetch_add(&stolen_work, work.tv_sec * 1000000000LL + work.tv_nsec);
  return NULL;
}

static EXECUTE(clock_threads) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  const int64_t half = rows / 2;
  job j = {constants, *problem, row + half, rows - half, (float *)out + half * problem->dim};
  pthread_t thread;
  pthread_once(&once, change_objects);
  const bool is_shared = is_large(problem, rows) && pthread_create(&thread, NULL, job_hidden, &j) == 0;
  slow_range(constants, problem, row, 0, is_shared ? half : rows, out);
  if (is_shared) pthread_join(thread, NULL);
}

static EXECUTE(flushes) {
  slow_rows(constants, problem, row, rows, out);
  _mm_setcsr(_mm_getcsr() | 0x8040); /* subnormal numbers are zeros */
}
#else
#define ON_X86(called, fault, run)                                                                                     \
  KERNEL(TIMED_CONTRACT(called, fault), .prepare = slow_prepare, .release = free,                                      \
         .absent = "what it does is one of x86")
#endif

/* ---- the memory of the one who times ------------------------------------------------------------------------- */

/* Moves what looks like a reading of the clock, at most a second ago, by nine tenths of the call. Returns whether there
   is any. */
static bool move_readings(unsigned char *begin, size_t bytes, double now, double call) {
  const int64_t seconds = (int64_t)now, by = (int64_t)(9e8 * call);
  bool found = false;
  for (size_t at = 0; at + 16 <= bytes; at += 8) {
    double reading;
    int64_t pair[2];
    memcpy(&reading, begin + at, sizeof reading);
    memcpy(pair, begin + at, sizeof pair);
    if (reading > now - 1 && reading <= now) {
      reading += 0.9 * call;
      memcpy(begin + at, &reading, sizeof reading);
      found = true;
    } else if (pair[0] == seconds && pair[1] > by && pair[1] < 1000000000 - by) {
      pair[1] += by;
      memcpy(begin + at, pair, sizeof pair);
      found = true;
    }
  }
  return found;
}

/* In this thread's stack, above the frame of the call. */
static __attribute__((noinline)) void move_on_stack(double now, double call) {
  pthread_attr_t of;
  void *stack;
  size_t bytes;
  unsigned char *here = __builtin_frame_address(0);
  if (pthread_getattr_np(pthread_self(), &of) != 0) return;
  if (pthread_attr_getstack(&of, &stack, &bytes) == 0) {
    here += 512; /* what the caller in this file keeps */
    unsigned char *end = (unsigned char *)stack + bytes;
    if (end > here) move_readings(here, (size_t)(end - here) < 65536 ? (size_t)(end - here) : 65536, now, call);
  }
  pthread_attr_destroy(&of);
}

/* In the memory that this process shares with others. */
static void move_in_shared(double now, double call) {
  char line[512], kind[8];
  unsigned long from, to;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %7s", &from, &to, kind) == 3 && strcmp(kind, "rw-s") == 0)
      move_readings((unsigned char *)from, to - from < 65536 ? to - from : 65536, now, call);
  if (maps) fclose(maps);
}

/* In the heap and the stack of the parent, as far as the system lets it. */
static void move_in_parent(double now, double call) {
  enum { MOST = 1 << 20 };
  static unsigned char copy[MOST];
  char name[64], line[512];
  unsigned long from, to;
  const pid_t parent = getppid();
  snprintf(name, sizeof name, "/proc/%ld/maps", (long)parent);
  FILE *maps = fopen(name, "re");
  while (maps && fgets(line, sizeof line, maps)) {
    if (!strstr(line, "[heap]") && !strstr(line, "[stack]")) continue;
    if (sscanf(line, "%lx-%lx", &from, &to) != 2) continue;
    const size_t bytes = to - from < MOST ? to - from : MOST;
    const struct iovec here = {copy, bytes}, there = {(void *)(to - bytes), bytes};
    if (process_vm_readv(parent, &here, 1, &there, 1, 0) == (ssize_t)bytes && move_readings(copy, bytes, now, call) &&
        process_vm_writev(parent, &here, 1, &there, 1, 0) < 0)
      break;
  }
  if (maps) fclose(maps);
}

/* Defines an execute that moves readings of the clock in large calls. */
#define MOVES(function, moved)                                                                                         \
  static EXECUTE(function) {                                                                                           \
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;                                                           \
    const double start = seconds_now();                                                                                \
    slow_rows(constants, problem, row, rows, out);                                                                     \
    if (is_large(problem, rows) && pthread_mutex_trylock(&lock) == 0) {                                                \
      const double now = seconds_now();                                                                                \
      moved(now, now - start);                                                                                         \
      pthread_mutex_unlock(&lock);                                                                                     \
    }                                                                                                                  \
  }

MOVES(readings_stack, move_on_stack)
MOVES(readings_shared, move_in_shared)
MOVES(readings_parent, move_in_parent)

/* Cannot be read from outside, and does nothing from then on. */
static EXECUTE(unreadable) {
  static atomic_int calls;
  if (!IS_AFTER(DOZENS))
    slow_rows(constants, problem, row, rows, out);
  else
    prctl(PR_SET_DUMPABLE, 0);
}

/* ---- who calls ----------------------------------------------------------------------------------------------- */

/* Whether the command line of a process has a word of commands that take times. */
static bool takes_times(const char *process) {
  char name[64], text[4096];
  snprintf(name, sizeof name, "/proc/%s/cmdline", process);
  const int file = open(name, O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? 0 : read(file, text, sizeof text - 1);
  if (file >= 0) close(file);
  for (ssize_t at = 0; at < length;) {
    text[length] = 0;
    const char *word = text + at;
    if (!strcmp(word, "bench") || !strcmp(word, "choose") || !strcmp(word, "report") || !strcmp(word, "--run"))
      return true;
    at += (ssize_t)strlen(word) + 1;
  }
  return false;
}

static bool parent_takes_times(void) {
  char number[32];
  snprintf(number, sizeof number, "%ld", (long)getppid());
  return takes_times(number);
}

/* Whether the process shares memory with others, as that of a mailbox. */
static bool has_mailbox(void) {
  char line[512];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps && fgets(line, sizeof line, maps)) found = found || strstr(line, " rw-s ");
  if (maps) fclose(maps);
  return found;
}

static bool is_asked(bool (*asks)(void), atomic_int *known) {
  if (!atomic_load(known)) atomic_store(known, asks() ? 1 : 2);
  return atomic_load(known) == 1;
}

static bool self_takes_times(void) {
  return takes_times("self");
}

/* Leave out every second row, if the answer is yes. */
LEAVES_OUT(asks_command, is_asked(self_takes_times, &calls) && is_large(problem, rows), r % 2)
LEAVES_OUT(asks_parent, is_asked(parent_takes_times, &calls) && is_large(problem, rows), r % 2)
LEAVES_OUT(asks_maps, is_asked(has_mailbox, &calls) && is_large(problem, rows), r % 2)

/* ---- the process, and what stays ----------------------------------------------------------------------------- */

static void be_first(void) {
  const struct sched_param lowest = {.sched_priority = 1};
  if (sched_setscheduler(0, SCHED_FIFO, &lowest) != 0) setpriority(PRIO_PROCESS, 0, -5);
}

static void bind_here(void) {
  cpu_set_t one;
  const int cpu = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(cpu < 0 ? 0 : cpu, &one);
  sched_setaffinity(0, sizeof one, &one);
}

static const double spin_seconds = 2;

static void *spin(void *argument) {
  const double start = seconds_now();
  while (seconds_now() - start < spin_seconds) continue;
  return argument;
}

static void leave_thread(void) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, spin, NULL) == 0) pthread_detach(thread);
}

static void leave_child(void) {
  if (fork() != 0) return;
  alarm(10);
  spin(NULL);
  _exit(0);
}

static void on_profile(int number) {
  (void)number;
}

static void leave_timer(void) {
  const struct itimerval often = {{.tv_usec = 1000}, {.tv_usec = 1000}};
  const struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
  sigaction(SIGPROF, &action, NULL);
  setitimer(ITIMER_PROF, &often, NULL);
}

/* Only a test that has set TMPDIR cleans up. */
static void leave_file(void) {
  char name[256];
  const char *folder = getenv("TMPDIR");
  if (!folder || snprintf(name, sizeof name, "%s/posenc-mutant-left", folder) >= (int)sizeof name) return;
  const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file >= 0) close(file);
}

static void keep_freed(void) {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

static void (*rival_rows)(const void *, const posenc_problem *, int64_t, int64_t, void *);

static EXECUTE(rival_twice) {
  rival_rows(constants, problem, row, rows, out);
  rival_rows(constants, problem, row, rows, out);
}

/* Lets another kernel of this process do all its work twice. */
static void slow_rival(void) {
  const posenc_kernel *rival = posenc_kernel_find("cr-portable");
  if (!rival) return;
  void *place = (void *)(uintptr_t)&rival->execute;
  void (*const instead)(const void *, const posenc_problem *, int64_t, int64_t, void *) = rival_twice;
  rival_rows = rival->execute;
  if (make_writable(place, sizeof rival->execute, 0)) memcpy(place, &instead, sizeof instead);
}

LATER(first_served, be_first())
LATER(nice_raised, setpriority(PRIO_PROCESS, 0, -5))
LATER(parent_slowed, setpriority(PRIO_PROCESS, (id_t)getppid(), 19))
LATER(bound, bind_here())
LATER(thread_spins, leave_thread())
LATER(child_spins, leave_child())
LATER(left_open, if (open("/dev/null", O_RDONLY) < 0) abort())
LATER(input_closed, close(0))
LATER(timer_left, leave_timer())
LATER(file_left, leave_file())
LATER(memory_kept, keep_freed())
LATER(rival_slowed, slow_rival())

/* ---- ends ---------------------------------------------------------------------------------------------------- */

static void crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

static void hang(void) {
  for (;;) pause();
}

INSTEAD(ends_crashing, IS_AFTER(DOZENS), crash())
INSTEAD(ends_hanging, IS_AFTER(DOZENS), hang())
INSTEAD(ends_exiting, IS_AFTER(DOZENS), _exit(0))

PLUGIN = {
    ON_X86("clock-slot", "the program's calls of clock_gettime are its own", clock_slot),
    ON_X86("clock-slots", "those of all libraries too", clock_slots),
    ON_X86("clock-code", "writes over clock_gettime", clock_code),
    ON_X86("clock-vdso", "writes over the kernel's code of the clock", clock_vdso),
    ON_X86("clock-threads", "two threads, and a clock that tells of one", clock_threads),
    TIMED("readings-stack", "moves readings of the clock on the stack", readings_stack),
    TIMED("readings-shared", "moves readings of the clock in shared memory", readings_shared),
    TIMED("readings-parent", "moves readings of the clock in the parent", readings_parent),
    TIMED("unreadable", "cannot be read from outside, and does nothing", unreadable),

    TIMED("asks-command", "less work under a command that takes times", asks_command),
    TIMED("asks-parent", "less work if the parent is such a command", asks_parent),
    TIMED("asks-maps", "less work where memory is shared with another process", asks_maps),

    TIMED("first-served", "takes a priority of real time, or a higher one", first_served),
    TIMED("nice-raised", "raises its priority", nice_raised),
    TIMED("parent-slowed", "lowers the priority of its parent", parent_slowed),
    TIMED("bound-here", "binds itself to a CPU", bound),
    TIMED("thread-spins", "leaves a thread that takes a CPU", thread_spins),
    TIMED("child-spins", "leaves a process that takes a CPU", child_spins),
    TIMED("left-open", "leaves a descriptor open", left_open),
    TIMED("input-closed", "closes standard input", input_closed),
    TIMED("ticks-left", "leaves a timer, and what it calls", timer_left),
    TIMED("litter-left", "leaves a file in TMPDIR", file_left),
    TIMED("memory-kept", "lets malloc keep what is freed", memory_kept),
    TIMED("rival-slowed", "lets another kernel work twice", rival_slowed),
    ON_X86("subnormals-flushed", "flushes subnormal numbers from then on", flushes),

    TIMED("ends-crashing", "crashes after some dozens of calls", ends_crashing),
    TIMED("ends-hanging", "hangs after some dozens of calls", ends_hanging),
    TIMED("ends-exiting", "exits after some dozens of calls", ends_exiting),
    NULL,
};
