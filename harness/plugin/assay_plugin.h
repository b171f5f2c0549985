/* Kernels from outside: what a shared library exports to be put on the bench. C11 and C++20.

   A plugin is a shared library with one exported symbol, assay_plugin(), which returns a static description. A kernel of it is
   one variant of an op: it takes the argument struct of the op's family (kernels/<family>/<family>.h, which is also the op's
   specification), and must keep no state from one call to the next. The caller may run it from several threads at once on parts
   of a call, at every alignment that the header allows, and judges what it gives back (docs/your-kernel.md,
   docs/reading-a-verdict.md).

   Sizes and offsets below hold on every machine that this header serves (LP64, little-endian); they are asserted. Later revisions
   of this ABI only add fields at the end of the two structs, and each struct states its `size`: fields that an older plugin lacks
   count as null or 0, and a newer plugin is taken where the fields that are unknown here are all zero. What cannot be told so
   changes ASSAY_PLUGIN_ABI, and a plugin of another ABI is refused by that name.

   #include "harness/plugin/assay_plugin.h"
   #include "kernels/norms/norms.h"

   static AssayStatus run(const void* args) { return my_rms_norm((const RmsNormArgs*)args); }
   static const AssayPluginKernel kernels[] = {{.size = sizeof(AssayPluginKernel), .claim = ASSAY_CLAIM_BOUNDED,
                                                .op = "rms_norm", .name = "mine", .isa = "scalar", .run = run}};
   static const AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "demo", "1.0", kernels, 1};
   ASSAY_PLUGIN_EXPORT const AssayPlugin* assay_plugin(void) { return &plugin; }
*/
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "kernels/abi.h"

#define ASSAY_PLUGIN_ABI 2

/* What a call may need of the stack, its callees' frames included: its caller's thread may have little more. It leaves its thread as it
   found it (registers that a callee saves, floating-point control, MMX, signals) and takes no memory of its own. */
#define ASSAY_STACK_BYTES 524288

#define ASSAY_PLUGIN_SYMBOL "assay_plugin"

#ifdef __cplusplus
#define ASSAY_PLUGIN_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define ASSAY_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

ASSAY_C_BEGIN

/* What a kernel promises besides the op's contract (domain, classes, bound, refusals), to which every kernel is held. */
typedef enum AssayPluginClaim {
  ASSAY_CLAIM_CANONICAL = 0, /* the canonical order of arithmetic: its bits are those of the scalar kernel and of the ledger */
  ASSAY_CLAIM_BOUNDED = 1    /* bits of its own, but the same ones over repeats, placements, threads and cuts of the call */
} AssayPluginClaim;

typedef struct AssayPluginKernel {
  uint32_t size;    /* sizeof(AssayPluginKernel); the same in all kernels of a plugin */
  int32_t claim;    /* AssayPluginClaim */
  const char* op;   /* "rms_norm" */
  const char* name; /* with the op, unique in the plugin; a-z, A-Z, 0-9, '_', '-', '.'; shown as <plugin>:<name> */
  const char* isa;  /* what it needs: scalar (the architecture's baseline), avx2, ... (kernels/isa.inc) */

  /* A layout of its own for the op's weights, the input that a model keeps from call to call ("w" of products and of rms_norm,
     "table" of embed): all three, or all null. packed_tensor is its name in the argument struct. packed_bytes gives the bytes
     needed for the call that `args` describe (>= 0; the pointers in `args` must not be followed); pack reads the canonical tensor
     through `args` and writes all it needs to `packed`, which is aligned to 64 bytes. run then gets `args` with that pointer
     replaced by `packed`. When a call is cut in parts each part is packed by itself. */
  const char* packed_tensor;
  int64_t (*packed_bytes)(const void* args);
  AssayStatus (*pack)(const void* args, void* packed);

  AssayStatus (*run)(const void* args); /* `args` points to the op's argument struct */

  /* What the kernel declares of itself, its traits: "key=value;" for each, or null. A key is of a-z, 0-9 and '-', a value of printable
     characters but ';'. An unknown key, and a value that makes no sense, is refused. Each fails a kernel that does not declare it:
       allocates=yes;       calls take memory of their own; more with every call fails all the same
       over-read=N;         calls read up to N bytes (1 to 4096) past the end of an input; they must not matter
       batch-invariant=no;  bits depend on how a call is cut, and are the same for the same call; of a bounded claim alone
       placement-invariant=no;  bits depend on where the tensors lie; of a bounded claim alone
       threads=own;         calls start threads, which take memory
       nan=no;              inputs that hold NaN or infinity are outside the domain: such calls are not asked
     and what it computes in, of a bounded claim alone ("Arithmetic"): x=, w=, products=, acc=, order=, exp=, rsqrt=, flush=yes, out= */
  const char* properties;
} AssayPluginKernel;

typedef struct AssayPlugin {
  uint32_t abi;        /* ASSAY_PLUGIN_ABI */
  uint32_t size;       /* sizeof(AssayPlugin) */
  const char* name;    /* the same letters as a kernel's name */
  const char* version; /* the plugin's own, for reports */
  const AssayPluginKernel* kernels;
  int64_t kernel_count; /* > 0 */
} AssayPlugin;

#ifdef __cplusplus
#define ASSAY_PLUGIN_ASSERT(what) static_assert(what, #what)
#else
#define ASSAY_PLUGIN_ASSERT(what) _Static_assert(what, #what)
#endif
ASSAY_PLUGIN_ASSERT(sizeof(void*) == 8);
ASSAY_PLUGIN_ASSERT(sizeof(AssayStatus) == 4);
ASSAY_PLUGIN_ASSERT(sizeof(AssayPluginKernel) == 72);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, size) == 0);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, claim) == 4);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, op) == 8);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, name) == 16);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, isa) == 24);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, packed_tensor) == 32);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, packed_bytes) == 40);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, pack) == 48);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, run) == 56);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPluginKernel, properties) == 64);
ASSAY_PLUGIN_ASSERT(sizeof(AssayPlugin) == 40);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, abi) == 0);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, size) == 4);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, name) == 8);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, version) == 16);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, kernels) == 24);
ASSAY_PLUGIN_ASSERT(offsetof(AssayPlugin, kernel_count) == 32);
#undef ASSAY_PLUGIN_ASSERT

ASSAY_C_END

/* What a plugin defines. */
#ifdef __cplusplus
ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void);
#else
ASSAY_PLUGIN_EXPORT const AssayPlugin* assay_plugin(void);
#endif
