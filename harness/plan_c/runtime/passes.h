/* What a pass in model.c begins and ends with. */
#pragma once

#include <string.h>

#include "model.h"

/* The rows that go in and their positions, into the arena. */
static void begin(Run* run, const Buffer* buffers, const void* input, int64_t rows) {
  const Buffer* const into = &buffers[model.input_buffer];
  const Buffer* const positions = &buffers[model.positions_buffer];
  run->buffers = buffers;
  run->rows = rows;
  run->site = "input";
  run->status = ASSAY_OUT_OF_RANGE;
  if (rows < 1 || rows > into->rows || run->position < 0 || rows > model.context - run->position) return;
  for (int64_t i = 0; i < rows && model.input_site == NULL; ++i) {
    const int32_t token = ((const int32_t*)input)[i];
    if (token < 0 || token >= model.vocab) return;
  }
  memcpy(run->arena + into->offset, input, (size_t)(rows * into->row_bytes));
  int32_t* const position = (int32_t*)(run->arena + positions->offset);
  for (int64_t i = 0; i < rows; ++i) position[i] = (int32_t)(run->position + i);
  run->site = NULL;
  run->status = ASSAY_OK;
}

/* The output, or null where a site refused. */
static const float* end(Run* run) {
  if (run->status != ASSAY_OK) return NULL;
  run->position += run->rows;
  return (const float*)(run->arena + run->buffers[model.output_buffer].offset);
}
