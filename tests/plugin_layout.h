/* The plugin ABI as a C compiler lays it out, for the C++ test to compare. */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif
/* Sizes, then offsets, of AssayPluginKernel and AssayPlugin, in the header's order; ends with 0. */
extern const size_t c_plugin_layout[];
#ifdef __cplusplus
}
#endif
