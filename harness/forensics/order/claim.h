// What a kernel declares of its sums, `order=` and `acc=`, held to what is found of them.
#pragma once

#include <optional>
#include <string>

#include "harness/forensics/order/order.h"
#include "harness/forensics/order/tree.h"
#include "harness/verdict/check.h"

namespace assay::order {

// Whether a tree is of this order. Lanes are told from twice as many: N partial sums, and no finer ones.
bool agrees(const Tree& tree, const reference::Order& order);

// What is found of a kernel's sums at shapes that would show an order such as this; nothing of an op that adds up two numbers at most.
KernelOrder sums_that_show(const reference::Order& order, const Op& op, const Candidate& candidate, std::size_t page);

// Why the declaration is false, from what was found of the kernel's sums; none: nothing that can be seen speaks against it.
std::optional<std::string> refutation(const KernelOrder& found, const Candidate& candidate);
// Likewise from calls of its op, and of its functions (functions.h).
std::optional<std::string> refutation(const Op& op, const Candidate& candidate, std::size_t page);

// Declarations that a kernel might make, each held to what is found of it; its sums are looked into once. What is given must outlive it.
class Refuter {
 public:
  // `longest`: of the orders that are asked for, the one that takes most terms to show.
  Refuter(const Op& op, const Candidate& candidate, std::size_t page, reference::Order longest)
      : op_(op), candidate_(candidate), page_(page), longest_(longest) {}
  bool refutes(const std::string& properties);

 private:
  const Op& op_;
  const Candidate& candidate_;
  std::size_t page_;
  reference::Order longest_;
  std::optional<KernelOrder> found_;
};

}  // namespace assay::order
