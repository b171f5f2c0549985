/* What model.c defines and a program uses: two functions over one arena, and tables that say what lies where. */
#pragma once

#include <stdint.h>

#include "kernels/abi.h"

/* In the arena. first, last: the sites between which it is in use, the first time; a buffer that each layer fills anew is in use again
   there. */
typedef struct Buffer {
  const char* name;
  int64_t offset;
  int64_t row_bytes;
  int64_t rows; /* most; 1 in a prefill: of the last token alone */
  const char *first, *last;
} Buffer;

/* In the data of weights.bin. */
typedef struct Weight {
  const char* name;
  const char* layout;
  int64_t offset;
  int64_t bytes;
} Weight;

/* What a step gives: f32 in a buffer's rows. */
typedef struct Site {
  const char* name;
  int64_t buffer; /* index into decode_buffers and prefill_buffers */
  int64_t column; /* where in a row it begins, in bytes */
  int64_t heads;  /* 0: rows of width; else of heads by width */
  int64_t width;
} Site;

typedef struct Run {
  uint8_t* arena;                 /* model.arena_bytes, 64-byte aligned, zero at first */
  const uint8_t* weights;         /* the data of weights.bin, 64-byte aligned */
  int64_t position;               /* tokens so far; 0 begins anew; decode and prefill advance it */
  const char* site;               /* under way, or the one that refused */
  AssayStatus status;             /* ASSAY_OK, or why that site refused; to go on set it to ASSAY_OK and position to 0 */
  void (*see)(const struct Run*); /* called after each site; null: nobody looks */
  void* who;                      /* the viewer's own */
  const Buffer* buffers;          /* of the pass under way: model.decode_buffers or model.prefill_buffers */
  int64_t rows;                   /* of the pass under way */
} Run;

typedef struct Model {
  const char *name, *weights_type, *rope; /* rope: recipe of its table */
  const char* sha256;                     /* of the model's file */
  int64_t layers;                         /* of the whole model */
  int64_t first_layer, last_layer;
  int64_t context, chunk; /* most positions; most rows of a prefill */
  int64_t vocab, arena_bytes, weights_bytes;
  const char* weights_sha256; /* of the data of weights.bin, in hex */
  const char* input_site;     /* whose rows the input is, f32; null: token ids, int32 */
  const char* output_site;
  int64_t input_width, output_width;
  int64_t input_buffer, positions_buffer, output_buffer; /* indices into the tables of buffers */
  int64_t output_rows;                                   /* 1: of the last token alone; else a row for each of the pass */
  const Buffer *decode_buffers, *prefill_buffers;
  int64_t buffer_count;
  const Weight* weights;
  int64_t weight_count;
  const Site* sites; /* in the order of execution */
  int64_t site_count;
} Model;

extern const Model model;

/* Finds the kernels, once: null, or the first op that has none (assay_explain_kernel says why). */
const char* model_start(void);
/* A token, and 1 .. chunk of them: the first row of the output, or null: run->site refused with run->status. */
const float* model_decode(Run* run, const void* input);
const float* model_prefill(Run* run, const void* input, int64_t rows);
