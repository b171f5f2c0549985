// The sums inside a kernel, as black boxes: what to put into a call's inputs, and where in its outputs the sum is.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "harness/forensics/order/kernel_call.h"
#include "harness/forensics/order/shape.h"
#include "harness/forensics/order/sum.h"

namespace assay::order {

struct KernelSum {
  std::string what;  // "products": what is added up
  int terms;
  Shape canonical;  // of docs/numerics.md
  // Throws NotATree, NotObservable, CallFailed.
  std::function<Found(std::span<const Tree> expected)> discover;
};

// Those that the op's kernels have, over `kernel`, which they keep using. Throws std::invalid_argument for an op that adds up nothing in
// floating point, or in a shape that is not looked into.
std::vector<KernelSum> sums_of(KernelCall& kernel);

// A parameter by which an op's sums grow, and a call of it with so many terms.
Params params_of_length(const Op& op, std::int64_t length);
// The lengths that are looked at unless others are asked for.
std::vector<std::int64_t> usual_lengths(const Op& op);

// A sum whose terms may have either sign. `differs`: says, once it has been called, how else its order is not one.
KernelSum signed_sum(std::string what, const Shape& canonical, const Sum& sum, const std::shared_ptr<std::string>& differs = {});

// Squares of numbers of half as many bits; in f32 far above a norm's eps.
std::vector<double> exact_squares(int digits);
// The square of an f32 that is nearest to a value, if it is within a 16th of a unit of so many bits; else 0.
double nearly_square(double value, int digits);

// By families.
KernelSum products_of_numbers(KernelCall& kernel);
KernelSum products_of_decoded(KernelCall& kernel);  // f32 by blocks
KernelSum products_of_blocks(KernelCall& kernel);
KernelSum squares_of_norm(KernelCall& kernel);
KernelSum exponentials_of_softmax(KernelCall& kernel);
std::vector<KernelSum> sums_of_attention(KernelCall& kernel);

// The first row of y, one number a column. The rows of x are alike: `differs` says so where those of y are not.
std::vector<double> columns_of(const Array& y, std::int64_t columns, std::string& differs);

}  // namespace assay::order
