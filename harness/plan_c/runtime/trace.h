/* What every site gives, as a safetensors file, and beside it the map that `assay import safetensors` wants. */
#pragma once

#include "model.h"

typedef struct Trace Trace;

/* For a run of `tokens` tokens in `passes` passes. Where a site has the last row of a prefill alone, such rows are all that is kept. */
Trace* trace_open(const char* path, int64_t tokens, int64_t passes);
/* Run.see, with the trace as Run.who; after each pass, trace_pass. */
void trace_see(const Run* run);
void trace_pass(Trace* trace, int64_t rows);
/* Both files are there from now on. */
void trace_close(Trace* trace, const int32_t* tokens);
