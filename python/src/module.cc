// The extension of the package `assay`: what the harness knows, as plain values of Python. Exceptions of wrong use are ValueError, of files
// RuntimeError.
#include <nanobind/stl/string.h>

#include "harness/verdict/data_dir.h"
#include "harness/version.h"
#include "python/src/convert.h"

NB_MODULE(_assay, module) {
  using namespace assay::python;
  module.attr("version") = assay::kVersion;
  module.def(
      "set_program_folder", [](const std::string& folder) { assay::set_program_folder(folder); }, nb::arg("folder"));
  bind_ops(module);
  bind_truth(module);
  bind_check(module);
  bind_bench(module);
  bind_forensics(module);
  bind_trace(module);
}
