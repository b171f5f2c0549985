// Traces (docs/traces.md), for `assay.Trace`.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "golden/trace.h"
#include "python/src/convert.h"

namespace assay::python {
namespace {

nb::dict prompt_to(const TracePrompt& prompt) {
  nb::dict made;
  made["name"] = prompt.name;
  made["text"] = prompt.text;
  made["tokens"] = numbers_to(prompt.tokens);
  made["positions"] = numbers_to(prompt.positions);
  made["sites"] = strings_to(prompt.sites);
  if (prompt.greedy) made["greedy"] = nb::make_tuple(numbers_to(prompt.greedy->tokens), numbers_to(prompt.greedy->gap));
  return made;
}

}  // namespace

void bind_trace(nb::module_& module) {
  nb::class_<TraceFile>(module, "TraceFile")
      .def(
          "__init__", [](TraceFile* self, const std::string& path) { new (self) TraceFile(path); }, nb::arg("path"))
      .def(
          "head", [](const TraceFile& self, const std::string& name) { return self.head(name); }, nb::arg("name"))
      .def("prompts", [](const TraceFile& self) { return strings_to(self.prompts()); })
      .def(
          "prompt", [](const TraceFile& self, const std::string& name) { return prompt_to(self.prompt(name)); }, nb::arg("name"))
      .def(
          "site",
          [](const TraceFile& self, const std::string& prompt, const std::string& site) {
            return array_to(self.site(self.prompt(prompt), site));
          },
          nb::arg("prompt"), nb::arg("site"));
}

}  // namespace assay::python
