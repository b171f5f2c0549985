// A call's argument struct in C.
#pragma once

#include <string>

#include "reference/ops/op.h"

namespace assay {

struct ArgumentsInC {
  std::string structs;   // its type, and that of what it points to beside tensors, "Item"
  std::string function;  // arguments(), which fills it with addresses of memory[t].at, t a tensor of the signature
};
ArgumentsInC arguments_in_c(const Op& op, const Signature& signature, const Params& params);

}  // namespace assay
