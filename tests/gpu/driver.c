/* A CUDA driver without a GPU: as much of libcuda.so as Taichi 1.7.4 calls, so that its CUDA backend compiles and runs.

   A PTX module it is handed is kept as a file, turned to C (ptx2c.py), compiled by gcc when a kernel of it is first
   asked for, and run here, one GPU thread after another. Memory is host memory. Barriers, shuffles and votes between
   threads cannot be run so and are refused by ptx2c.py; Taichi emits none unless it is asked to.

   SOFTGPU_DIR     where PTX and compiled modules are kept
   SOFTGPU_HOME    the folder of ptx2c.py;  SOFTGPU_PYTHON  the interpreter that runs it
   SOFTGPU_ORDER   threads of a launch: 0 forward, 1 backward, n > 1 shuffled with seed n
   SOFTGPU_SM      multiprocessors told to Taichi, which launches 2 blocks of 128 threads for each in a loop of unknown length
   SOFTGPU_WATCH   1: races, bytes and instructions of every launch are recorded
   SOFTGPU_REPORT  file that gets the record at the end of the process
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xmmintrin.h>

typedef uint32_t Result;
typedef struct { /* a GPU thread; the same struct is in ptx2c.py */
  uint32_t tid, ntid, ctaid, nctaid;
  uint64_t instructions, loads;
} Thread;
typedef struct {
  char ptx[512], library[512];
  void *handle;
} Module;
typedef struct Task { /* one kernel of CUDA's; a kernel of Taichi's is several */
  char name[200];
  Module *module;
  void (*run)(Thread *, void **);
  struct Task *next;
  uint64_t launches, threads, instructions, longest, loads, deepest, atomics, sectors, worst;
} Task;
enum Access { LOAD, STORE, INTEGER_ATOMIC, FLOAT_ATOMIC };
enum Conflict { READ_WRITE, WRITE_WRITE, FLOAT_ATOMICS, INTEGER_ATOMICS, ATOMIC_AND_PLAIN, SAME_VALUE };
typedef struct {
  Task *task;
  uint64_t base, offset;
  enum Conflict kind;
  uint32_t one, other;
  uint64_t times;
} Race;
enum { SIZES = 48, MOST_RACES = 4096, CALLS = 32 };
#define ARENA (16ull << 30)

static char *arena;
static uint64_t top;
static void *freed[SIZES];
static uint64_t *allocation_of_page;
/* of the present launch: who wrote and who read each word, which 32 bytes were touched */
static uint64_t *writer, *reader;
static uint32_t *sector;
static Task *tasks, *now;
static uint32_t epoch;
static Race races[MOST_RACES];
static int nrace;
static uint64_t calls[CALLS];
static const char *call_names[CALLS];
static const char *folder;
int softgpu_order, softgpu_sm, softgpu_watching;

#define CALLED(i, name) (call_names[i] = name, calls[i]++)

void softgpu_report(const char *path);

static int number(const char *name, int otherwise) {
  const char *s = getenv(name);
  return s && *s ? atoi(s) : otherwise;
}

static void at_exit(void) {
  const char *path = getenv("SOFTGPU_REPORT");
  if (path) softgpu_report(path);
}

static void *reserve(uint64_t size) {
  return mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

__attribute__((constructor)) static void start(void) {
  folder = getenv("SOFTGPU_DIR");
  if (!folder) folder = "/tmp/softgpu";
  mkdir(folder, 0777);
  softgpu_order = number("SOFTGPU_ORDER", 0);
  softgpu_sm = number("SOFTGPU_SM", 4);
  softgpu_watching = number("SOFTGPU_WATCH", 0);
  arena = reserve(ARENA);
  allocation_of_page = reserve(ARENA / 4096 * 8);
  if (softgpu_watching) {
    writer = reserve(ARENA * 2);
    reader = reserve(ARENA * 2);
    sector = reserve(ARENA / 8);
  }
  atexit(at_exit);
}

/* ---- memory: allocations are powers of two of pages; a freed one is taken again */

static void *take(size_t n) {
  int size = 12;
  while (((size_t)1 << size) < n) size++;
  char *p = freed[size];
  if (p)
    freed[size] = *(void **)p;
  else {
    p = arena + top;
    top += (uint64_t)1 << size;
  }
  if (top > ARENA) return 0;
  uint64_t first = (p - arena) >> 12;
  for (uint64_t i = 0; i < (uint64_t)1 << (size - 12); i++) allocation_of_page[first + i] = (uint64_t)p | size;
  return p;
}

static void give(void *p) {
  if (!p) return;
  int size = allocation_of_page[((char *)p - arena) >> 12] & 4095;
  *(void **)p = freed[size];
  freed[size] = p;
}

/* ---- what threads do to each other */

static void conflict(enum Conflict kind, uint64_t address, uint32_t one, uint32_t other) {
  uint64_t base = allocation_of_page[(address - (uint64_t)arena) >> 12] & ~4095ull;
  for (int i = 0; i < nrace; i++)
    if (races[i].task == now && races[i].base == base && races[i].kind == kind) {
      races[i].times++;
      return;
    }
  if (nrace < MOST_RACES) races[nrace++] = (Race){now, base, address - base, kind, one, other, 1};
}

static void watch_word(uint64_t word, uint64_t address, enum Access kind, uint32_t me, int same) {
  uint64_t w = writer[word], r = reader[word];
  uint32_t writing = w & 0x7FFFFFFF, reading = r;
  int atomically = w >> 31 & 1;
  int written = w >> 32 == epoch && writing != me, read = r >> 32 == epoch && reading != me;
  uint64_t mark = (uint64_t)epoch << 32 | (uint64_t)(kind >= INTEGER_ATOMIC) << 31 | me;
  if (kind == LOAD) {
    if (written) conflict(atomically ? ATOMIC_AND_PLAIN : READ_WRITE, address, writing, me);
    reader[word] = (uint64_t)epoch << 32 | (read ? 0xFFFFFFFFu : me); /* several: a writer meets another in any case */
  } else if (kind == STORE) {
    if (written) conflict(atomically ? ATOMIC_AND_PLAIN : same ? SAME_VALUE : WRITE_WRITE, address, writing, me);
    if (read && !same) conflict(READ_WRITE, address, reading, me);
    writer[word] = mark;
  } else {
    enum Conflict both = kind == FLOAT_ATOMIC ? FLOAT_ATOMICS : INTEGER_ATOMICS;
    if (written) conflict(atomically ? both : ATOMIC_AND_PLAIN, address, writing, me);
    if (read) conflict(ATOMIC_AND_PLAIN, address, reading, me);
    writer[word] = mark;
  }
}

/* called by compiled modules before each access of global memory */
void softgpu_watch(Thread *t, uint64_t address, int size, int kind, uint64_t value) {
  uint64_t offset = address - (uint64_t)arena;
  if (offset >= top) return;
  t->loads += kind != STORE;
  now->atomics += kind >= INTEGER_ATOMIC;
  if (sector[offset >> 5] != epoch) {
    sector[offset >> 5] = epoch;
    now->sectors++;
  }
  int same = size == 8 ? *(uint64_t *)address == value : size == 4 ? *(uint32_t *)address == (uint32_t)value : 0;
  for (int k = 0; k < (size + 3) / 4; k++)
    watch_word((offset >> 2) + k, address, kind, t->ctaid * t->ntid + t->tid + 1, same);
}

void softgpu_report(const char *path) {
  FILE *f = fopen(path, "w");
  for (int i = 0; i < CALLS; i++)
    if (calls[i]) fprintf(f, "call %s %lu\n", call_names[i], calls[i]);
  for (Task *t = tasks; t; t = t->next)
    if (t->launches)
      fprintf(f, "task %s %lu %lu %lu %lu %lu %lu %lu %lu %lu\n", t->name, t->launches, t->threads, t->instructions,
              t->longest, t->loads, t->deepest, t->atomics, t->sectors, t->worst);
  for (int i = 0; i < nrace; i++)
    fprintf(f, "race %s %d %lu %lu %u %u %lu\n", races[i].task->name, races[i].kind, races[i].base, races[i].offset,
            races[i].one, races[i].other, races[i].times);
  fclose(f);
}

void softgpu_clear(void) {
  memset(calls, 0, sizeof calls);
  nrace = 0;
  for (Task *t = tasks; t; t = t->next)
    t->launches = t->threads = t->instructions = t->longest = t->loads = t->deepest = t->atomics = t->sectors = t->worst = 0;
}

/* ---- modules and launches */

/* Drops the numbers by which Taichi tells kernels of a process apart, c82 of body_poses_c82_0_kernel_0: so that what was
   compiled serves every process. */
static void drop_numbers(char *text) {
  char *to = text;
  for (const char *s = text; *s;) {
    size_t digits = s[0] == '_' && s[1] == 'c' ? strspn(s + 2, "0123456789") : 0;
    if (digits && s[2 + digits] == '_') {
      *to++ = *s++;
      *to++ = *s++;
      s += digits;
    } else
      *to++ = *s++;
  }
  *to = 0;
}

Result cuModuleLoadDataEx(void **out, const char *given, Result n, Result *options, void **values) {
  if (!strncmp(given, "\177ELF", 4)) return 209; /* code for another device: no binary for this one */
  Module *m = calloc(1, sizeof *m);
  char *ptx = strdup(given);
  drop_numbers(ptx);
  uint64_t hash = 1469598103934665603ull; /* FNV-1a */
  for (const char *s = ptx; *s; s++) hash = (hash ^ (uint8_t)*s) * 1099511628211ull;
  char stem[64] = "module"; /* the first task's name leads the file's */
  const char *entry = strstr(ptx, ".entry ");
  if (entry) {
    sscanf(entry + 7, "%60[^(]", stem);
    char *end = strstr(stem, "_kernel_");
    if (end) *end = 0;
  }
  snprintf(m->ptx, 512, "%s/%s-%016lx.ptx", folder, stem, hash);
  snprintf(m->library, 512, "%s/%s-%016lx%s.so", folder, stem, hash, softgpu_watching ? "-w" : "");
  if (access(m->ptx, R_OK)) { /* as a whole: other processes may read it */
    char part[600];
    snprintf(part, 600, "%s.%d", m->ptx, getpid());
    FILE *f = fopen(part, "w");
    if (!f) return 500;
    fputs(ptx, f);
    if (fclose(f) || rename(part, m->ptx)) return 500;
  }
  free(ptx);
  CALLED(0, "load_module");
  *out = m;
  return 0;
}

static int build(Module *m) {
  if (access(m->library, R_OK)) {
    char command[4096], source[600];
    snprintf(source, 600, "%s.%d.c", m->library, getpid());
    snprintf(command, 4096,
             "%s %s/ptx2c.py %s %s && gcc -O1 -march=x86-64-v3 -w -fno-strict-aliasing -ffp-contract=off -fPIC -shared "
             "%s %s -o %s.%d -lm && mv %s.%d %s && rm %s",
             getenv("SOFTGPU_PYTHON"), getenv("SOFTGPU_HOME"), m->ptx, source, softgpu_watching ? "-DWATCH" : "", source,
             m->library, getpid(), m->library, getpid(), m->library, source);
    if (system(command)) {
      fprintf(stderr, "software device: could not build %s\n", m->ptx);
      return 1;
    }
  }
  m->handle = dlopen(m->library, RTLD_NOW | RTLD_LOCAL);
  if (!m->handle) {
    fprintf(stderr, "software device: %s\n", dlerror());
    return 1;
  }
  *(void **)dlsym(m->handle, "softgpu_watch") = (void *)softgpu_watch;
  return 0;
}

Result cuModuleGetFunction(void **out, void *module, const char *name) {
  Module *m = module;
  CALLED(1, "get_function");
  for (Task *t = tasks; t; t = t->next)
    if (t->module == m && !strcmp(t->name, name)) {
      *out = t;
      return 0;
    }
  if (!m->handle && build(m)) return 500;
  Task *t = calloc(1, sizeof *t);
  char symbol[200];
  snprintf(t->name, 200, "%s", name);
  snprintf(symbol, 200, "%s", name);
  drop_numbers(symbol);
  for (char *s = symbol; *s; s++)
    if (*s == '$' || *s == '.') *s = '_';
  t->module = m;
  t->run = dlsym(m->handle, symbol);
  if (!t->run) return 500;
  t->next = tasks;
  tasks = t;
  *out = t;
  return 0;
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t c = a % b;
    a = b;
    b = c;
  }
  return a;
}

/* threads are walked as at, at + step, ... modulo n: all of them if step and n have no common divisor */
static void order(uint64_t n, uint64_t *at, uint64_t *step) {
  *at = 0;
  *step = 1;
  if (softgpu_order == 1) *at = *step = n - 1;
  if (softgpu_order > 1 && n > 1) {
    *step = n * 0.6180339 + 2 * softgpu_order;
    while (common_divisor(*step % n, n) != 1) ++*step;
    *at = 977 * softgpu_order % n;
  }
}

static void run_task(Task *t, Result gx, Result bx, void **args) {
  uint64_t n = (uint64_t)gx * bx, at, step, longest = 0, deepest = 0;
  order(n, &at, &step);
  unsigned rounding = _mm_getcsr();
  _mm_setcsr(rounding | 0x8040); /* denormal numbers are zero, as by .ftz */
  epoch++;
  now = t;
  for (uint64_t i = 0; i < n; i++) {
    Thread thread = {at % bx, bx, at / bx, gx, 0, 0};
    t->run(&thread, args);
    at = (at + step) % n;
    t->instructions += thread.instructions;
    t->loads += thread.loads;
    if (thread.instructions > longest) longest = thread.instructions;
    if (thread.loads > deepest) deepest = thread.loads;
    t->threads += thread.instructions > 40; /* others only found that there is nothing to do */
  }
  _mm_setcsr(rounding);
  t->launches++;
  t->longest += longest; /* summed over launches; the worst is that of one */
  if (longest > t->worst) t->worst = longest;
  t->deepest += deepest;
}

Result cuLaunchKernel(void *function, Result gx, Result gy, Result gz, Result bx, Result by, Result bz, Result shared,
                      void *stream, void **args, void **extra) {
  CALLED(2, "launch");
  run_task(function, gx, bx, args);
  return 0;
}

/* ---- graphs of tasks, made node by node: parameters are copied when a node is added, as by CUDA. Nodes run when all
   they depend on have run, in the order of their making, or where threads are not forward in any other that is allowed */

typedef struct { void *function; Result grid[3], block[3], shared; void **params, **extra; } NodeGiven;
typedef struct Node {
  Task *task;
  Result blocks, threads;
  uint64_t params[512];
  void *args[16];
  struct Node **behind, *next;
  size_t nbehind;
  int done;
} Node;
typedef struct { Node *nodes; } Graph;

/* sizes of a task's parameters, as its PTX declares them; how many there are, -1: what is not known here */
static int sizes_of_parameters(Task *t, size_t *sizes) {
  FILE *f = fopen(t->module->ptx, "r");
  if (!f) return -1;
  char line[1024], wanted[256];
  int n = -1;
  snprintf(wanted, 256, ".entry %s(", t->name);
  while (fgets(line, 1024, f)) {
    if (n < 0) {
      if (strstr(line, wanted)) n = 0;
      continue;
    }
    char *at = strstr(line, ".param"), *bytes = strstr(line, ".b8 ");
    if (!at) break;
    if (n == 16) { n = -1; break; }
    if (bytes && strchr(bytes, '['))
      sizes[n++] = atoi(strchr(bytes, '[') + 1);
    else {
      int bits;
      if (sscanf(at, ".param .%*1[ubsf]%d", &bits) != 1) { n = -1; break; }
      sizes[n++] = bits / 8;
    }
  }
  fclose(f);
  return n;
}

Result cuGraphCreate(Graph **out, Result flags) { *out = calloc(1, sizeof **out); return 0; }

Result cuGraphAddKernelNode(Node **out, Graph *g, Node **behind, size_t nbehind, NodeGiven *given) {
  Node *node = calloc(1, sizeof *node);
  size_t sizes[16], at = 0;
  int n = sizes_of_parameters(given->function, sizes);
  if (n < 0) return 801;
  for (int i = 0; i < n; i++) {
    if (at + (sizes[i] + 7) / 8 > 512) return 801;
    memcpy(node->args[i] = node->params + at, given->params[i], sizes[i]);
    at += (sizes[i] + 7) / 8;
  }
  node->task = given->function;
  node->blocks = given->grid[0];
  node->threads = given->block[0];
  node->behind = malloc(nbehind * sizeof *behind);
  node->nbehind = nbehind;
  for (size_t i = 0; i < nbehind; i++) node->behind[i] = behind[i];
  Node **last = &g->nodes;
  while (*last) last = &(*last)->next;
  *last = *out = node;
  return 0;
}

Result cuGraphInstantiateWithFlags(Graph **out, Graph *g, unsigned long long flags) {
  CALLED(12, "graph_instantiate");
  *out = malloc(sizeof **out); /* it has the nodes: no one here changes a graph behind its instantiation */
  **out = *g;
  return 0;
}

Result cuGraphLaunch(Graph *g, void *stream) {
  CALLED(13, "graph_launch");
  for (Node *n = g->nodes; n; n = n->next) n->done = 0;
  for (;;) {
    Node *due = 0;
    for (Node *n = g->nodes; n; n = n->next) {
      int ready = !n->done;
      for (size_t i = 0; i < n->nbehind; i++) ready &= n->behind[i]->done;
      if (ready && (!due || softgpu_order)) due = n;
    }
    if (!due) return 0;
    run_task(due->task, due->blocks, due->threads, due->args);
    due->done = 1;
  }
}

Result cuGraphDestroy(Graph *g) { free(g); return 0; }
Result cuGraphExecDestroy(Graph *g) {
  for (Node *n = g->nodes, *next; n; n = next) {
    next = n->next;
    free(n->behind);
    free(n);
  }
  free(g);
  return 0;
}

/* ---- the rest of the driver */

static Result filled(void *p, uint32_t value, size_t n) {
  CALLED(3, "memset");
  for (size_t i = 0; i < n; i++) ((uint32_t *)p)[i] = value;
  return 0;
}

static Result allocated(void **p, size_t n) {
  *p = take(n);
  return *p ? 0 : 2;
}

static Result copied(void *to, const void *from, size_t n) {
  memcpy(to, from, n);
  return 0;
}

Result cuMemcpyHtoD_v2(void *to, void *from, size_t n) { CALLED(4, "copy_to_device"); return copied(to, from, n); }
Result cuMemcpyDtoH_v2(void *to, void *from, size_t n) { CALLED(5, "copy_to_host"); return copied(to, from, n); }
Result cuMemcpyDtoD_v2(void *to, void *from, size_t n) { CALLED(6, "copy_on_device"); return copied(to, from, n); }
Result cuMemcpyHtoDAsync_v2(void *to, void *from, size_t n, void *stream) { return cuMemcpyHtoD_v2(to, from, n); }
Result cuMemcpyDtoHAsync_v2(void *to, void *from, size_t n, void *stream) { return cuMemcpyDtoH_v2(to, from, n); }
Result cuMemAlloc_v2(void **p, size_t n) { CALLED(7, "alloc"); return allocated(p, n); }
Result cuMemAllocAsync(void **p, size_t n, void *stream) { CALLED(8, "alloc_async"); return allocated(p, n); }
Result cuMemAllocManaged(void **p, size_t n, Result flags) { return allocated(p, n); }
Result cuMemFree_v2(void *p) { CALLED(9, "free"); give(p); return 0; }
Result cuMemFreeAsync(void *p, void *stream) { CALLED(10, "free_async"); give(p); return 0; }
Result cuMemsetD8_v2(void *p, uint8_t value, size_t n) { CALLED(3, "memset"); memset(p, value, n); return 0; }
Result cuMemsetD32_v2(void *p, uint32_t value, size_t n) { return filled(p, value, n); }
Result cuStreamSynchronize(void *stream) { CALLED(11, "synchronize"); return 0; }

Result cuPointerGetAttribute(Result *out, Result attribute, void *p) {
  int on_device = (char *)p >= arena && (char *)p < arena + ARENA;
  *out = on_device ? 2 : 1;
  return !on_device;
}

Result cuDeviceGetAttribute(int *out, Result attribute, int device) {
  switch (attribute) {
    case 75: *out = 9; break; /* compute capability 9.0 */
    case 76: *out = 0; break;
    case 16: *out = softgpu_sm; break;
    case 106: *out = 1; break; /* blocks that fit on a multiprocessor */
    case 2: *out = 1024; break; /* threads of a block */
    case 97: *out = 232448; break; /* shared memory of a block */
    default: *out = attribute == 115 || attribute == 41; /* memory pools, unified addresses */
  }
  return 0;
}

Result cuMemGetInfo_v2(size_t *available, size_t *total) { *available = *total = (size_t)8 << 30; return 0; }
Result cuDeviceGetName(char *s, int n, int device) { snprintf(s, n, "software device"); return 0; }
Result cuGetErrorName(Result e, const char **s) { *s = "error"; return 0; }
Result cuGetErrorString(Result e, const char **s) { *s = "of the software device"; return 0; }
Result cuDriverGetVersion(int *version) { *version = 12040; return 0; }
Result cuDeviceGetCount(int *n) { *n = 1; return 0; }
Result cuDeviceGet(int *device, int ordinal) { *device = 0; return 0; }
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int *n, void *f, int block, size_t shared) { *n = 16; return 0; }
Result cuFuncGetAttribute(int *value, Result attribute, void *f) { *value = 0; return 0; }
/* an event is the time of the host at which it was recorded [ms] */
Result cuEventCreate(void **out, Result flags) { *out = calloc(1, sizeof(double)); return *out ? 0 : 2; }
Result cuEventDestroy(void *event) { free(event); return 0; }
Result cuEventElapsedTime(float *ms, double *a, double *b) { *ms = *b - *a; return 0; }
Result cuEventRecord(double *event, void *stream) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  *event = 1e3 * t.tv_sec + 1e-6 * t.tv_nsec;
  return 0;
}

/* handles that nobody looks into */
#define HANDLE(value) { *out = (void *)(value); return 0; }
Result cuDeviceGetDefaultMemPool(void **out, int device) HANDLE(8)
Result cuCtxCreate_v2(void **out, int flags, int device) HANDLE(16)
Result cuCtxGetCurrent(void **out) HANDLE(16)
Result cuDevicePrimaryCtxRetain(void **out, int device) HANDLE(16)
Result cuStreamCreate(void **out, Result flags) HANDLE(24)

#define NOTHING(name) Result name(void) { return 0; }
NOTHING(cuInit) NOTHING(cuCtxSetCurrent) NOTHING(cuCtxSetLimit) NOTHING(cuMemAdvise) NOTHING(cuMemPoolSetAttribute)
NOTHING(cuFuncSetAttribute) NOTHING(cuEventSynchronize)

#define REFUSED(name) Result name(void) { return 801; } /* not supported */
REFUSED(cuImportExternalMemory) REFUSED(cuExternalMemoryGetMappedBuffer) REFUSED(cuMipmappedArrayGetLevel)
REFUSED(cuExternalMemoryGetMappedMipmappedArray) REFUSED(cuSurfObjectCreate) REFUSED(cuSignalExternalSemaphoresAsync)
REFUSED(cuWaitExternalSemaphoresAsync) REFUSED(cuImportExternalSemaphore)
