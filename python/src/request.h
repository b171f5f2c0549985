// What Python asks for: a dict, each of whose members may be left out.
#pragma once

#include "harness/verdict/suite.h"
#include "python/src/convert.h"

namespace assay::python {

// `into` as it is where the dict has no such member, or None.
template <class T>
void take_member(const nb::dict& given, const char* name, T& into) {
  if (given.contains(name) && !given[name].is_none()) into = nb::cast<T>(given[name]);
}

// Throws std::invalid_argument for what makes no sense. Callables are called with the interpreter's lock.
CheckRequest request_from(const nb::dict& given);

}  // namespace assay::python
