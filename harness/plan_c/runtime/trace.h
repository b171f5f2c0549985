/* What every site gives, as a safetensors file, and beside it the map that `assay import safetensors` wants. */
#pragma once

#include "model.h"

/* For a run of `tokens` tokens in `passes` passes. Where a site has the last row of a prefill alone, such rows are all that is kept. */
void trace_open(const char* path, int64_t tokens, int64_t passes);
void trace_see(const Run* run); /* as Run.see */
void trace_pass(int64_t rows);  /* after each pass */
/* Both files are there from now on. */
void trace_close(const int32_t* tokens);
