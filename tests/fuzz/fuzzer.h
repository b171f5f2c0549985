// What libFuzzer's side is made of.
#pragma once

namespace assay::fuzz {

// Whether the target that was chosen takes HDF5 recipes.
bool fuzzes_recipes();

}  // namespace assay::fuzz
