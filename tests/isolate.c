/* SPDX-License-Identifier: MIT */
/* Tests code in a process of its own: each kind of misbehaviour is recognized, and no process is left. */
#include "common/isolate.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/work.h"
#include "common/worker.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs as an orphan. */
static void live_on(void) {
  for (;;) pause();
}

/* Defines work that gives its result, and then does something else. */
#define AFTER_RESULT(name, DONE)                                                                                       \
  static void name(void *argument) {                                                                                   \
    isolate_result(argument);                                                                                          \
    DONE;                                                                                                              \
  }

static void honest(void *argument) {
  isolate_say("working", 0.5);
  isolate_result(argument);
}

/* Crashes without the handler of a sanitizer, which would exit. */
static void crash(void) {
  signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

/* Writes to null. UndefinedBehaviorSanitizer may be configured to end the process instead. */
__attribute__((no_sanitize("undefined"))) static void null_write(void *argument) {
  static volatile char *volatile nowhere;
  isolate_say("writing", 0.5);
  signal(SIGSEGV, SIG_DFL);
  *nowhere = *(char *)argument;
}

AFTER_RESULT(exit_zero, exit(0))
AFTER_RESULT(exit_as_the_harness, _exit(86))

static void say_nothing(void *argument) {
  (void)argument;
}

AFTER_RESULT(hang, live_on())

static void hang_and_print(void *argument) {
  isolate_result(argument);
  for (;;) {
    if (write(STDERR_FILENO, ".", 1) != 1) return;
    usleep(100000);
  }
}

AFTER_RESULT(stop_itself, raise(SIGSTOP))
AFTER_RESULT(stop_its_group, kill(0, SIGTSTP))

static void kill_its_parent(void *argument) {
  isolate_result(argument);
  kill(getppid(), SIGKILL);
  live_on();
}

static void flood_for_ever(int file) {
  char text[1000];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\n';
  while (write(file, text, sizeof text) > 0) continue;
}

AFTER_RESULT(flood_stdout, flood_for_ever(STDOUT_FILENO))
AFTER_RESULT(flood_stderr, flood_for_ever(STDERR_FILENO))

/* Ends the worker with the exit status that the harness uses. */
static void forge_the_end(void *argument) {
  (void)argument;
  for (int file = 3; file < 1024; file++) {
    sender like = {.descriptor = file};
    channel_send(&like, SAYS_RESULT, "{}", 2);
    channel_send(&like, SAYS_END, "", 0);
  }
  _exit(EXIT_ORDERLY);
}

/* Writes everything at once, so that nothing is read before the end. */
static void flood_at_the_end(void *argument) {
  static char text[70000];
  isolate_result(argument);
  memset(text, '\n', sizeof text);
  for (size_t i = 0; i < sizeof text; i += 1000) putchar('x');
  fwrite(text, 1, sizeof text, stdout);
}

static void print_some(void *argument) {
  printf("a line of \033 its own\n");
  fprintf(stderr, "and one without an end");
  isolate_result(argument);
}

static void write_everywhere(const void *bytes, size_t count) {
  for (int file = 3; file < 1024; file++)
    if (write(file, bytes, count) < 0) continue;
}

AFTER_RESULT(forge_lines, write_everywhere("R {\"ok\": true}\n", 15))
AFTER_RESULT(forge_few_bytes, write_everywhere("R", 1))

/* Writes messages as the harness would, but with another key. */
static void forge_messages(void *argument) {
  isolate_result(argument);
  sender like = {.number = 1};
  for (like.descriptor = 3; like.descriptor < 1024; like.descriptor++, like.number = 1)
    channel_send(&like, SAYS_END, "", 0);
}

static void forge_first(void *argument) {
  sender like = {.number = 0};
  for (like.descriptor = 3; like.descriptor < 1024; like.descriptor++, like.number = 0)
    channel_send(&like, SAYS_RESULT, "{}", 2);
  isolate_result(argument);
}

static void close_all(void) {
  for (int file = 0; file < 1024; file++) close(file);
}

static void close_everything(void *argument) {
  close_all();
  isolate_result(argument);
}

AFTER_RESULT(leave_orphan, if (fork() == 0) live_on())

static void leave_orphan_of_a_session(void *argument) {
  if (argument) isolate_result(argument);
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, NULL, 0);
    return;
  }
  setsid();
  if (fork() == 0) live_on();
  _exit(0);
}

static void leave_orphan_and_crash(void *argument) {
  leave_orphan_of_a_session(argument);
  crash();
}

static void leave_orphan_and_hang(void *argument) {
  leave_orphan_of_a_session(argument);
  live_on();
}

/* Returns to the harness in two processes. */
static void come_back_twice(void *argument) {
  fork();
  isolate_say("after the fork", 0.5);
  isolate_result(argument);
}

/* Returns in two processes, one after the other. The harness must wait for the second one and ignore it. */
static void come_back_one_by_one(void *argument) {
  const pid_t child = fork();
  if (child > 0) waitpid(child, NULL, 0);
  isolate_result(argument);
}

/* Ends the process that the harness knows, and returns in the other one. */
static void come_back_as_another(void *argument) {
  if (fork() != 0) _exit(0);
  isolate_result(argument);
}

static void wait_for_its_own(void *argument) {
  if (system("true") != 0) return;
  isolate_result(argument);
}

/* A descriptor of the caller. */
static int descriptor;

static void use_descriptors(void *argument) {
  char byte;
  const bool has_input = read(STDIN_FILENO, &byte, 1) != 0;
  if (write(descriptor, "x", 1) < 0 && !has_input) isolate_result(argument);
}

static const struct {
  const char *name;
  void (*work)(void *);
  ending how;
  int number; /* -1: any */
} deeds[] = {
    {"an honest result", honest, ENDED_WELL, -1},
    {"a write to address 0", null_write, ENDED_BY_SIGNAL, SIGSEGV},
    {"exit(0)", exit_zero, ENDED_BY_EXIT, 0},
    {"the harness's own status", exit_as_the_harness, ENDED_BY_EXIT, 86},
    {"no result", say_nothing, ENDED_WITHOUT_RESULT, -1},
    {"a hang", hang, ENDED_BY_SILENCE, -1},
    {"a hang that prints", hang_and_print, ENDED_BY_SILENCE, -1},
    {"SIGSTOP", stop_itself, ENDED_BY_STOPPING, SIGSTOP},
    {"SIGTSTP for its group", stop_its_group, ENDED_BY_STOPPING, SIGTSTP},
    {"SIGKILL for the parent", kill_its_parent, ENDED_BY_SIGNAL, SIGKILL},
    {"a flood on stdout", flood_stdout, ENDED_BY_FLOOD, -1},
    {"a flood on stderr", flood_stderr, ENDED_BY_FLOOD, -1},
    {"a flood from a buffer", flood_at_the_end, ENDED_BY_FLOOD, -1},
    {"some lines", print_some, ENDED_WELL, -1},
    {"lines on all descriptors", forge_lines, ENDED_BY_FORGERY, -1},
    {"a byte on all descriptors", forge_few_bytes, ENDED_BY_FORGERY, -1},
    {"a message on all descriptors", forge_messages, ENDED_BY_FORGERY, -1},
    {"a message before the first", forge_first, ENDED_BY_FORGERY, -1},
    {"an end of its own", forge_the_end, ENDED_BY_FORGERY, -1},
    {"nothing to write to, or to read", use_descriptors, ENDED_WELL, -1},
    {"all descriptors closed", close_everything, ENDED_BY_CLOSING, -1},
    {"an orphan", leave_orphan, ENDED_WITH_ORPHANS, -1},
    {"an orphan with a session", leave_orphan_of_a_session, ENDED_WITH_ORPHANS, -1},
    {"an orphan and a crash", leave_orphan_and_crash, ENDED_BY_SIGNAL, SIGSEGV},
    {"an orphan and a hang", leave_orphan_and_hang, ENDED_BY_SILENCE, -1},
    {"a fork that comes back", come_back_twice, ENDED_WITH_ORPHANS, -1},
    {"a fork that comes back first", come_back_one_by_one, ENDED_WELL, -1},
    {"a fork that takes its place", come_back_as_another, ENDED_BY_EXIT, 0},
    {"a child that it waits for", wait_for_its_own, ENDED_WELL, -1},
};

/* Whether no process is left. Orphans become children of this process. A killed process may take a moment to
   disappear. */
static bool is_alone(void) {
  enum { PATIENCE = 10000 };
  pid_t child = 0;
  for (int tries = 0; tries < PATIENCE && child >= 0; tries++) {
    child = waitpid(-1, NULL, WNOHANG | __WALL);
    if (child == 0) usleep(1000);
  }
  return child < 0;
}

static const char *const no_reaper = "orphans of another session are not given to the process: an emulator's limit";

static bool leaves_session(void (*work)(void *)) {
  return work == leave_orphan_of_a_session || work == leave_orphan_and_crash || work == leave_orphan_and_hang;
}

static void test_deeds(bool reaps) {
  static const double limit = 0.5;
  static char word[] = "result";
  for (size_t n = 0; n < sizeof deeds / sizeof *deeds; n++) {
    if (!reaps && leaves_session(deeds[n].work)) {
      skip(deeds[n].name, no_reaper);
      continue;
    }
    isolated end = isolate(deeds[n].work, word, &(isolation){.silence = limit});
    char words[400];
    describe_exit(&end, words, sizeof words);
    ok(end.how == deeds[n].how && (deeds[n].number < 0 || end.number == deeds[n].number) &&
           (end.how == ENDED_WELL ? strcmp(end.result, word) == 0 : !end.result),
       "%s: %s", deeds[n].name, words);
    ok(is_alone(), "%s: nothing is left", deeds[n].name);
    free(end.result);
  }
}

static void say_and_die(void *argument) {
  isolate_say(argument, 0.5);
  raise(SIGKILL);
}

static void take_too_much(void *argument) {
  isolate_say("taking it", 0.5);
  *(void **)argument = memory_take(SIZE_MAX / 2, 1);
}

static void grow_too_much(void *argument) {
  *(void **)argument = memory_grow(NULL, SIZE_MAX / 2, 4); /* the product of both is another number */
}

static void test_memory(void) {
  void (*const works[])(void *) = {take_too_much, grow_too_much};
  void *taken;
  for (size_t n = 0; n < 2; n++) {
    if (SANITIZED) {
      skip("memory that runs out", "the sanitizer ends the process first");
      continue;
    }
    const isolated end = isolate(works[n], &taken, &(isolation){.silence = 60.0});
    char words[400];
    describe_exit(&end, words, sizeof words);
    ok(end.how == ENDED_BY_FAILURE && strcmp(words, "it failed: out of memory") == 0, "memory that runs out: %s",
       words);
  }
}

/* Tests the last words, which are in memory that a kernel can write to, and are written as JSON. */
static void test_last_words(void) {
  static char strange[] = "at \xff\x01 work";
  const isolated end = isolate(say_and_die, strange, &(isolation){.silence = 60.0});
  ok(end.how == ENDED_BY_SIGNAL && strcmp(end.last, "at ?? work") == 0, "last words in ASCII: %s", end.last);
}

/* Tests a result of many messages, compared byte by byte. */
static void test_large_result(void) {
  enum { BYTES = 10000000 };
  char *large = malloc(BYTES + 1);
  if (!large) exit(EXIT_FAILURE);
  for (int i = 0; i < BYTES; i++) large[i] = (char)('a' + i * 7 % 26);
  large[BYTES] = '\0';
  isolated end = isolate(honest, large, &(isolation){.silence = 10.0});
  ok(end.how == ENDED_WELL && strcmp(end.result, large) == 0, "a result of 10 MB comes as it was");
  free(end.result);
  end = isolate(honest, "", &(isolation){.silence = 10.0});
  ok(end.how == ENDED_WELL && !*end.result, "and an empty one");
  free(end.result);
  free(large);
}

/* ---- several kernels in one process ---------------------------------------------------------------- */

static const posenc_kernel good = {.name = "good"}, crashes = {.name = "crashes"}, forks = {.name = "forks"},
                           daemons = {.name = "daemons"}, prints = {.name = "prints"}, closes = {.name = "closes"},
                           talks = {.name = "talks"}, last = {.name = "last"};
static const posenc_kernel *const team[] = {&good, &crashes, &prints, &forks, &daemons, &closes, &talks, &last};
enum { TEAM = sizeof team / sizeof *team, DAEMONS = 4 };
static bool left_out[TEAM];

static void work_by_turns(void *argument) {
  char text[100] = "";
  (void)argument;
  for (size_t k = 0; k < TEAM; k++) {
    if (left_out[k]) continue;
    isolate_kernel(team[k]);
    if (team[k] == &crashes) crash();
    if (team[k] == &forks && fork() == 0) live_on();
    if (team[k] == &daemons) leave_orphan_of_a_session(NULL);
    if (team[k] == &closes) close_all();
    if (team[k] == &talks) printf("hello");
    if (team[k] == &prints) flood_for_ever(STDOUT_FILENO);
    strcat(text, team[k]->name);
    isolate_kernel(NULL);
  }
  isolate_result(text);
}

static void nobody_at_work(void *argument) {
  (void)argument;
  isolate_kernel(&good);
  isolate_kernel(NULL);
  crash();
}

static void note_lost(const posenc_kernel *kernel, const char *words, void *argument) {
  char *all = argument;
  sprintf(all + strlen(all), "%s: %.19s\n", kernel->name, words);
}

static void test_team(bool reaps) {
  char lost[400] = "", shown[100] = "";
  const int kept = dup(STDERR_FILENO);
  FILE *messages = tmpfile();
  if (!messages) exit(EXIT_FAILURE);
  dup2(fileno(messages), STDERR_FILENO);
  const isolation how = {.kernels = team, .kernel_count = TEAM, .silence = 5.0, .argument = lost};
  left_out[DAEMONS] = !reaps;
  isolated end = isolate_team(work_by_turns, NULL, &how, left_out, note_lost);
  dup2(kept, STDERR_FILENO);
  close(kept);
  rewind(messages);
  while (fgets(shown, sizeof shown, messages) && !strstr(shown, "hello")) continue;
  fclose(messages);
  ok(strcmp(shown, "posenc: talks printed: hello\n") == 0, "what is printed is told as whose it is");
  ok(end.how == ENDED_WELL && strcmp(end.result, "goodtalkslast") == 0, "the others have their result: %s", end.result);
  if (reaps)
    ok(strcmp(lost, "crashes: killed by signal 11\nprints: it printed more tha\nforks: it left a process b\n"
                    "daemons: it left a process b\ncloses: it closed descripto\n") == 0,
       "each that is lost is told, with its own end");
  else
    skip("each that is lost is told, with its own end", no_reaper);
  free(end.result);
  memset(left_out, 0, sizeof left_out);
  end = isolate_team(nobody_at_work, NULL, &how, left_out, note_lost);
  ok(end.how == ENDED_BY_SIGNAL && !end.at_work, "who is not at work is not to blame");
}

/* ---- work that obeys orders ---------------------------------------------------------------------- */

enum { ADD_ONE, CRASH, HANG, REPLY_LESS, LEAVE_ORPHAN, FAIL, STAY };
typedef struct asked {
  int what, number;
} asked;
typedef struct told {
  pid_t process;
  int number;
} told;

static void obey(void *argument) {
  asked order;
  bool stays = false;
  while (isolate_order(&order, sizeof order)) {
    told reply = {getpid(), order.number + 1};
    if (order.what == CRASH) crash();
    if (order.what == HANG) live_on();
    if (order.what == FAIL) isolate_fail("it cannot");
    stays = order.what == STAY;
    if (order.what == LEAVE_ORPHAN && fork() == 0) live_on();
    isolate_reply(&reply, order.what == REPLY_LESS ? sizeof reply - 1 : sizeof reply);
  }
  if (stays) live_on();
  isolate_result(argument);
}

/* Sends an order; returns the reply, or -1. */
static int ask(lodger *l, int what, int number) {
  const asked order = {what, number};
  told reply = {0, 0};
  const bool obeyed = isolate_ask(l, &order, sizeof order, &reply, sizeof reply);
  return obeyed && reply.process == isolate_process(l) ? reply.number : -1;
}

static void test_orders(void) {
  static char word[] = "obeyed";
  static const struct {
    const char *name;
    int what;
    ending how;
  } ends[] = {{"a crash", CRASH, ENDED_BY_SIGNAL},
              {"a hang", HANG, ENDED_BY_SILENCE},
              {"a reply of another size", REPLY_LESS, ENDED_BY_FORGERY},
              {"a failure", FAIL, ENDED_BY_FAILURE}};
  const isolation how = {.silence = 0.5};
  lodger *first = isolate_start(obey, word, &how), *second = isolate_start(obey, word, &how);
  if (!ok(first && second, "two workers are started")) return;
  ok(isolate_process(first) == 0, "a worker is not known before its first reply");
  ok(ask(first, ADD_ONE, 1) == 2 && ask(second, ADD_ONE, 5) == 6 && ask(first, ADD_ONE, 2) == 3, "both obey by turns");
  ok(isolate_process(first) != isolate_process(second) && isolate_process(first) > 0, "and are two processes");
  usleep(700000);
  ok(ask(second, ADD_ONE, 7) == 8, "a worker that waits for orders is not silent");
  isolated end = isolate_end(first);
  ok(end.how == ENDED_WELL && end.result && strcmp(end.result, word) == 0, "no more orders: the result");
  free(end.result);
  ok(ask(second, STAY, 8) == 9, "the other goes on");
  lodger *third = isolate_start(obey, word, &how);
  if (!third) exit(EXIT_FAILURE);
  const pid_t process = isolate_process(second);
  isolate_stop(second); /* it would not end by itself */
  ok(kill(process, 0) < 0, "a worker that is stopped is gone");
  ok(ask(third, ADD_ONE, 1) == 2, "one that was started later is not");
  isolate_stop(third);
  ok(is_alone(), "nothing is left");
  for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) {
    lodger *l = isolate_start(obey, word, &how);
    if (!l) exit(EXIT_FAILURE);
    const int before = ask(l, ADD_ONE, 1), at = ask(l, ends[n].what, 1), after = ask(l, ADD_ONE, 1);
    end = isolate_end(l);
    ok(before == 2 && at == -1 && after == -1 && end.how == ends[n].how && !end.result, "orders: %s", ends[n].name);
    ok(is_alone(), "orders: %s: nothing is left", ends[n].name);
  }
  lodger *l = isolate_start(obey, word, &how);
  if (!l) exit(EXIT_FAILURE);
  ok(ask(l, LEAVE_ORPHAN, 1) == 2, "an orphan is left, and the order obeyed");
  end = isolate_end(l);
  ok(end.how == ENDED_WITH_ORPHANS && !end.result && is_alone(), "it is found at the end");
}

/* ---- workers side by side -------------------------------------------------------------------------- */

enum { WORKERS = 5, CRASHES = 2, HANGS = 3, LASTS = 4 };

static void work_as_numbered(void *argument) {
  const int number = *(const int *)argument;
  char text[20];
  if (number == CRASHES) abort();
  if (number == HANGS) pause();
  for (int i = 0; number == LASTS && i < 8; i++) {
    usleep(100000);
    isolate_say("lasts", 0.1 * i);
  }
  snprintf(text, sizeof text, "%d", number * number);
  isolate_result(text);
}

static lodger *start_numbered(int *number, double silence) {
  lodger *l = isolate_start(work_as_numbered, number, &(isolation){.silence = silence});
  if (!l) exit(EXIT_FAILURE);
  return l;
}

static void test_first_to_end(void) {
  static int numbers[] = {HANGS, CRASHES};
  lodger *both[] = {start_numbered(&numbers[0], 60.0), start_numbered(&numbers[1], 60.0)};
  ok(isolate_any(both, 2) == 1, "of two workers, the one that has ended is found");
  free(isolate_end(both[1]).result);
  isolate_stop(both[0]);
}

/* Tests that a worker is neither taken for silent while others talk, nor kept from its end by them. */
static void test_any(void) {
  static int numbers[WORKERS];
  lodger *all[WORKERS];
  int whose[WORKERS];
  size_t count = 0;
  for (int n = 0; n < WORKERS; n++) {
    numbers[n] = n;
    all[count] = start_numbered(&numbers[n], 0.5);
    whose[count++] = n;
  }
  while (count > 0) {
    const size_t place = isolate_any(all, count);
    const int n = whose[place];
    char expected[20] = "";
    ending how = n == CRASHES ? ENDED_BY_SIGNAL : ENDED_WELL;
    if (n == HANGS) how = ENDED_BY_SILENCE;
    if (how == ENDED_WELL) snprintf(expected, sizeof expected, "%d", n * n);
    isolated end = isolate_end(all[place]);
    ok(end.how == how && strcmp(end.result ? end.result : "", expected) == 0,
       "worker %d ends as it should, with its own result", n);
    free(end.result);
    all[place] = all[--count];
    whose[place] = whose[count];
  }
  ok(is_alone(), "nothing is left of them");
}

/* ---- error-detecting code of messages -------------------------------------------------------------- */

/* Tests the example of the paper's appendix A. */
static void test_code(void) {
  unsigned char bytes[16];
  for (int i = 0; i < 16; i++) bytes[i] = (unsigned char)i;
  channel_key key;
  memcpy(&key, bytes, sizeof key);
  ok(channel_code(&key, bytes, 15) == UINT64_C(0xa129ca6149be45e5), "SipHash-2-4 of its paper's example");
}

/* Tests messages that are lost, cut or changed on the way. */
static void test_channel(void) {
  enum { BYTES = MESSAGE_HEADER + 4 };
  static const struct {
    const char *name;
    size_t from, to; /* the range of bytes of two messages that arrives */
    int changed;     /* a changed byte of it; -1: none */
    reception first, second;
  } ways[] = {
      {"both messages", 0, 2 * BYTES, -1, RECEIVED, RECEIVED},
      {"the first taken away", BYTES, 2 * BYTES, -1, RECEIVED_FORGERY, RECEIVED_FORGERY},
      {"the first alone", 0, BYTES, -1, RECEIVED, RECEIVED_NOTHING},
      {"a part of the second", 0, 2 * BYTES - 1, -1, RECEIVED, RECEIVED_NOTHING},
      {"a changed text", 0, 2 * BYTES, MESSAGE_HEADER + 2, RECEIVED_FORGERY, RECEIVED_FORGERY},
      {"a changed kind", 0, 2 * BYTES, MESSAGE_HEADER - 2, RECEIVED_FORGERY, RECEIVED_FORGERY},
      {"a changed code", 0, 2 * BYTES, 3, RECEIVED_FORGERY, RECEIVED_FORGERY},
  };
  for (size_t n = 0; n < sizeof ways / sizeof *ways; n++) {
    int made[2], ends[2];
    char bytes[2 * BYTES];
    channel_key key;
    if (!channel_key_make(&key) || pipe(made) != 0 || pipe(ends) != 0) exit(EXIT_FAILURE);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    sender to = {.key = key, .descriptor = made[1]};
    receiver from = {.key = key, .descriptor = ends[0]};
    const bool sent = channel_send(&to, 1, "text", 4) && channel_send(&to, 2, "more", 4) &&
                      read(made[0], bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    if (ways[n].changed >= 0) bytes[ways[n].changed] ^= 1;
    const size_t count = ways[n].to - ways[n].from;
    const bool passed = write(ends[1], bytes + ways[n].from, count) == (ssize_t)count;
    const reception first = channel_receive(&from), second = channel_receive(&from);
    ok(sent && passed && first == ways[n].first && second == ways[n].second, "%s: %d, then %d", ways[n].name,
       (int)first, (int)second);
    for (int i = 0; i < 2; i++) close(made[i]), close(ends[i]);
  }
}

int main(void) {
  descriptor = open("/dev/null", O_RDWR);

  const bool reaps = prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  test_code();
  test_channel();
  test_deeds(reaps);
  test_memory();
  test_last_words();
  test_large_result();
  test_team(reaps);
  test_orders();
  test_first_to_end();
  test_any();
  return tap_done();
}
