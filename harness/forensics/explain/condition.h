// When a kernel is wrong: what the calls that fail have alike and those that pass have not.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "harness/forensics/explain/evidence.h"

namespace assay::why {

struct Condition {
  std::string words;    // "k / 32 mod 16 is 5, past 16"
  std::string kind;     // remainder, octave, count, border, threshold, choice, stride, index, contents; "two" of two of them
  std::string subject;  // the size, tensor
  int cost = 2;
  std::function<bool(const Evidence&)> holds = {};
};

// The simplest that hold in all of `yes` and in none of `no`, up to `most`; none: there are none.
std::vector<Condition> conditions_between(const Op& op, std::span<const Evidence* const> yes, std::span<const Evidence* const> no,
                                          std::size_t most);

}  // namespace assay::why
