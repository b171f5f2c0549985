#include "tests/plugin_layout.h"

#include "harness/plugin/assay_plugin.h"

const size_t c_plugin_layout[] = {
    sizeof(AssayPluginKernel),
    sizeof(AssayPlugin),
    offsetof(AssayPluginKernel, claim),
    offsetof(AssayPluginKernel, op),
    offsetof(AssayPluginKernel, name),
    offsetof(AssayPluginKernel, isa),
    offsetof(AssayPluginKernel, packed_tensor),
    offsetof(AssayPluginKernel, packed_bytes),
    offsetof(AssayPluginKernel, pack),
    offsetof(AssayPluginKernel, run),
    offsetof(AssayPluginKernel, properties),
    offsetof(AssayPlugin, size),
    offsetof(AssayPlugin, name),
    offsetof(AssayPlugin, version),
    offsetof(AssayPlugin, kernels),
    offsetof(AssayPlugin, kernel_count),
    0,
};
