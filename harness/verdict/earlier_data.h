// What a kernel is given at the same addresses before a call's own data: what it remembers of it shows.
#pragma once

#include <vector>

#include "golden/hdf5.h"
#include "harness/verdict/placements.h"

namespace assay {

// All elements one on, but sixteen at each end, or a third, where the ends are to be alike.
std::vector<Array> moved_on(std::vector<Array> inputs, bool ends_alike);

std::vector<Array> earlier_data(Before before, const std::vector<Array>& inputs);

}  // namespace assay
