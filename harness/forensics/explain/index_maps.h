// Indices of an axis that take the place of others: those that kernels confuse.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "golden/hdf5.h"

namespace assay::why {

inline constexpr std::int64_t kNone = -1;  // the element takes no part

struct IndexMap {
  std::string_view name;
  std::string_view kind;
  std::string_view words;  // "{}: ", then this
  std::int64_t (*at)(std::int64_t index, std::int64_t length);
  int cost;
};
std::span<const IndexMap> index_maps();

// Where each element of an array comes from, flat, with the map along an axis; nothing where it changes nothing.
std::optional<std::vector<std::int64_t>> sources(const std::vector<std::int64_t>& shape, std::size_t axis, const IndexMap& map);

// The array's elements so; those that take no part are zeros.
Array moved(const Array& array, const std::vector<std::int64_t>& from);

}  // namespace assay::why
