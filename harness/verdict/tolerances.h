// What the tolerances in common use would say of an output: shown beside a verdict, never part of it.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "golden/dtype.h"

namespace assay {

inline constexpr double kUsualNmse = 5e-4;   // normalised mean squared error, sum (y - truth)^2 / sum truth^2, of a whole tensor
inline constexpr double kUsualClose = 1e-3;  // |y - truth| <= 1e-3 + 1e-3 |truth|, of every element

struct Tolerances {
  double error_squares = 0;
  double truth_squares = 0;
  bool all_close = true;
  bool classes_differ = false;  // an infinity or NaN that the other is not: either test sees it

  void add(double value, double truth);
  // Of an element's numbers.
  void add(DType dtype, const std::uint8_t* got, const std::uint8_t* want);
  void add(const Tolerances& other);
  // Infinite where classes differ, or the truth is zero and the output is not.
  double nmse() const;
  bool close() const { return all_close && !classes_differ; }
};

// The numbers that an element stands for: one, or those of a block (of a packed one row by row).
std::vector<double> element_values(DType dtype, const std::uint8_t* element);

}  // namespace assay
