#include <cstdio>
#include <cstdlib>
#include <string>

#include "harness/interop/plugins/ggml/graph.h"
#include "harness/interop/plugins/ggml/kernels.h"

namespace assay::plugins {
namespace {

void errors_alone(ggml_log_level level, const char* text, void*) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

const AssayPlugin* describe() {
  static const std::string version = std::string(ggml_version()) + " (" + ggml_commit() + ")";
  static const std::vector<AssayPluginKernel> kernels = [] {
    ggml_log_set(errors_alone, nullptr);
    setenv("GGML_NO_BACKTRACE", "1", 0);  // an assertion that fails would else start a debugger each time
    ggml_cpu_init();
    std::vector<AssayPluginKernel> all;
    append_rows(all);
    append_products(all);
    append_norms(all);
    append_attention(all);
    return all;
  }();
  static const AssayPlugin plugin{ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "ggml",
                                  version.c_str(),  kernels.data(),      static_cast<std::int64_t>(kernels.size())};
  return &plugin;
}

}  // namespace
}  // namespace assay::plugins

ASSAY_PLUGIN_EXPORT const assay::AssayPlugin* assay_plugin(void) {
  return assay::plugins::describe();
}
