// Values of the harness as Python's, and back. An array is (dtype's name, shape, its bytes as a flat uint8 ndarray): the package in Python gives
// it its NumPy type, and says what is wrong with what users hand over.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <string>
#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/check.h"

namespace assay::python {

namespace nb = nanobind;

using Bytes = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

Params params_from(const nb::dict& values);
nb::dict params_to(const Params& params);

// Throws std::invalid_argument where the bytes are not those of the shape.
Array array_from(nb::handle array);
nb::tuple array_to(const Array& array);
nb::list arrays_to(const std::vector<Array>& arrays);

// Numbers that Python takes over without a copy.
template <class T>
nb::object numbers_to(std::vector<T> numbers) {
  auto* kept = new std::vector<T>(std::move(numbers));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t count = kept->size();
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {count}, owner));
}

template <class List>
nb::list strings_to(const List& strings) {
  nb::list all;
  for (const auto& one : strings) all.append(nb::str(std::string(one).c_str()));
  return all;
}

// {"value", "bound", "bits_only"} of a bounded output; {"bytes"} of an exact one; {} of an encoded one.
nb::dict expected_to(const reference::Expected& expected);
// {"name", "dtype", "role", "shape", "aliases", "in_place_only"} each.
nb::list specs_to(const Signature& signature);
// The scalars as the call's argument struct has them: all of them, whatever the parameters leave out.
nb::dict scalars_of(const Op& op, const CallPart& part);
// What was found of one output: figures, and {"index", "got", "want", "margin", "ulp"} of its worst element.
nb::dict comparison_to(const TensorSpec& spec, const Comparison& found);
// {"signature", "inputs", "outputs", "expected"} of a call that was kept; else None.
nb::object call_to(const std::shared_ptr<const JudgedCall>& call);

void bind_ops(nb::module_& module);
void bind_truth(nb::module_& module);
void bind_check(nb::module_& module);
void bind_bench(nb::module_& module);
void bind_forensics(nb::module_& module);
void bind_trace(nb::module_& module);

}  // namespace assay::python
