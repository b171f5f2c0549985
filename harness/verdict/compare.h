// Holding one output tensor to its truth: classes, bound, bias, spread, bytes (docs/numerics.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/store.h"
#include "harness/verdict/tolerances.h"
#include "reference/contract.h"
#include "reference/expected.h"
#include "reference/ops/signature.h"

namespace assay {

// How one element missed: enough to print both values and where they are.
struct Miss {
  std::int64_t index = -1;  // flat, in the tensor's logical order
  std::string got;          // hex and decimal
  std::string want;
  double margin = 0;  // |y - truth| / B; infinite where B = 0
  double ulp = 0;     // |y - truth| in units of the output format's last place at the truth
};

// What the comparison of one tensor, or of several added up, found.
struct Comparison {
  std::int64_t compared = 0;
  std::int64_t bits_only = 0;       // outputs whose bound is void: only equal bits count
  double margin = 0;                // the largest
  std::optional<Miss> worst;        // where it is
  std::optional<Miss> wrong_class;  // the first
  double square_sum = 0;            // of e / B, for the spread
  std::vector<double> bias;         // t of each unit with an error
  Tolerances tolerances;            // what a test by tolerance would see; encoded outputs: of their decoded values
  std::string note;                 // encoded outputs: the errors in words

  void add(const Comparison& other);
};

// Holds a bounded output to value and bound. `keeps_sign`: reference::Contract's.
Comparison compare_bounded(const TensorSpec& spec, const Array& y, const reference::Expected& expected, reference::BiasUnit unit,
                           bool keeps_sign);

// How far one of its elements is off, in its bound: 0 where no bound holds, infinite where the class is another.
double element_margin(const TensorSpec& spec, const Array& y, const reference::Expected& expected, std::int64_t index,
                      bool keeps_sign);

// Holds the weighted squared error of blocks to that of the golden's, where there are any, or of the reference's plain encoder.
Comparison compare_encoded(const Array& y, const reference::Encoding& encoding, const Kept* golden);

// Holds bytes to bytes; the first difference is `worst`. NaNs are equal to NaNs if `any_nan`.
Comparison compare_bytes(const TensorSpec& spec, const Array& y, const Kept& want, bool any_nan);

// Holds bytes to those that the reference computed, all or a sample.
Comparison compare_computed(const TensorSpec& spec, const Array& y, const reference::Expected& expected, bool any_nan);

// A bounded or an exact output against what its reference computed: all of it, or a sample.
Comparison compare_expected(const reference::Contract& contract, const TensorSpec& spec, const Array& y,
                            const reference::Expected& expected);

// An output's bytes, all of them.
Kept whole(const TensorSpec& spec, const std::vector<std::uint8_t>& bytes);

// "y[0, 3] = 0x.. (..), expected ..; margin .., .. ulp".
std::string describe_miss(const TensorSpec& spec, const Miss& miss);

// The first element in which the outputs of two like calls differ, in words; empty: none.
std::string other_bits(const Signature& signature, const std::vector<Array>& first, const std::vector<Array>& other,
                       bool any_nan);

// z = sum t / sqrt(sum t^2); empty below 256 units.
std::optional<double> bias_z(const std::vector<double>& units);

// Puts the canonical NaN of its type for each NaN, so that digests do not depend on payloads.
void canonicalise_nans(Array& array);

}  // namespace assay
