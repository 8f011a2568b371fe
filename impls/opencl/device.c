/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/opencl/opencl.h"

#ifdef HAVE_OPENCL
#define CL_TARGET_OPENCL_VERSION 120
#include "impls/opencl/device.h"

#include <CL/cl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A head, and then lib/exact/sincos.h, pair.h and cr.cl as lines of a string. */
static const char source[] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                             "#pragma OPENCL FP_CONTRACT OFF\n"
#include "impls/opencl/cr.inc"
    ;

/* Work-items of a group, along a row and across rows. Constants, since some compilers compile the kernel again for each
   number. */
#define LANES 32
#define BANDS 4
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
#define SETTINGS "-cl-std=CL1.2 -DLANES=" STRING(LANES) " -DBANDS=" STRING(BANDS)

enum { NAME = 100, TEXT = 300 };

typedef enum memory { TURNS, POSITIONS, X, OUT, LIST, EXACT, MEMORIES } memory;

static struct {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue;
  cl_kernel make_rows, apply_rows, apply_pairs, fill, scale;
  cl_mem memory[MEMORIES];
  size_t bytes[MEMORIES];
  uint64_t owner; /* of the turns */
  uint32_t *list; /* the last command's uncertain elements, after their count */
  size_t listed;  /* room for that many */
  char name[NAME], refusal[TEXT];
  bool is_gpu, is_open, stays;
  double busy; /* seconds of kernels, if it stays */
} device;

static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER, using = PTHREAD_MUTEX_INITIALIZER;

/* ---- opening ----------------------------------------------------------------------------------- */

static cl_ulong number_of(cl_device_id id, cl_device_info what, size_t size) {
  cl_ulong number = 0;
  return clGetDeviceInfo(id, what, size, &number, NULL) == CL_SUCCESS ? number : 0;
}

/* Returns what the device lacks, or null. Conversions, sums, products and fused multiply-adds of f64, and operations on
   f32 that may be subnormal, must be those of IEEE 754; OpenCL requires the former of every device that has f64. */
static const char *lack_of(cl_device_id id) {
  const cl_device_fp_config needed = CL_FP_DENORM | CL_FP_INF_NAN | CL_FP_ROUND_TO_NEAREST;
  const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  if (!number_of(id, CL_DEVICE_AVAILABLE, sizeof(cl_bool))) return "is not available";
  if (!number_of(id, CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool))) return "has no compiler";
  if (!number_of(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config))) return "has no f64 (cl_khr_fp64)";
  if ((number_of(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config)) & needed) != needed)
    return "has no subnormal f32";
  if (number_of(id, CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool)) != little) return "has another byte order";
  size_t sizes[8] = {0}; /* of a group, in each dimension; OpenCL has three */
  clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof sizes, sizes, NULL);
  if (number_of(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)) < LANES * BANDS || sizes[0] < LANES * BANDS ||
      sizes[1] < BANDS)
    return "has too small groups";
  return NULL;
}

static const char *refuse(const char *format, const char *text) {
  snprintf(device.refusal, sizeof device.refusal, format, text);
  return device.refusal;
}

/* Looks at all devices of a platform. Sets the device unless it is a GPU already; returns the number of devices. */
static cl_uint look_at(cl_platform_id platform) {
  enum { MOST = 64 };
  cl_device_id ids[MOST];
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MOST, ids, &count) != CL_SUCCESS) return 0;
  if (count > MOST) count = MOST;
  for (cl_uint i = 0; i < count; i++) {
    char name[NAME] = "";
    clGetDeviceInfo(ids[i], CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    const bool is_gpu = number_of(ids[i], CL_DEVICE_TYPE, sizeof(cl_device_type)) & CL_DEVICE_TYPE_GPU;
    const char *lack = lack_of(ids[i]);
    if (lack && !device.id) snprintf(device.refusal, sizeof device.refusal, "OpenCL's device %s %s", name, lack);
    if (lack || (device.id && (device.is_gpu || !is_gpu))) continue;
    device.id = ids[i];
    device.is_gpu = is_gpu;
    memcpy(device.name, name, sizeof name);
  }
  return count;
}

static const char *find(void) {
  enum { MOST = 32 };
  cl_platform_id platforms[MOST];
  cl_uint count = 0, devices = 0;
  if (clGetPlatformIDs(MOST, platforms, &count) != CL_SUCCESS || count == 0) return "there is no OpenCL platform here";
  for (cl_uint i = 0; i < count && i < MOST; i++) devices += look_at(platforms[i]);
  if (devices == 0) return "OpenCL has no device here";
  return device.id ? NULL : device.refusal;
}

/* Returns what the compiler says of the source, on one line. */
static const char *refuse_build(cl_program program) {
  char log[TEXT] = "";
  char *whole = NULL;
  size_t size = 0;
  clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
  whole = calloc(1, size + 1);
  if (whole) clGetProgramBuildInfo(program, device.id, CL_PROGRAM_BUILD_LOG, size, whole, NULL);
  snprintf(log, sizeof log - sizeof "OpenCL does not compile the kernel: ", "%s", whole ? whole : "");
  free(whole);
  for (char *c = log; *c; c++)
    if ((unsigned char)*c < ' ') *c = ' ';
  return refuse("OpenCL does not compile the kernel: %s", log);
}

static const char *compile(void) {
  const char *text = source;
  cl_int error, errors[5];
  device.context = clCreateContext(NULL, 1, &device.id, NULL, NULL, &error);
  if (error != CL_SUCCESS) return refuse("OpenCL's device %s cannot be used", device.name);
  device.queue = clCreateCommandQueue(device.context, device.id, 0, &error);
  if (error != CL_SUCCESS) return refuse("OpenCL's device %s takes no commands", device.name);
  cl_program program = clCreateProgramWithSource(device.context, 1, &text, NULL, &error);
  if (error != CL_SUCCESS) return refuse("OpenCL's device %s takes no source", device.name);
  error = clBuildProgram(program, 1, &device.id, SETTINGS, NULL, NULL);
  if (error != CL_SUCCESS) return refuse_build(program);
  device.make_rows = clCreateKernel(program, "make_rows", &errors[0]);
  device.apply_rows = clCreateKernel(program, "apply_rows", &errors[1]);
  device.apply_pairs = clCreateKernel(program, "apply_pairs", &errors[2]);
  device.fill = clCreateKernel(program, "fill", &errors[3]);
  device.scale = clCreateKernel(program, "scale", &errors[4]);
  for (int i = 0; i < 5; i++)
    if (errors[i] != CL_SUCCESS) return refuse_build(program);
  clReleaseProgram(program);
  return NULL;
}

enum { SIGNALS = 65, VARIABLES = 4096 };

/* The handlers of signals and the environment variables of the program. */
typedef struct surroundings {
  struct sigaction actions[SIGNALS];
  char *variables[VARIABLES];
  size_t count;
} surroundings;

static void remember(surroundings *s) {
  for (int i = 1; i < SIGNALS; i++) sigaction(i, NULL, &s->actions[i]); /* fails for signals that do not exist */
  for (s->count = 0; environ[s->count] && s->count < VARIABLES; s->count++) s->variables[s->count] = environ[s->count];
}

static bool has_variable(const surroundings *s, const char *entry) {
  size_t i = 0;
  while (i < s->count && s->variables[i] != entry) i++;
  return i < s->count || s->count == VARIABLES;
}

/* Takes back what a driver changed: pocl and LLVM handle many signals, and hide hwloc's plugins by a variable. */
static void restore(const surroundings *s) {
  for (int i = 1; i < SIGNALS; i++) sigaction(i, &s->actions[i], NULL);
  for (size_t i = 0; environ[i];) {
    char name[TEXT];
    const size_t length = strcspn(environ[i], "=");
    const bool is_new = !has_variable(s, environ[i]) && length < sizeof name;
    snprintf(name, sizeof name, "%.*s", (int)length, environ[i]);
    if (!is_new || unsetenv(name) != 0) i++;
  }
  for (size_t i = 0; i < s->count; i++) {
    const char *value = strchr(s->variables[i], '=');
    char name[TEXT];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(s->variables[i], "="), s->variables[i]);
    if (value && !getenv(name)) putenv(s->variables[i]);
  }
}

static void *open_once(void *result) {
  const char **why = result;
  static surroundings before;
  remember(&before);
  *why = find();
  if (!*why) *why = compile();
  restore(&before);
  return NULL;
}

/* A thread of its own opens the device, so that what drivers allocate, or change in a thread, belongs to no caller. */
const char *device_open(void) {
  static const char *why;
  pthread_t opener;
  pthread_mutex_lock(&opening);
  if (!device.is_open) {
    why = "no thread could be started for it";
    if (pthread_create(&opener, NULL, open_once, &why) == 0) {
      pthread_join(opener, NULL);
      device.is_open = true;
    }
  }
  pthread_mutex_unlock(&opening);
  return why;
}

opencl_reply opencl_ask(void) {
  const char *refusal = device_open();
  return (opencl_reply){refusal, device.name, device.is_gpu};
}

/* ---- commands ---------------------------------------------------------------------------------- */

static void must(cl_int error, const char *what) {
  if (error == CL_SUCCESS) return;
  fprintf(stderr, "cr-opencl: %s: OpenCL's error %d\n", what, error);
  abort();
}

void device_begin(void) {
  pthread_mutex_lock(&using);
}

void device_end(void) {
  pthread_mutex_unlock(&using);
}

int64_t device_most(void) {
  return (int64_t)(number_of(device.id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong)) / sizeof(float)) - 1;
}

int64_t device_elements(void) {
  const int64_t usual = device.stays ? INT64_C(1) << 31 : INT64_C(1) << 22, most = device_most();
  return usual < most ? usual : most;
}

/* Returns device memory of at least this size, whose content is undefined. */
static cl_mem room(memory which, size_t bytes) {
  const size_t least = which == X || which == OUT || which == LIST ? (size_t)1 << 24 : 1 << 12;
  cl_int error;
  if (bytes <= device.bytes[which] && device.memory[which]) return device.memory[which];
  if (device.memory[which]) must(clReleaseMemObject(device.memory[which]), "clReleaseMemObject");
  device.bytes[which] = bytes > least ? bytes : least;
  device.memory[which] = clCreateBuffer(device.context, CL_MEM_READ_WRITE, device.bytes[which], NULL, &error);
  must(error, "clCreateBuffer");
  return device.memory[which];
}

static void send(memory to, size_t at, size_t bytes, const void *from) {
  must(clEnqueueWriteBuffer(device.queue, device.memory[to], CL_TRUE, at, bytes, from, 0, NULL, NULL),
       "clEnqueueWriteBuffer");
}

static void receive(memory from, size_t at, size_t bytes, void *to) {
  must(clEnqueueReadBuffer(device.queue, device.memory[from], CL_TRUE, at, bytes, to, 0, NULL, NULL),
       "clEnqueueReadBuffer");
}

/* Waits for a command, and adds its time on the device. */
static void add_time(cl_event event) {
  cl_ulong start = 0, end = 0;
  must(clWaitForEvents(1, &event), "clWaitForEvents");
  must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL), "the begin of a kernel");
  must(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL), "the end of a kernel");
  must(clReleaseEvent(event), "clReleaseEvent");
  device.busy += 1e-9 * (double)(end - start);
}

static size_t parts(int64_t count, int64_t each) {
  return (size_t)((count + each - 1) / each);
}

/* Runs a kernel with the request and these memories as its arguments, over so many work-items, or a few more, in each
   dimension. Without rows, there is one dimension. */
static void run(cl_kernel kernel, const pair_request *request, size_t length, size_t rows, size_t shares,
                const memory *arguments, cl_uint count) {
  const size_t group[] = {rows ? LANES : LANES * BANDS, rows ? BANDS : 1, 1};
  const size_t global[] = {(length + group[0] - 1) / group[0] * group[0], rows ? (rows + BANDS - 1) / BANDS * BANDS : 1,
                           shares};
  must(clSetKernelArg(kernel, 0, sizeof *request, request), "clSetKernelArg");
  for (cl_uint n = 0; n < count; n++)
    must(clSetKernelArg(kernel, n + 1, sizeof(cl_mem), &device.memory[arguments[n]]), "clSetKernelArg");
  cl_event event;
  must(clEnqueueNDRangeKernel(device.queue, kernel, 3, NULL, global, group, 0, NULL, device.stays ? &event : NULL),
       "clEnqueueNDRangeKernel");
  if (device.stays) add_time(event);
}

/* Runs a kernel over the pairs of all rows, whose last argument is the list, which may get `most` entries. */
static int64_t run_listed(cl_kernel kernel, const pair_request *request, const memory *arguments, cl_uint count,
                          int64_t most, const uint32_t **uncertain) {
  const uint32_t none = 0;
  uint32_t found;
  room(LIST, sizeof found * ((size_t)most + 1));
  send(LIST, 0, sizeof none, &none);
  run(kernel, request, parts(request->pairs, request->each), parts(request->rows, request->band),
      parts(request->sequences * request->heads, request->share), arguments, count);
  receive(LIST, 0, sizeof found, &found);
  if (found > device.listed) {
    free(device.list);
    device.listed = found;
    device.list = malloc(found * sizeof found);
    must(device.list ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the list of uncertain elements");
  }
  if (found) receive(LIST, sizeof found, found * sizeof found, device.list);
  *uncertain = device.list;
  return found;
}

void device_set_turns(uint64_t owner, int64_t pairs, const uint64_t *high, const uint64_t *low) {
  const size_t bytes = 2 * sizeof(uint64_t) * (size_t)pairs;
  if (device.owner == owner) return;
  uint64_t *both = malloc(bytes);
  must(both ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY, "the frequencies");
  for (int64_t i = 0; i < pairs; i++) {
    both[2 * i] = high[i];
    both[2 * i + 1] = low[i];
  }
  room(TURNS, bytes);
  send(TURNS, 0, bytes, both);
  free(both);
  device.owner = owner;
}

int64_t device_make_rows(const pair_request *request, const uint32_t **uncertain) {
  static const memory arguments[] = {TURNS, OUT, LIST};
  const int64_t elements = request->rows * request->dim;
  room(OUT, sizeof(float) * (size_t)elements);
  return run_listed(device.make_rows, request, arguments, 3, elements, uncertain);
}

int64_t device_apply_rows(const pair_request *request, const int64_t *positions, device_sequences of, const void *x,
                          const uint32_t **uncertain) {
  static const memory arguments[] = {TURNS, POSITIONS, X, OUT, LIST};
  const size_t listed = request->listed ? (size_t)request->rows : 0, sequences = (size_t)request->sequences;
  const bool has_x = device.stays && device.bytes[X] >= sequences * of.bytes;
  room(POSITIONS, listed * sizeof *positions);
  room(X, sequences * of.bytes);
  room(OUT, sequences * of.bytes);
  if (listed) send(POSITIONS, 0, listed * sizeof *positions, positions);
  for (size_t n = 0; n < sequences && !has_x; n++) send(X, n * of.bytes, of.bytes, (const char *)x + n * of.apart);
  return run_listed(device.apply_rows, request, arguments, 5, request->rows * request->pairs, uncertain);
}

void device_apply_pairs(const pair_request *request, int64_t count, const float (*exact)[2]) {
  static const memory arguments[] = {LIST, EXACT, X, OUT};
  const size_t bytes = sizeof *exact * (size_t)count;
  room(EXACT, bytes);
  send(EXACT, 0, bytes, exact);
  run(device.apply_pairs, request, (size_t)count, 0, 1, arguments, 4);
}

void device_read(void *out, device_sequences of, int64_t sequences) {
  for (int64_t n = 0; n < sequences && !device.stays; n++)
    receive(OUT, (size_t)n * of.bytes, of.bytes, (char *)out + (size_t)n * of.apart);
}

void device_write(int64_t element, float value) {
  send(OUT, sizeof value * (size_t)element, sizeof value, &value);
}

/* ---- times ------------------------------------------------------------------------------------- */

bool opencl_stay(void) {
  cl_int error;
  if (device_open()) return false;
  device_begin();
  if (!device.stays) {
    cl_command_queue timed = clCreateCommandQueue(device.context, device.id, CL_QUEUE_PROFILING_ENABLE, &error);
    device.stays = error == CL_SUCCESS;
    if (device.stays) {
      must(clReleaseCommandQueue(device.queue), "clReleaseCommandQueue");
      device.queue = timed;
      device.bytes[X] = 0; /* x of an earlier call */
    }
  }
  device_end();
  return device.stays;
}

bool device_stays(void) {
  return device.stays;
}

double opencl_busy(void) {
  device_begin();
  const double seconds = device.busy;
  device.busy = 0;
  device_end();
  return seconds;
}

double opencl_rate(bool scales, size_t bytes) {
  static const memory filled[] = {OUT}, scaled[] = {X, OUT};
  enum { PASSES = 10 };
  const pair_request request = {.width = (long)((bytes + sizeof(cl_float4) - 1) / sizeof(cl_float4)), .factor = 1.0};
  const size_t whole = (size_t)request.width * sizeof(cl_float4);
  double best = 0;
  device_begin();
  const double before = device.busy;
  room(OUT, whole);
  if (scales) room(X, whole);
  for (int pass = 0; pass < PASSES; pass++) {
    device.busy = 0;
    run(scales ? device.scale : device.fill, &request, (size_t)request.width, 0, 1, scales ? scaled : filled,
        scales ? 2 : 1);
    if (device.busy > 0) best = fmax(best, (scales ? 2.0 : 1.0) * (double)bytes / device.busy);
  }
  device.busy = before;
  device_end();
  return best;
}
#else
opencl_reply opencl_ask(void) {
  return (opencl_reply){opencl_cr.absent, "", false};
}

bool opencl_stay(void) {
  return false;
}

double opencl_busy(void) {
  return 0.0;
}

double opencl_rate(bool scales, size_t bytes) {
  (void)scales, (void)bytes;
  return 0.0;
}
#endif
