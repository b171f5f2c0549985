// What the sizes of an op's cases must have among them, and the fewest calls found that have it. From the rows of reference/ops alone:
// extremes, remainders, both sides of every constant that steers a kernel, short and long of every two sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "harness/verdict/draw.h"

namespace assay {

// A size in a range, or a parameter with one value.
struct Wish {
  std::string param;
  std::int64_t least = 0;  // of a stride: beyond dense
  std::int64_t most = 0;
  std::int64_t step = 1;  // (value - least) is a multiple of it
  ParamValue value;       // of a choice
  const Size* size = nullptr;
};

inline constexpr std::int64_t kFarStride = 1024;  // beyond dense: a stride is far from there on

// Sets what is wished of strides, `value` beyond dense, once the sizes are there that they are strides of; not beside those that follow from
// them.
void set_strides(const ShapeSpace& space, const std::vector<Wish>& wishes, Params& params,
                 const std::function<std::int64_t(const Wish&)>& value);

// Wishes that one case must grant together.
struct Requirement {
  std::string what;  // "k past 1024 (kChunkElements) with m past 128 (kPanelRows)"
  std::vector<Wish> wishes;
  Params cheapest;  // that meet it
  double work = 0;  // what a case that meets it may cost
  const ShapeSpace* space = nullptr;

  // Granted by a call that computes something: a size that nobody has wished for is not so small that there is nothing to see.
  bool met(const Params& params) const;
};

// The requirements of an op's cases whose cheapest call costs no more than kPairWork or kSingleWork allow, or, if `all`, kLongWork.
struct Coverage {
  ShapeSpace space;  // what the wishes point into
  std::vector<Requirement> requirements;
  std::vector<Requirement> too_dear;  // those that cost more, which no case is made for

  explicit Coverage(const Op& op, bool all = false);
  Coverage(const Coverage&) = delete;
  Coverage& operator=(const Coverage&) = delete;

  // Those that none of the calls meets.
  std::vector<std::string> uncovered(const std::vector<Params>& calls) const;
};

// Calls that meet every requirement, always the same ones.
std::vector<Params> covering_params(const Op& op, bool all = false);

}  // namespace assay
