#include "reference/packing.h"

#include "reference/bounds.h"
#include "reference/decode.h"

namespace assay::reference {
namespace {

// Place of row i, column c in [ceil(n/32), k, 32].
std::int64_t tile_index(std::int64_t i, std::int64_t c, std::int64_t k) {
  return (i / kTileRows * k + c) * kTileRows + i % kTileRows;
}

// Calls visit(row, column, place in tiles) for each element of the plain rows.
template <class Visit>
void for_each_element(const PackArgs& args, Visit visit) {
  for (std::int64_t i = 0; i < args.n; ++i)
    for (std::int64_t c = 0; c < args.k; ++c) visit(i, c, tile_index(i, c, args.k));
}

// Bytes are moved: a float copied through a register might lose its signalling NaNs.
void move(DType type, const void* from, std::int64_t from_index, std::vector<std::uint8_t>& to, std::int64_t to_index) {
  const auto size = static_cast<std::int64_t>(dtype_size(type));
  std::memcpy(to.data() + to_index * size, static_cast<const std::uint8_t*>(from) + from_index * size, dtype_size(type));
}

}  // namespace

void pack_tile(DType type, const PackArgs& args, Expected& dst) {
  dst = {};
  dst.bytes.resize(static_cast<std::size_t>(ceil_div(args.n, kTileRows) * args.k * kTileRows) * dtype_size(type), 0);
  for_each_element(args, [&](std::int64_t i, std::int64_t c, std::int64_t tile) {
    move(type, args.src, i * args.src_stride + c, dst.bytes, tile);
  });
}

void unpack_tile(DType type, const PackArgs& args, Expected& dst) {
  dst = {};
  dst.bytes.resize(static_cast<std::size_t>(args.n * args.k) * dtype_size(type));
  for_each_element(
      args, [&](std::int64_t i, std::int64_t c, std::int64_t tile) { move(type, args.src, tile, dst.bytes, i * args.k + c); });
}

}  // namespace assay::reference
