// What a kernel declares of its sums, `order=` and `acc=`, held to what is found of them.
#pragma once

#include <optional>
#include <string>

#include "harness/forensics/order/tree.h"
#include "harness/verdict/check.h"

namespace assay::order {

// Whether a tree is of this order. Lanes are told from twice as many: N partial sums, and no finer ones.
bool agrees(const Tree& tree, const reference::Order& order);

struct KernelOrder;

// Why the declaration is false, from what was found of the kernel's sums; none: nothing that can be seen speaks against it.
std::optional<std::string> refutation(const KernelOrder& found, const Candidate& candidate);
// Likewise from calls of its op, and of its functions (functions.h).
std::optional<std::string> refutation(const Op& op, const Candidate& candidate, std::size_t page);

}  // namespace assay::order
