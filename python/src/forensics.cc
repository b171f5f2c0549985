// What the commands order, explain and reduce find of a callable of Python. Of plugins the program itself is asked.
#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <nlohmann/json.hpp>

#include "golden/atomic_file.h"
#include "harness/forensics/explain/report.h"
#include "harness/forensics/order/report.h"
#include "harness/forensics/reduce/failing_case.h"
#include "harness/reports/report.h"
#include "python/src/convert.h"
#include "python/src/request.h"

namespace assay::python {
namespace {

// Told how far the work is: ctrl-C ends it.
void heed_signals(const std::string& /*progress*/) {
  const nb::gil_scoped_acquire python;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// `work`, other threads of Python running meanwhile.
template <class Work>
auto without_lock(const Work& work) {
  const nb::gil_scoped_release others;
  return work();
}

// `svg`: a file for the drawing; empty: none. The JSON of `assay order`.
std::string order(const nb::dict& given, const std::vector<nb::dict>& shapes, const std::string& svg) {
  order::OrderRequest request;
  const CheckRequest check = request_from(given);
  request.op = check.ops.front();
  request.callables = check.callables;
  for (const nb::dict& shape : shapes) request.shapes.push_back(params_from(shape));
  return without_lock([&] {
    const order::OrderResult result = order::find_orders(request, heed_signals);
    if (!svg.empty()) write_file_atomically(svg, order::order_svg(result));
    return order::order_json(result).dump();
  });
}

std::string explain(const nb::dict& given, double seconds) {
  const CheckRequest request = request_from(given);
  return without_lock([&] {
    nlohmann::ordered_json json = environment_json();
    json["ops"] = {why::explain_json(why::explain_op({.check = request, .most_seconds = seconds, .progress = heed_signals}))};
    return json.dump();
  });
}

// {"json", "call": the smallest one}.
nb::dict reduce(const nb::dict& given, std::int64_t calls, double seconds) {
  const CheckRequest request = reducible(request_from(given));
  std::string json;
  const Reduction reduction = without_lock([&] {
    const CaseResult found = *failing_case(request, heed_signals, [] { return false; });
    std::vector<Skip> skips;
    Trials trials(request, skips);
    Reduction small =
        reduce_case(found, trials, request, {.most_calls = calls, .most_seconds = seconds, .progress = heed_signals});
    json = reduction_json(found, call_of(found), small).dump();
    return small;
  });
  nb::dict made;
  made["json"] = json;
  made["call"] = call_to(reduction.result.call);
  return made;
}

}  // namespace

void bind_forensics(nb::module_& module) {
  module.def("order", order, nb::arg("request"), nb::arg("shapes"), nb::arg("svg"));
  module.def("explain", explain, nb::arg("request"), nb::arg("seconds"));
  module.def("reduce", reduce, nb::arg("request"), nb::arg("calls"), nb::arg("seconds"));
}

}  // namespace assay::python
