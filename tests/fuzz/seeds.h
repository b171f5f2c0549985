// Where fuzzing begins: inputs that are right, and those of tests/malformed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::fuzz {

struct Seed {
  std::string name;  // of its file
  std::vector<std::uint8_t> bytes;
};

std::vector<Seed> seeds_of(std::string_view target);

// Recipes of goldens and traces, that of hdf5_recipe.h.
std::vector<Seed> golden_recipes();
std::vector<Seed> trace_recipes();

}  // namespace assay::fuzz
