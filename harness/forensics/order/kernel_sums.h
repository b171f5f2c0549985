// The sums inside a kernel, as black boxes: what to put into a call's inputs, and where in its outputs the sum is.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "harness/forensics/order/kernel_call.h"
#include "harness/forensics/order/shape.h"
#include "harness/forensics/order/sum.h"

namespace assay::order {

struct KernelSum {
  std::string what;   // "products"
  std::string terms;  // "k": what they are counted by
  Shape canonical;    // of docs/numerics.md
  Sum sum;
};

// Those that the op's kernels have, over `kernel`, which they keep using. Empty: `op` adds up nothing in floating point, or its sum is not looked
// into: `why` says which.
std::vector<KernelSum> sums_of(KernelCall& kernel, std::string& why);

}  // namespace assay::order
