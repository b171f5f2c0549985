// A sum inside a kernel, as something that can be called with terms of one's choice, and what calls tell of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/forensics/order/reveal.h"
#include "harness/forensics/order/tree.h"

namespace assay::order {

// A term is w x: of each sum w is its own, x is shared by all sums of a call. Powers of two are exact in what the kernel takes.
struct Sum {
  using Factors = std::vector<double>;

  int terms = 0;
  int places = 1;  // sums that a call has
  // The sums of w x: at place i that of rows[i], which has no terms where it is empty; without x it is 1. Throws std::runtime_error where the call
  // fails.
  std::function<std::vector<double>(std::span<const Factors> rows, const Factors& x)> run = {};
  int least = -100;  // exponents of w
  int most = 100;
  int x_most = 0;       // x may be from 2^-x_most to 2^x_most
  bool long_x = false;  // x is kept to 24 bits, w to 8: for telling fma from multiply and add
  bool counts = true;   // run() gives sums; false: something that is 0 where the sum is
  int lifted = 0;       // the exponent at which the last bit of a product of two such, 2^-30 of it, shows
  double scale = 1;     // of what run() gives
  bool exact = true;    // that are the sums' own bits
};

struct Found {
  Tree tree;
  bool hypothesis = false;           // it is one that was expected
  int precision = 0;                 // bits of the accumulator: 24 of f32, 53 of f64, 11 of f16, 8 of bf16; 0: not observable
  bool at_least = false;             // that many or more: the largest term tells no further
  std::optional<bool> fused;         // fma; none: not observable
  std::string note;                  // "in pieces of 2048 terms": where the mask is small
  std::vector<std::string> depends;  // on what beside the shape
  std::int64_t calls = 0;            // of the kernel
};

// Each of `expected` is looked for first: 2 (terms - 2) sums, where a tree that nobody expects takes from `terms` to their square. Throws
// NotATree.
Found discover(const Sum& sum, std::span<const Tree> expected);

// "f32"; "at least 39 bits".
std::string accumulator_name(const Found& found);

}  // namespace assay::order
