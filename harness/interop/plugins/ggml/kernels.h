// The kernels of ggml that the plugin shows, a file a family. What an op's header refuses by shapes and scalars is refused here, as
// a caller of ggml must, for ggml ends the program over them; what it refuses for what is in the data, NaN above all, is left to ggml,
// so that the bench sees what ggml does.
#pragma once

#include <vector>

#include "harness/plugin/assay_plugin.h"

namespace assay::plugins {

// Row quantisers, decoders, conversions: ggml's type traits.
void append_rows(std::vector<AssayPluginKernel>& kernels);
// vec_dot of each type, and MUL_MAT.
void append_products(std::vector<AssayPluginKernel>& kernels);
// RMS_NORM, SOFT_MAX, SWIGLU, ROPE.
void append_norms(std::vector<AssayPluginKernel>& kernels);
// FLASH_ATTN_EXT.
void append_attention(std::vector<AssayPluginKernel>& kernels);

// A graph of ggml's is made for each call.
inline constexpr const char* kProperties = "allocates=yes;";

// A kernel over the op's canonical layout.
inline AssayPluginKernel plain_kernel(const char* op, const char* name, AssayStatus (*run)(const void*)) {
  return {sizeof(AssayPluginKernel), ASSAY_CLAIM_BOUNDED, op, name, "scalar", nullptr, nullptr, nullptr, run, kProperties};
}

// Where ggml's own status is not success: nothing that an op knows.
inline AssayStatus done(bool computed) {
  return computed ? ASSAY_OK : ASSAY_BAD_PARAMETER;
}

}  // namespace assay::plugins
