#pragma once

#include <algorithm>
#include <vector>

namespace assay {

// The middle one in order, of an even number the upper of the two: one that is there, which no outlier moves. 0 of none.
inline double middle_of(std::vector<double> numbers) {
  if (numbers.empty()) return 0;
  const auto middle = numbers.begin() + std::ssize(numbers) / 2;
  std::ranges::nth_element(numbers, middle);
  return *middle;
}

}  // namespace assay
