/* A plugin that must be refused; FAULT says why. The last few are taken: of another revision of the ABI. Also the header's C11 compile test as a whole plugin. */
#include <stdlib.h>
#include <string.h>

#include "harness/plugin/assay_plugin.h"
#include "kernels/activations/activations.h"

static AssayStatus run(const void* args) {
  const AddArgs* a = args;
  for (int64_t i = 0; i < a->n; ++i) a->y[i] = a->a[i] + a->b[i];
  return ASSAY_OK;
}

static int64_t packed_bytes(const void* args) {
  const AddArgs* a = args;
  return a->n * 4;
}

static AssayStatus pack(const void* args, void* packed) {
  (void)args;
  (void)packed;
  return ASSAY_OK;
}

#define NONE 0
#define WRONG_ABI 1
#define WRONG_SIZE 2
#define WRONG_KERNEL_SIZE 3
#define UNKNOWN_OP 4
#define UNKNOWN_ISA 5
#define DUPLICATE_NAME 6
#define NULL_RUN 7
#define HALF_LAYOUT 8
#define UNKNOWN_TENSOR 9
#define OUTPUT_TENSOR 10
#define BAD_NAME 11
#define BAD_CLAIM 12
#define NO_KERNELS 13
#define NULL_PLUGIN 14
#define NO_SYMBOL 15
#define CRASH_AT_LOAD 16
#define EXIT_AT_LOAD 17
#define ABI_1 18
#define ODD_SIZE 19
#define SIZES_DIFFER 20
#define UNKNOWN_FIELD 21
#define UNKNOWN_PLUGIN_FIELD 22
#define MALFORMED_PROPERTY 23
#define UNKNOWN_PROPERTY 24
#define OLDER_REVISION 25
#define NEWER_REVISION 26
#define ODD_PROPERTY 27
#define CANONICAL_BY_CUT 28
#define USELESS_PROPERTY 29
#define CANONICAL_BY_WORD 30
#define BAD_VERSION 31
#define INPUT_TENSOR 32
#define ACTIVATIONS_TENSOR 33

/* A kernel as a later revision of the ABI may lay it out. */
typedef struct Kernel {
  AssayPluginKernel known;
#if FAULT == UNKNOWN_FIELD || FAULT == NEWER_REVISION
  const char* more[2];
#endif
} Kernel;

#define KERNEL_SIZE                                                     \
  (FAULT == WRONG_KERNEL_SIZE ? 56                                      \
   : FAULT == ODD_SIZE        ? 76                                      \
   : FAULT == OLDER_REVISION  ? offsetof(AssayPluginKernel, properties) \
                              : sizeof(Kernel))
#define PROPERTIES                                                                   \
  (FAULT == MALFORMED_PROPERTY                               ? "order=rows"          \
   : FAULT == ODD_PROPERTY                                   ? "allocates=no;"       \
   : FAULT == CANONICAL_BY_CUT                               ? "batch-invariant=no;" \
   : FAULT == UNKNOWN_PROPERTY                               ? "ordre=rows;"         \
   : FAULT == USELESS_PROPERTY || FAULT == CANONICAL_BY_WORD ? "order=free;"         \
   : FAULT == NEWER_REVISION                                 ? ""                    \
                                                             : NULL)

#define PACKS (FAULT == UNKNOWN_TENSOR || FAULT == OUTPUT_TENSOR || FAULT == INPUT_TENSOR || FAULT == ACTIVATIONS_TENSOR)

static const Kernel kernels[] = {
    {.known = {.size = KERNEL_SIZE,
               .claim = FAULT == BAD_CLAIM                                        ? 7
                        : FAULT == CANONICAL_BY_CUT || FAULT == CANONICAL_BY_WORD ? ASSAY_CLAIM_CANONICAL
                                                                                  : ASSAY_CLAIM_BOUNDED,
               .op = FAULT == UNKNOWN_OP           ? "ad"
                     : FAULT == ACTIVATIONS_TENSOR ? "gemm_f16"
                                                   : "add",
               .name = FAULT == BAD_NAME ? "a b" : "one",
               .isa = FAULT == UNKNOWN_ISA ? "avx3" : "scalar",
               .packed_tensor = FAULT == HALF_LAYOUT          ? "b"
                                : FAULT == UNKNOWN_TENSOR     ? "w"
                                : FAULT == OUTPUT_TENSOR      ? "y"
                                : FAULT == INPUT_TENSOR       ? "a"
                                : FAULT == ACTIVATIONS_TENSOR ? "x"
                                                              : NULL,
               .packed_bytes = PACKS ? packed_bytes : NULL,
               .pack = PACKS ? pack : NULL,
               .run = FAULT == NULL_RUN ? NULL : run,
               .properties = PROPERTIES}},
    {
        .known = {.size = FAULT == SIZES_DIFFER ? 64 : KERNEL_SIZE,
                  .claim = ASSAY_CLAIM_BOUNDED,
                  .op = "add",
                  .name = FAULT == DUPLICATE_NAME ? "one" : "two",
                  .isa = "scalar",
                  .run = run},
#if FAULT == UNKNOWN_FIELD
        .more = {NULL, "new"},
#endif
    },
};

/* Kernels as they stood before `properties` was there, one behind the other. */
static _Alignas(8) unsigned char older[2][offsetof(AssayPluginKernel, properties)];

static struct {
  AssayPlugin known;
  const char* more;
} plugin = {{FAULT == WRONG_ABI ? 99
             : FAULT == ABI_1   ? 1
                                : ASSAY_PLUGIN_ABI,
             FAULT == WRONG_SIZE                                        ? 8
             : FAULT == UNKNOWN_PLUGIN_FIELD || FAULT == NEWER_REVISION ? sizeof plugin
                                                                        : sizeof(AssayPlugin),
             "small", FAULT == BAD_VERSION ? "1.0\nPASS\n\033[2J" : "1.0", &kernels[0].known, FAULT == NO_KERNELS ? 0 : 2},
            FAULT == UNKNOWN_PLUGIN_FIELD ? "new" : NULL};

#if FAULT == NO_SYMBOL
#define assay_plugin another_name
const AssayPlugin* another_name(void);
#endif

ASSAY_PLUGIN_EXPORT const AssayPlugin* assay_plugin(void) {
  if (FAULT == CRASH_AT_LOAD) abort();
  if (FAULT == EXIT_AT_LOAD) exit(3);
  if (FAULT == OLDER_REVISION) {
    for (int k = 0; k < 2; ++k) memcpy(older[k], &kernels[k], sizeof older[k]);
    plugin.known.kernels = (const AssayPluginKernel*)(const void*)older;
  }
  return FAULT == NULL_PLUGIN ? NULL : &plugin.known;
}
