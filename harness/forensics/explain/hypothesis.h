// What else a kernel may compute than its op says, as transformations of what the reference is fed or of what it gives.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/forensics/explain/evidence.h"

namespace assay::why {

// Of an op's specification, what a hypothesis breaks: each has a line of the header (laws.inc).
enum class Law : std::uint8_t {
  equation,  // what is computed of what
  layout,    // where tensors, rows and sizes lie, and what is written
  rounding,  // how it is rounded
  classes,   // NaN, infinities, zeros and their signs
};

// The words of the op's header.
std::string_view law_of(const Op& op, Law law);

struct Hypothesis {
  std::string name;  // "without-last:k"
  std::string kind;  // a row of kKinds
  std::string words;
  Law law = Law::equation;
  int cost = 1;
  // What such a kernel would give; nothing: what is right.
  std::function<std::optional<Prediction>(const Evidence&)> predict;
  Says says = Says::what;
  std::string properties = {};  // of a declaration
  bool widens = false;          // it widens the bound alone: what fits need not compute so
};

// The place that is every output: all that it says is in its condition.
inline constexpr std::string_view kEverywhere = "where-all";

using Hypotheses = std::vector<Hypothesis>;
using Cases = std::span<const Evidence>;

// Each appends those of its kind that concern the op.
void add_sizes(const Op& op, Cases cases, Hypotheses& all);       // a size smaller than it is
void add_params(const Op& op, Cases cases, Hypotheses& all);      // another number, choice or position
void add_inputs(const Op& op, Cases cases, Hypotheses& all);      // elements, rows or whole inputs misplaced
void add_strides(const Op& op, Cases cases, Hypotheses& all);     // gaps between rows ignored
void add_blocks(const Op& op, Cases cases, Hypotheses& all);      // fields of blocks
void add_results(const Op& op, Cases cases, Hypotheses& all);     // results misplaced, rounded, of another class
void add_factors(const Op& op, Cases cases, Hypotheses& all);     // results scaled, or cut off
void add_left(const Op& op, Cases cases, Hypotheses& all);        // on what lay there before, or in a narrower type
void add_roundings(const Op& op, Cases cases, Hypotheses& all);   // conversions that round in another way
void add_quantisers(const Op& op, Cases cases, Hypotheses& all);  // codes and their scales
void add_rotations(const Op& op, Cases cases, Hypotheses& all);   // of rope
void add_formulas(const Op& op, Cases cases, Hypotheses& all);    // another formula
void add_declared(const Op& op, Cases cases, Hypotheses& all);    // arithmetic that can be declared
void add_places(const Op& op, Cases cases, Hypotheses& all);      // where alone
Hypotheses catalogue(const Op& op, Cases cases);

// The name of the size that an axis of a tensor has in every case; "axis 1" where none fits.
std::string axis_name(Cases cases, std::string_view tensor, std::size_t axis);

}  // namespace assay::why
