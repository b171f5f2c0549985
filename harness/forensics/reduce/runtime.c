/* The tensors of the call, each between pages that nobody may touch. */
enum { OUTSIDE = 0xa5, MOST_SHOWN = 16, SECONDS = 60 };

static size_t page;

/* As laid out: its pages' first byte, how many bytes there are, where the tensor begins. */
static struct {
  char *pages, *at;
  size_t bytes;
} memory[TENSORS];

static void die(const char* what) {
  perror(what);
  exit(2);
}

/* Every tensor's last byte, or its first, beside a page that faults; inputs where they can only be read. */
static void place(int at_end) {
  for (int t = 0; t < TENSORS; ++t) {
    const size_t bytes = (tensors[t].bytes + tensors[t].over_read + tensors[t].alignment + page - 1) / page * page;
    char* const mapped = mmap(NULL, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED || mprotect(mapped + page, bytes, PROT_READ | PROT_WRITE) != 0) die("memory");
    char* const pages = mapped + page;
    char* at = pages;
    if (at_end) {
      at = pages + bytes - tensors[t].bytes - tensors[t].over_read;
      at -= (uintptr_t)at % tensors[t].alignment;
    }
    memset(pages, OUTSIDE, bytes);
    if (tensors[t].data != NULL) memcpy(at, tensors[t].data, tensors[t].bytes);
    memory[t].pages = pages;
    memory[t].at = at;
    memory[t].bytes = bytes;
  }
  for (int t = 0; t < TENSORS; ++t) {
    if (tensors[t].lies_on >= 0) memory[t] = memory[tensors[t].lies_on];
  }
  for (int t = 0; t < TENSORS; ++t) {
    int written = tensors[t].data == NULL;
    for (int o = 0; o < TENSORS; ++o) written = written || tensors[o].lies_on == t;
    if (!written && mprotect(memory[t].pages, memory[t].bytes, PROT_READ) != 0) die("memory");
  }
}

/* A fault: which tensor it is nearest to, and how far from it. */
static void report_fault(int signal, siginfo_t* info, void* context) {
  (void)context;
  if (signal == SIGALRM) {
    printf("WRONG: it did not return within %d s\n", SECONDS);
  } else if (signal != SIGSEGV && signal != SIGBUS) {
    printf("WRONG: it raised signal %d\n", signal);
  } else {
    const char* const address = info->si_addr;
    const char* where = NULL;
    long long byte = 0;
    for (int t = 0; t < TENSORS; ++t) {
      if (address < memory[t].pages - page || address >= memory[t].pages + memory[t].bytes + page) continue;
      where = tensors[t].name;
      byte = address - memory[t].at;
    }
    if (where == NULL) printf("WRONG: it touched memory far from every tensor (signal %d)\n", signal);
    if (where != NULL) printf("WRONG: it touched byte %lld of %s (signal %d)\n", byte, where, signal);
  }
  fflush(stdout);
  _exit(1);
}

static void catch_faults(void) {
  static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGALRM};
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = report_fault;
  action.sa_flags = SA_SIGINFO;
  for (size_t i = 0; i < sizeof signals / sizeof *signals; ++i) sigaction(signals[i], &action, NULL);
  alarm(SECONDS);
}

/* Whether the output's class and distance are right. */
static int is_within(double got, double want, double bound) {
  const double overflow = ldexp(2 - ldexp(1, -24), 127); /* from here on a number rounds to infinity */
  if (isnan(want) || isnan(got)) return isnan(want) && isnan(got);
  if ((KEEPS_SIGN || (got == 0 && want == 0 && bound == 0)) && !signbit(got) != !signbit(want)) return 0;
  const int straddles = isfinite(want) && fabs(want) + bound >= overflow && fabs(want) - bound < overflow;
  if (isinf(got)) return (straddles || fabs(want) >= overflow) && !signbit(got) == !signbit(want);
  return (straddles || fabs(want) < overflow) && fabs(got - want) <= bound;
}

/* `infinity` has the exponent's bits alone; the sign is the highest bit of its size. */
static int is_nan(const Output* output, uint64_t bits) {
  const uint64_t sign = (uint64_t)1 << (8 * output->size - 1);
  return (bits & ~sign) > output->infinity;
}

static int is_equal(const Output* output, const unsigned char* got, const unsigned char* want) {
  uint64_t got_bits = 0, want_bits = 0;
  if (memcmp(got, want, output->size) == 0) return 1;
  if (output->infinity == 0) return 0;
  memcpy(&got_bits, got, output->size);
  memcpy(&want_bits, want, output->size);
  return is_nan(output, got_bits) && is_nan(output, want_bits);
}

static void print_bytes(const char* word, const unsigned char* bytes, size_t count) {
  printf(" %s 0x", word);
  for (size_t i = count; i-- > 0;) printf("%02x", bytes[i]);
}

/* How many elements of an output are wrong. */
static int64_t check(const Output* output) {
  int64_t wrong = 0;
  for (int64_t i = 0; i < output->count; ++i) {
    const unsigned char* const got = (const unsigned char*)memory[output->tensor].at + (size_t)output->at[i] * output->size;
    const char* const name = tensors[output->tensor].name;
    if (output->truth != NULL) {
      float value;
      memcpy(&value, got, sizeof value);
      const double want = output->truth[i][0], bound = output->truth[i][1];
      if (bound < 0 || is_within(value, want, bound) || ++wrong > MOST_SHOWN) continue;
      printf("%s, element %lld: got %.9g want %.17g, at most %.3g apart\n", name, (long long)output->at[i], value, want, bound);
    } else {
      const unsigned char* const want = output->bytes + (size_t)i * output->size;
      if (is_equal(output, got, want) || ++wrong > MOST_SHOWN) continue;
      printf("%s, element %lld:", name, (long long)output->at[i]);
      print_bytes("got", got, output->size);
      print_bytes("want", want, output->size);
      printf("\n");
    }
  }
  return wrong;
}

/* Bytes beside the tensors, and between the rows of outputs, that are no longer as they were. */
static int64_t check_outside(void) {
  int64_t wrong = 0;
  for (int t = 0; t < TENSORS; ++t) {
    if (tensors[t].lies_on >= 0) continue;
    char* const known = calloc(memory[t].bytes, 1);
    if (known == NULL) die("memory");
    char* const elements = known + (memory[t].at - memory[t].pages);
    if (tensors[t].data != NULL) memset(elements, 1, tensors[t].bytes);
    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; ++o) {
      for (int64_t i = 0; i < outputs[o].count && outputs[o].tensor == t; ++i)
        memset(elements + (size_t)outputs[o].at[i] * outputs[o].size, 1, outputs[o].size);
    }
    for (size_t byte = 0; byte < memory[t].bytes; ++byte) {
      if (known[byte] || (unsigned char)memory[t].pages[byte] == OUTSIDE || ++wrong > MOST_SHOWN) continue;
      printf("%s: byte %lld was written, which lies outside\n", tensors[t].name,
             (long long)(memory[t].pages + byte - memory[t].at));
    }
    free(known);
  }
  return wrong;
}

/* A plugin's kernel, or a function that takes the argument struct. */
typedef struct Kernel {
  uint32_t size;
  int32_t claim;
  const char *op, *name, *isa, *packed_tensor;
  int64_t (*packed_bytes)(const void*);
  int (*pack)(const void*, void*);
  int (*run)(const void*);
} Kernel;
typedef struct Plugin {
  uint32_t abi, size;
  const char *name, *version;
  const Kernel* kernels;
  int64_t kernel_count;
} Plugin;

#ifdef KERNEL
extern int KERNEL(const void*);
static Kernel find_kernel(int count, char** words) {
  Kernel kernel = {.run = KERNEL};
  (void)count, (void)words;
  return kernel;
}
#else
static Kernel find_kernel(int count, char** words) {
  Kernel found = {0};
  if (count < 2) {
    fprintf(stderr, "usage: %s PLUGIN.so [KERNEL], or LIBRARY.so FUNCTION; or compile with -DKERNEL=FUNCTION and link it\n",
            words[0]);
    exit(2);
  }
  void* const library = dlopen(words[1], RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  const char* const name = count > 2 ? words[2] : NAME;
  void* symbol = dlsym(library, "assay_plugin");
  if (symbol != NULL) {
    const Plugin* (*describe)(void);
    memcpy(&describe, &symbol, sizeof symbol);
    const Plugin* const plugin = describe();
    for (int64_t i = 0; i < plugin->kernel_count; ++i) {
      const Kernel* const kernel = (const Kernel*)((const char*)plugin->kernels + (size_t)i * plugin->kernels->size);
      if (strcmp(kernel->op, OP) == 0 && strcmp(kernel->name, name) == 0) return *kernel;
    }
  }
  symbol = dlsym(library, name);
  if (symbol == NULL) {
    fprintf(stderr, "%s: no kernel or function '%s' of %s\n", words[1], name, OP);
    exit(2);
  }
  memcpy(&found.run, &symbol, sizeof symbol);
  return found;
}
#endif

/* What it returns; a layout of its own for one input is made first. */
static int run(const Kernel* kernel) {
  char* const args = arguments();
  for (int t = 0; t < TENSORS && kernel->packed_tensor != NULL; ++t) {
    if (tensors[t].data == NULL || strcmp(kernel->packed_tensor, tensors[t].name) != 0) continue;
    const size_t bytes = ((size_t)kernel->packed_bytes(args) + 63) / 64 * 64;
    void* const packed = aligned_alloc(64, bytes == 0 ? 64 : bytes);
    if (packed == NULL) die("memory");
    const int status = kernel->pack(args, packed);
    if (status != 0) return status;
    memcpy(args + tensors[t].field, &packed, sizeof packed);
  }
  return kernel->run(args);
}

int main(int count, char** words) {
  const Kernel kernel = find_kernel(count, words);
  int64_t outputs_seen = 0, wrong = 0;
  page = (size_t)sysconf(_SC_PAGESIZE);
  catch_faults();
  for (int at_end = 1; at_end >= 0; --at_end) {
    place(at_end);
    const int status = run(&kernel);
    if (status != 0) {
      printf("WRONG: it returned %d; expected 0\n", status);
      return 1;
    }
    for (size_t o = 0; o < sizeof outputs / sizeof *outputs; ++o) {
      wrong += check(&outputs[o]);
      outputs_seen += outputs[o].count;
    }
    wrong += check_outside();
    if (wrong > 0) break;
  }
  printf("%s: %s, %lld outputs looked at, %lld wrong\n", wrong > 0 ? "WRONG" : "right", OP, (long long)outputs_seen,
         (long long)wrong);
  return wrong > 0;
}
