// Data with what a draw hardly ever has, and a kernel may take a path of its own for: neighbours that are alike, a sum of zero, the
// largest number as the last, a row that is the one before, a block without a scale.
#pragma once

#include <string_view>

#include "golden/hdf5.h"
#include "harness/verdict/draw.h"
#include "reference/ops/tensor.h"

namespace assay {

// Its name among those of distributions (golden/SCHEMA.md).
inline constexpr std::string_view kCoincidences = "coincidences";

// How many there are for elements of that type; 0: none.
std::size_t coincidences_of(DType dtype);

// Gives each row another coincidence, in turn from number `first` on, at a place of the draws where it needs one; of blocks every second
// block. Where `unit` is more than 1 every second row, or a lone one, has one in each so many numbers: what a quantiser makes a block of.
// The number after the last.
std::size_t coincide(const TensorSpec& spec, Array& array, std::int64_t unit, std::size_t first, Draws& draws);

}  // namespace assay
