#include "harness/interop/new_plugin/new_plugin.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "golden/new_folder.h"

namespace assay {
namespace {

// @NAME@ is the plugin's name.
struct Template {
  const char* file;
  std::string_view text;
};

constexpr Template kFiles[] = {
    {"CMakeLists.txt", R"(cmake_minimum_required(VERSION 3.22)
project(@NAME@ LANGUAGES CXX)

find_package(assay 0.1 CONFIG REQUIRED)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library(@NAME@ MODULE kernel.cc)
target_link_libraries(@NAME@ PRIVATE assay::plugin)  # headers alone
target_compile_features(@NAME@ PRIVATE cxx_std_20)
target_compile_options(@NAME@ PRIVATE -Wall -Wextra -ffp-contract=off)
set_target_properties(@NAME@ PROPERTIES PREFIX "")

enable_testing()
assay_add_parity_test(parity @NAME@ OPS rms_norm)
)"},
    {"kernel.cc",
     R"(// The plugin @NAME@: one kernel, a variant of the op rms_norm. What it must do, to the last class of number, stands in
// kernels/norms/norms.h of the installed package; how a plugin describes itself, in harness/plugin/assay_plugin.h.
#include <cmath>

#include "harness/plugin/assay_plugin.h"
#include "kernels/norms/norms.h"

namespace {

using namespace assay;

AssayStatus rms_norm(const void* call) {
  const RmsNormArgs& args = *static_cast<const RmsNormArgs*>(call);
  if (!assay_rms_norm_sizes(&args)) return ASSAY_BAD_SHAPE;  // kernels/sizes.h
  if (!std::isnormal(args.eps) || args.eps < 0) return ASSAY_BAD_PARAMETER;
  for (int64_t j = 0; j < args.rows; ++j) {
    const float* x = args.x + j * args.x_stride;
    float* y = args.y + j * args.y_stride;
    double sum = 0;
    for (int64_t i = 0; i < args.n; ++i) sum += static_cast<double>(x[i]) * x[i];
    const double r = 1 / std::sqrt(sum / static_cast<double>(args.n) + args.eps);
    for (int64_t i = 0; i < args.n; ++i) y[i] = static_cast<float>(x[i] * r * args.w[i]);
  }
  return ASSAY_OK;
}

// Its sum has an order of its own, so it claims the bound and not the canonical bits.
const AssayPluginKernel kernels[] = {{
    .size = sizeof(AssayPluginKernel),
    .claim = ASSAY_CLAIM_BOUNDED,
    .op = "rms_norm",
    .name = "rms_norm",
    .isa = "scalar",
    .packed_tensor = nullptr,
    .packed_bytes = nullptr,
    .pack = nullptr,
    .run = rms_norm,
    .properties = nullptr,
}};

const AssayPlugin plugin = {ASSAY_PLUGIN_ABI, sizeof(AssayPlugin), "@NAME@", "0.1", kernels, 1};

}  // namespace

const assay::AssayPlugin* assay_plugin() {
  return &plugin;
}
)"},
    {"README.md", R"(# @NAME@

A kernel for the bench of Assay.

```
cmake -S . -B build -DCMAKE_PREFIX_PATH=/where/assay/is    # the prefix alone if it is not /usr or /usr/local
cmake --build build
ctest --test-dir build --output-on-failure                 # assay check rms_norm --plugin build/@NAME@.so
assay bench rms_norm --plugin build/@NAME@.so              # beside the best of Assay's own
```

`assay check rms_norm --plugin build/@NAME@.so --case NAME` runs one case; each failure prints the command that repeats it.
To be told when the bits change, keep their digests: `assay ledger accept rms_norm --plugin build/@NAME@.so --ledger ledger.json --why "first"`,
then `assay check --plugin build/@NAME@.so --ledger ledger.json` in your CI.
)"},
};

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

std::string filled(std::string_view text, const std::string& name) {
  constexpr std::string_view kMark = "@NAME@";
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t mark = text.find(kMark, at);
    out += text.substr(at, mark - at);
    if (mark == std::string_view::npos) return out;
    out += name;
    at = mark + kMark.size();
  }
}

}  // namespace

NewPlugin write_new_plugin(const std::filesystem::path& folder) {
  const std::filesystem::path whole = std::filesystem::absolute(folder / "").parent_path();
  NewPlugin made{whole.filename().string(), {}};
  if (made.name.empty() || made.name.size() > 64 || !std::all_of(made.name.begin(), made.name.end(), is_name_letter)) {
    throw std::invalid_argument("'" + made.name +
                                "' cannot be a plugin's name; expected a folder named by 1 to 64 of a-z A-Z 0-9 _ - .");
  }
  NewFolder files(whole);
  for (const Template& one : kFiles) files.add(one.file, filled(one.text, made.name));
  made.files = files.keep();
  return made;
}

}  // namespace assay
