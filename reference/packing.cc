#include "reference/packing.h"

#include "reference/bounds.h"
#include "reference/decode.h"

namespace assay::reference {

const Contract kPackTileF16Contract{"every 16-bit word", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kPackTileF32Contract{"every 32-bit word", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kUnpackTileF16Contract{"every 16-bit word", Exactness::exact, "bits equal", BiasUnit::none};
const Contract kUnpackTileF32Contract{"every 32-bit word", Exactness::exact, "bits equal", BiasUnit::none};

namespace {

constexpr std::int64_t kTileRows = 32;

// Place of row i, column c in [ceil(n/32), k, 32].
std::int64_t tile_index(std::int64_t i, std::int64_t c, std::int64_t k) {
  return (i / kTileRows * k + c) * kTileRows + i % kTileRows;
}

// Words are moved as integers: a float copied through a register might lose its signalling NaNs.
template <class Word>
Word load(const void* base, std::int64_t index) {
  Word word;
  std::memcpy(&word, static_cast<const unsigned char*>(base) + index * static_cast<std::int64_t>(sizeof(Word)), sizeof(Word));
  return word;
}

template <class Word, class Args>
void pack(const Args& args, Expected& dst) {
  std::vector<Word> tiles(static_cast<std::size_t>(ceil_div(args.n, kTileRows) * args.k * kTileRows), Word{0});
  for (std::int64_t i = 0; i < args.n; ++i)
    for (std::int64_t c = 0; c < args.k; ++c)
      tiles[static_cast<std::size_t>(tile_index(i, c, args.k))] = load<Word>(args.src, i * args.src_stride + c);
  dst = {};
  append_bytes(dst.bytes, tiles.data(), tiles.size());
}

template <class Word, class Args>
void unpack(const Args& args, Expected& dst) {
  std::vector<Word> rows(static_cast<std::size_t>(args.n * args.k));
  for (std::int64_t i = 0; i < args.n; ++i)
    for (std::int64_t c = 0; c < args.k; ++c)
      rows[static_cast<std::size_t>(i * args.k + c)] = load<Word>(args.src, tile_index(i, c, args.k));
  dst = {};
  append_bytes(dst.bytes, rows.data(), rows.size());
}

}  // namespace

void pack_tile_f16(const PackTileF16Args& args, Expected& dst) {
  pack<std::uint16_t>(args, dst);
}
void pack_tile_f32(const PackTileF32Args& args, Expected& dst) {
  pack<std::uint32_t>(args, dst);
}
void unpack_tile_f16(const UnpackTileF16Args& args, Expected& dst) {
  unpack<std::uint16_t>(args, dst);
}
void unpack_tile_f32(const UnpackTileF32Args& args, Expected& dst) {
  unpack<std::uint32_t>(args, dst);
}

}  // namespace assay::reference
