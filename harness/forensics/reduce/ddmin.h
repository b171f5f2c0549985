// The search for what a failure needs, apart from what fails: delta debugging (Zeller and Hildebrandt, "Simplifying and isolating
// failure-inducing input", 2002) by complements alone.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

namespace assay {

// Whether it still fails with these items alone; they ascend.
using StillFails = std::function<bool(std::span<const std::size_t> kept)>;
using Ended = std::function<bool()>;

// Of the items 0 .. count - 1, with all of which it fails, a set with which it fails and of which none can be left out alone. `fails` is asked
// some count * log2(count) times at most for each pass over the items, and not again of the whole. Once `ended` holds, no more: what is found by
// then is given.
std::vector<std::size_t> smallest_failing(
    std::size_t count, const StillFails& fails, const Ended& ended = [] { return false; });

}  // namespace assay
