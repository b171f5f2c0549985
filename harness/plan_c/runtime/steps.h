/* What the passes in model.c are made of: sites, and calls of kernels under them. Behind a refusal nothing runs any more. */
#pragma once

#include "kernels/kernels.h"
#include "model.h"

/* Bytes from the beginning of the arena, and of the weights. */
#define A(offset) ((void*)(run->arena + (offset)))
#define W(offset) ((const void*)(run->weights + (offset)))

/* Not inlined: `break site` stops at each, and a model of thousands of calls compiles in seconds. */
#define STEP static __attribute__((noinline)) void

/* A site begins. The one before it is done: who looks may see it. */
STEP site(Run* run, const char* name) {
  if (run->status != ASSAY_OK) return;
  if (run->see != NULL && run->site != NULL) run->see(run);
  run->site = name;
}

STEP call(Run* run, AssayKernel* kernel, const void* args) {
  if (run->status == ASSAY_OK) run->status = kernel(args);
}
