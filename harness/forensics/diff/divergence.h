// Where two runs part: the sites whose error is more than their inputs brought and more than rounding makes.
//
// A site diverges where the error e of its worst row (relative RMS) has e > floor and e > growth * the largest e among its inputs.
// Where both runs round activations to codes, the floor is that of a code that flips at a tie, which is far above all other errors.
// But a flip disturbs one row. So there a site diverges too where the median row's error is above a floor of sums alone and above
// growth * the inputs' worst row, unless that many rows with a flip are likelier than kUnlikely.
// Inputs are by the definition (model/definition.h); the site before in execution order stands for those that are not in the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "golden/trace.h"
#include "harness/forensics/diff/site_error.h"

namespace assay::diff {

// Unit roundoffs of a trace's run, from its head.
struct Rounding {
  double activations = 0;  // of the type that a site's values are rounded to, or its products' inputs
  double sums = 0;         // of the type of sums and angles
  bool codes = false;      // activations are rounded to blocks of codes
};

// By `dtype`, `recipe` and `weights`: 2^-53, 2^-24, 2^-11 (f16), 2^-8 (bf16; blocks of quantised activations).
Rounding rounding_of(const TraceFile& trace);

inline constexpr double kGrowth = 8;
inline constexpr double kUnlikely = 1e-4;

struct Threshold {
  double floor = 0;
  double growth = kGrowth;
  std::string origin;               // of the floor, for reports
  std::optional<double> most_rows;  // floor of the median row's error; empty: that is not judged
};

// floor = 16 u + (16 + T) s, with u and s the coarser of the traces': sixteen roundings of the activations, sixteen of the sums,
// and a rope angle rounded at position T, the number of tokens; of the median row with u = s. docs/diff.md holds it to the
// committed traces.
Threshold default_threshold(const Rounding& a, const Rounding& b, std::int64_t tokens);

struct Growth {
  std::vector<std::string> inputs;  // those whose error is inherited
  double inherited = 0;             // the largest of theirs
  double growth = 0;                // over it; infinite from nothing, 0 where the site itself has no error
  bool diverges = false;
  bool in_most_rows = false;  // by the median row alone
};

// A bound on the chance that half of `rows` rows or more have a code that flips, where the rows of `width` numbers that are rounded
// are off by `error`, relative RMS. A step is at least 1/127 of a block's RMS, and a number changes its code with the chance
// |its error| / step; so a row has 127 error width flips, or fewer, on average.
double chance_of_flips(double error, std::int64_t width, std::int64_t rows);

// `errors` in execution order; a result for each.
std::vector<Growth> judge_growth(const std::vector<SiteError>& errors, const Threshold& threshold);

}  // namespace assay::diff
