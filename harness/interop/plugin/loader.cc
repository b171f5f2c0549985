#include "harness/interop/plugin/loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <utility>

#include "harness/verdict/nearest.h"
#include "kernels/op_tables.h"

namespace assay {
namespace {

constexpr std::int64_t kMostKernels = 4096;
constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestVersion = 256;
constexpr std::uint32_t kMostBytes = 4096;  // of a struct of a later revision

// The sizes of the two structs without what may be left out at their ends.
constexpr std::uint32_t kLeastPlugin = sizeof(AssayPlugin);
constexpr std::uint32_t kLeastKernel = offsetof(AssayPluginKernel, properties);

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

void require_version(const std::string& path, const char* text) {
  if (text == nullptr) fail(path, "version is null");
  const std::size_t length = strnlen(text, kLongestVersion + 1);
  if (length <= kLongestVersion && std::all_of(text, text + length, [](char c) { return c >= ' ' && c <= '~'; })) return;
  fail(path, "version is " + quoted(text) + "; expected at most " + std::to_string(kLongestVersion) + " printable characters");
}

void require_known(const std::string& path, const std::string& kernel, const AssayPluginKernel& one) {
  if (find_op_table(one.op) == nullptr) {
    std::vector<std::string> known;
    for (const OpTable& table : op_tables()) known.emplace_back(table.op);
    const bool near = is_near(one.op, nearest(one.op, known));
    const std::string far = "unknown op " + quoted(one.op) + ", and none is near it; `assay list` has them all";
    fail(path, kernel + ": " + (near ? unknown_name("op", one.op, known) : far));
  }
  if (one.isa == nullptr || !isa_from_name(one.isa)) {
    std::vector<std::string> known;
    for (const IsaRow& row : kIsas) known.emplace_back(row.name);
    fail(path, kernel + ": " + (one.isa == nullptr ? "isa is null" : unknown_name("ISA", one.isa, known)));
  }
}

// The struct at `bytes` as far as it is known here; what it lacks is zero.
template <class Struct>
Struct known_part(const void* bytes, std::uint32_t size) {
  Struct known{};
  std::memcpy(&known, bytes, std::min<std::size_t>(size, sizeof known));
  return known;
}

// What a later revision has beyond must say nothing.
void require_zeros(const std::string& path, const std::string& what, const void* bytes, std::size_t from, std::uint32_t size) {
  for (std::size_t i = from; i < size; ++i) {
    if (static_cast<const std::byte*>(bytes)[i] == std::byte{0}) continue;
    fail(path, what + " states a field (byte " + std::to_string(i) + " of its " + std::to_string(size) +
                   ") that is unknown here; expected zeros behind " + std::to_string(from) +
                   " bytes: is it of a later revision of ABI " + std::to_string(ASSAY_PLUGIN_ABI) + "?");
  }
}

void require_size(const std::string& path, const std::string& what, std::uint32_t size, std::uint32_t least, std::size_t own) {
  if (size >= least && size <= kMostBytes && size % alignof(void*) == 0) return;
  fail(path, what + "size is " + std::to_string(size) + "; expected " + std::to_string(own) +
                 ", or that of another revision of ABI " + std::to_string(ASSAY_PLUGIN_ABI) + ", at least " +
                 std::to_string(least));
}

void require_properties(const std::string& path, const std::string& kernel, const AssayPluginKernel& one) {
  try {
    Traits::parse(one.properties).require_claim(one.claim == ASSAY_CLAIM_CANONICAL);
  } catch (const std::invalid_argument& error) {
    fail(path, kernel + ": properties: " + error.what());
  }
}

void require_kernel(const std::string& path, const std::string& at, const AssayPluginKernel& one) {
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
  require_properties(path, kernel, one);
}

std::vector<AssayPluginKernel> kernels_of(const std::string& path, const AssayPlugin& plugin) {
  std::vector<AssayPluginKernel> kernels;
  std::set<std::pair<std::string, std::string>> seen;
  const std::uint32_t size = plugin.kernels[0].size;  // its own: the distance from each kernel to the next
  for (std::int64_t k = 0; k < plugin.kernel_count; ++k) {
    const std::string at = "kernel " + std::to_string(k);
    const void* bytes = reinterpret_cast<const std::byte*>(plugin.kernels) + k * size;
    std::uint32_t stated;
    std::memcpy(&stated, bytes, sizeof stated);
    require_size(path, at + ": ", stated, kLeastKernel, sizeof(AssayPluginKernel));
    if (stated != size)
      fail(path, at + ": size is " + std::to_string(stated) + "; expected that of kernel 0, " + std::to_string(size));
    const AssayPluginKernel& one = kernels.emplace_back(known_part<AssayPluginKernel>(bytes, size));
    require_kernel(path, at, one);
    require_zeros(path, "kernel '" + std::string(one.name) + "'", bytes, sizeof one, size);
    if (!seen.emplace(one.op, one.name).second) {
      fail(path, "kernel '" + std::string(one.name) + "' of " + one.op + " is there twice; expected one of a name for an op");
    }
  }
  return kernels;
}

[[noreturn]] void refuse_abi(const std::string& path, std::uint32_t abi) {
  const std::string rebuild = "build it against this program's harness/plugin/assay_plugin.h";
  const std::string is = "is of plugin ABI " + std::to_string(abi) + "; expected " + std::to_string(ASSAY_PLUGIN_ABI) + ": ";
  if (abi != 1) fail(path, is + rebuild);
  fail(path,
       is +
           "since then kernels take one argument struct a family, such as ProductArgs of kernels/products/products.h instead of "
           "GemvQ4KQ8KArgs, and AssayPluginKernel ends with `properties`, which may be null; " +
           rebuild);
}

AssayPlugin describe(const std::string& path, void* library) {
  void* symbol = dlsym(library, ASSAY_PLUGIN_SYMBOL);
  if (symbol == nullptr)
    fail(path, "has no symbol " ASSAY_PLUGIN_SYMBOL "; expected the function of harness/plugin/assay_plugin.h");
  const AssayPlugin* plugin = reinterpret_cast<const AssayPlugin* (*)()>(symbol)();
  if (plugin == nullptr) fail(path, ASSAY_PLUGIN_SYMBOL "() gave null");
  if (plugin->abi != ASSAY_PLUGIN_ABI) refuse_abi(path, plugin->abi);
  require_size(path, "", plugin->size, kLeastPlugin, sizeof(AssayPlugin));
  const auto known = known_part<AssayPlugin>(plugin, plugin->size);
  require_zeros(path, "its description", plugin, sizeof known, plugin->size);
  require_name(path, "name", known.name);
  require_version(path, known.version);
  if (known.kernels == nullptr) fail(path, "kernels is null");
  if (known.kernel_count < 1 || known.kernel_count > kMostKernels) {
    fail(path, "kernel_count is " + std::to_string(known.kernel_count) + "; expected 1 to " + std::to_string(kMostKernels));
  }
  return known;
}

struct BareFunction {
  std::string file;
  std::string function;
  std::string op;
};

std::optional<BareFunction> bare_function(const std::string& path) {
  const std::size_t hash = path.rfind('#');
  const std::size_t equals = path.find('=', std::min(hash, path.size()));
  if (hash == std::string::npos || equals == std::string::npos) return std::nullopt;
  return BareFunction{path.substr(0, hash), path.substr(hash + 1, equals - hash - 1), path.substr(equals + 1)};
}

// Its name is the file's, without folders and endings.
LoadedPlugin describe_function(const std::string& path, const BareFunction& bare, void* library) {
  static std::deque<std::string> texts;  // what the kernel's fields point to
  const auto kept = [](const std::string& text) { return texts.emplace_back(text).c_str(); };
  void* symbol = dlsym(library, bare.function.c_str());
  if (symbol == nullptr) fail(path, "has no symbol " + bare.function);
  AssayPluginKernel kernel{};
  kernel.size = sizeof kernel;
  kernel.claim = ASSAY_CLAIM_BOUNDED;
  kernel.op = kept(bare.op);
  kernel.name = kept(bare.function);
  kernel.isa = "scalar";
  kernel.run = reinterpret_cast<AssayStatus (*)(const void*)>(symbol);
  require_kernel(path, "kernel 0", kernel);
  const std::string name = bare.file.substr(bare.file.rfind('/') + 1);
  const std::string stem = name.substr(0, name.find('.'));
  require_name(path, "name", stem.c_str());
  return {path, stem, "(a function)", {kernel}};
}

}  // namespace

std::string library_of(const std::string& path) {
  const auto bare = bare_function(path);
  return bare ? bare->file : path;
}

LoadedPlugin load_plugin(const std::string& path) {
  // Without a slash dlopen would look in the system's folders.
  const std::string library_file = library_of(path);
  const std::string file = library_file.find('/') == std::string::npos ? "./" + library_file : library_file;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    fail(path, std::string("cannot be loaded: ") + (why == nullptr ? "dlopen failed" : why));
  }
  if (const auto bare = bare_function(path)) return describe_function(path, *bare, library);
  const AssayPlugin plugin = describe(path, library);
  return {path, plugin.name, plugin.version, kernels_of(path, plugin)};
}

}  // namespace assay
