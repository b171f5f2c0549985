#include "harness/interop/plugin/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "harness/interop/runner/ops.h"
#include "harness/verdict/nearest.h"

namespace assay {
namespace {

constexpr std::int64_t kMostKernels = 4096;
constexpr std::size_t kLongestName = 64;

[[noreturn]] void fail(const std::string& path, const std::string& why) {
  throw PluginError("plugin " + path + ": " + why);
}

bool is_name(const char* text) {
  if (text == nullptr) return false;
  const std::size_t length = strnlen(text, kLongestName + 1);
  return length > 0 && length <= kLongestName && std::all_of(text, text + length, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
         });
}

std::string quoted(const char* text) {
  return text == nullptr ? "null" : "'" + std::string(text, strnlen(text, kLongestName)) + "'";
}

void require_name(const std::string& path, const std::string& what, const char* text) {
  if (is_name(text)) return;
  fail(path, what + " is " + quoted(text) + "; expected 1 to " + std::to_string(kLongestName) + " of a-z A-Z 0-9 _ - .");
}

void require_known(const std::string& path, const std::string& kernel, const AssayPluginKernel& one) {
  if (find_op_table(one.op) == nullptr) {
    std::vector<std::string> known;
    for (const OpTable& table : op_tables()) known.emplace_back(table.op);
    fail(path, kernel + ": " + unknown_name("op", one.op, known));
  }
  if (one.isa == nullptr || !isa_from_name(one.isa)) {
    std::vector<std::string> known;
    for (const Isa isa : kAllIsas) known.emplace_back(isa_name(isa));
    fail(path, kernel + ": " + (one.isa == nullptr ? "isa is null" : unknown_name("ISA", one.isa, known)));
  }
}

void require_kernel(const std::string& path, std::int64_t index, const AssayPluginKernel& one) {
  const std::string at = "kernel " + std::to_string(index);
  if (one.size != sizeof(AssayPluginKernel)) {
    fail(path, at + ": size is " + std::to_string(one.size) + "; expected " + std::to_string(sizeof(AssayPluginKernel)) +
                   " in ABI " + std::to_string(ASSAY_PLUGIN_ABI));
  }
  require_name(path, at + ": name", one.name);
  const std::string kernel = "kernel '" + std::string(one.name) + "'";
  require_name(path, kernel + ": op", one.op);
  require_known(path, kernel, one);
  if (one.claim != ASSAY_CLAIM_CANONICAL && one.claim != ASSAY_CLAIM_BOUNDED) {
    fail(path, kernel + ": claim is " + std::to_string(one.claim) + "; expected 0 (canonical) or 1 (bounded)");
  }
  if (one.run == nullptr) fail(path, kernel + ": run is null");
  const int stated =
      (one.packed_tensor != nullptr ? 1 : 0) + (one.packed_bytes != nullptr ? 1 : 0) + (one.pack != nullptr ? 1 : 0);
  if (stated != 0 && stated != 3) {
    fail(path, kernel + ": its layout is half stated; expected packed_tensor, packed_bytes and pack together, or none of them");
  }
  if (stated == 3) require_name(path, kernel + ": packed_tensor", one.packed_tensor);
}

const AssayPlugin& describe(const std::string& path, void* library) {
  void* symbol = dlsym(library, ASSAY_PLUGIN_SYMBOL);
  if (symbol == nullptr)
    fail(path, "has no symbol " ASSAY_PLUGIN_SYMBOL "; expected the function of harness/plugin/assay_plugin.h");
  const AssayPlugin* plugin = reinterpret_cast<const AssayPlugin* (*)()>(symbol)();
  if (plugin == nullptr) fail(path, ASSAY_PLUGIN_SYMBOL "() gave null");
  if (plugin->abi != ASSAY_PLUGIN_ABI) {
    fail(path, "is of plugin ABI " + std::to_string(plugin->abi) + "; expected " + std::to_string(ASSAY_PLUGIN_ABI) +
                   ": build it against this program's harness/plugin/assay_plugin.h");
  }
  if (plugin->size != sizeof(AssayPlugin)) {
    fail(path, "size is " + std::to_string(plugin->size) + "; expected " + std::to_string(sizeof(AssayPlugin)));
  }
  require_name(path, "name", plugin->name);
  if (plugin->version == nullptr) fail(path, "version is null");
  if (plugin->kernels == nullptr) fail(path, "kernels is null");
  if (plugin->kernel_count < 1 || plugin->kernel_count > kMostKernels) {
    fail(path, "kernel_count is " + std::to_string(plugin->kernel_count) + "; expected 1 to " + std::to_string(kMostKernels));
  }
  return *plugin;
}

}  // namespace

LoadedPlugin load_plugin(const std::string& path) {
  // Without a slash dlopen would look in the system's folders.
  const std::string file = path.find('/') == std::string::npos ? "./" + path : path;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    fail(path, std::string("cannot be loaded: ") + (why == nullptr ? "dlopen failed" : why));
  }
  const AssayPlugin& plugin = describe(path, library);
  std::set<std::pair<std::string, std::string>> seen;
  for (std::int64_t k = 0; k < plugin.kernel_count; ++k) {
    const AssayPluginKernel& one = plugin.kernels[k];
    require_kernel(path, k, one);
    if (!seen.emplace(one.op, one.name).second) {
      fail(path, "kernel '" + std::string(one.name) + "' of " + one.op + " is there twice; expected one of a name for an op");
    }
  }
  return {path, plugin.name, plugin.version, {plugin.kernels, static_cast<std::size_t>(plugin.kernel_count)}};
}

}  // namespace assay
