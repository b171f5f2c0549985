/* What the passes in model.c are made of: sites, and calls of kernels under them, which threads share. Behind a refusal of its own a
   thread calls nothing any more, but comes to every barrier. */
#pragma once

#include <omp.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "kernels/kernels.h"
#include "model.h"

/* What a thread has of a run. */
typedef struct Part {
  uint8_t* arena;
  const uint8_t* weights;
  int64_t position;
  Run* whole;
  const char* site; /* under way, or the one that refused */
  AssayStatus status;
  int64_t index; /* of `parts` threads */
  int64_t parts;
  int64_t begin; /* its share of the site's rows, heads or outputs */
  int64_t count;
} Part;

/* Bytes from the beginning of the arena, and of the weights. */
#define A(offset) ((void*)(run->arena + (offset)))
#define W(offset) ((const void*)(run->weights + (offset)))

/* Not inlined: `break site` stops at each, and a model of thousands of calls compiles in seconds. */
#define STEP static __attribute__((noinline)) void

/* A site begins that needs nothing of what threads have done since the last barrier. Who looks sees the one before it, between two. */
STEP site(Part* run, const char* name) {
  if (run->whole->see != NULL && run->site != NULL) {
#pragma omp barrier
    if (run->index == 0 && run->status == ASSAY_OK) {
      run->whole->site = run->site;
      run->whole->see(run->whole);
    }
#pragma omp barrier
  }
  if (run->status == ASSAY_OK) run->site = name;
}

/* A site begins that does: all come here first. */
STEP site_behind_all(Part* run, const char* name) {
#pragma omp barrier
  site(run, name);
}

/* A thread's equal share of 0 .. total - 1, in whole units. */
STEP share(Part* run, int64_t total, int64_t unit) {
  const int64_t units = (total + unit - 1) / unit;
  const int64_t end = units * (run->index + 1) / run->parts * unit;
  run->begin = units * run->index / run->parts * unit;
  run->count = (end < total ? end : total) - run->begin;
}

/* The next piece of 0 .. total - 1, in whole units, for whoever is free: pieces grow smaller, so that all end together; but a product
   prepares its activations anew in each call. `taken`: so much is. False: all is. */
static __attribute__((noinline)) bool take(Part* run, _Atomic int64_t* taken, int64_t total, int64_t unit) {
  const int64_t pieces = 2 * run->parts;
  const int64_t least = total / pieces < 128 ? total / pieces : 128;
  int64_t begin = atomic_load(taken);
  int64_t end = 0;
  do {
    const int64_t left = total - begin;
    if (left <= 0) return false;
    const int64_t size = ((left / pieces > least ? left / pieces : least) + unit - 1) / unit * unit;
    end = begin + (size > unit ? size : unit);
    end = end < total ? end : total;
  } while (!atomic_compare_exchange_weak(taken, &begin, end));
  run->begin = begin;
  run->count = end - begin;
  return true;
}

STEP call(Part* run, AssayKernel* kernel, const void* args) {
  if (run->status == ASSAY_OK && run->count > 0) run->status = kernel(args);
}

/* A thread begins; and ends, where it may have been the one that refused. */
static inline Part part_of(Run* run) {
  return (Part){.arena = run->arena,
                .weights = run->weights,
                .position = run->position,
                .whole = run,
                .status = run->status,
                .index = omp_get_thread_num(),
                .parts = omp_get_num_threads()};
}

STEP join(Run* run, const Part* part) {
  if (part->status == ASSAY_OK) return;
#pragma omp critical
  {
    run->site = run->status == ASSAY_OK ? part->site : run->site;
    run->status = part->status;
  }
}
