// Opening a plugin: its description, held to the ABI before anything of it is used.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/interop/plugin/properties.h"
#include "harness/plugin/assay_plugin.h"
#include "kernels/isa.h"

namespace assay {

// Names the file, the kernel and what was expected.
class PluginError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A plugin stays in memory until the process ends: its threads and its exit handlers may be anywhere.
struct LoadedPlugin {
  std::string path;
  std::string name;
  std::string version;
  std::vector<AssayPluginKernel>
      kernels;  // validated: names, op, ISA, claim, functions, properties; what the plugin lacks is null

  // The ISA that a kernel names.
  static Isa isa_of(const AssayPluginKernel& kernel) { return *isa_from_name(kernel.isa); }
  // What it declares.
  static Traits traits_of(const AssayPluginKernel& kernel) { return Traits::parse(kernel.properties); }
};

// A library that is no plugin, named with the one function of it that is to be a kernel of an op: "FILE#FUNCTION=OP". It takes the op's
// argument struct, as a plugin's `run` does, and claims and declares nothing. Its file; of any other path that itself.
std::string library_of(const std::string& path);

// Runs the library's constructors and assay_plugin(): foreign code. Throws PluginError: no such library, no symbol, another
// ABI version, fields unknown here, an unknown op, ISA or property, a name twice or of other letters, a null function, a layout
// half-stated.
LoadedPlugin load_plugin(const std::string& path);

}  // namespace assay
