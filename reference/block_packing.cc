#include "reference/block_packing.h"

#include <stdexcept>
#include <string>

#include "reference/bounds.h"

namespace assay::reference {
namespace {

// Bytes of the plain block that are cut into words; in the packed block word 0 of the sixteen rows comes first, then word 1.
struct Piece {
  int offset;
  int bytes;
  int word;  // 2: an f16; 4: bytes in lines of 64
};

// In the order of the packed block.
std::vector<Piece> pieces_of(Format format) {
  if (format == Format::q4_k) return {{0, 2, 2}, {2, 2, 2}, {4, 12, 4}, {16, 128, 4}};
  if (format == Format::q8_0) return {{0, 2, 2}, {2, 32, 4}};
  if (format != Format::q6_k) throw std::invalid_argument(std::string(dtype_name(format)) + " has no packed layout");
  std::vector<Piece> pieces{{208, 2, 2}, {192, 16, 4}};
  for (int half = 0; half < 2; ++half)
    for (int i = 0; i < 8; ++i) {  // two lines of low nibbles and the one of high pairs that belongs to both
      pieces.push_back({64 * half + 4 * i, 4, 4});
      pieces.push_back({64 * half + 32 + 4 * i, 4, 4});
      pieces.push_back({128 + 32 * half + 4 * i, 4, 4});
    }
  return pieces;
}

// Calls move(byte of the plain rows, byte of the packed matrix) for every byte of every row.
template <class Move>
void for_each_byte(Format format, std::int64_t n, std::int64_t k, Move move) {
  const std::int64_t blocks = k / dtype_numbers(format), size = block_bytes(format);
  const std::vector<Piece> pieces = pieces_of(format);
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t b = 0; b < blocks; ++b) {
      std::int64_t packed = (row / kPackedRows * blocks + b) * kPackedRows * size;
      for (const Piece& piece : pieces) {
        for (std::int64_t p = 0; p < piece.bytes; ++p) {
          const std::int64_t within = (p / piece.word * kPackedRows + row % kPackedRows) * piece.word + p % piece.word;
          move(static_cast<std::size_t>((row * blocks + b) * size + piece.offset + p), static_cast<std::size_t>(packed + within));
        }
        packed += kPackedRows * piece.bytes;
      }
    }
}

}  // namespace

std::vector<std::uint8_t> pack_x16(Format format, const void* rows, std::int64_t n, std::int64_t k) {
  const auto* from = static_cast<const std::uint8_t*>(rows);
  std::vector<std::uint8_t> packed(
      static_cast<std::size_t>(ceil_div(n, kPackedRows) * kPackedRows * (k / dtype_numbers(format)) * block_bytes(format)), 0);
  for_each_byte(format, n, k, [&](std::size_t plain, std::size_t at) { packed[at] = from[plain]; });
  return packed;
}

std::vector<std::uint8_t> unpack_x16(Format format, const void* packed, std::int64_t n, std::int64_t k) {
  const auto* from = static_cast<const std::uint8_t*>(packed);
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(n * (k / dtype_numbers(format)) * block_bytes(format)));
  for_each_byte(format, n, k, [&](std::size_t plain, std::size_t at) { rows[plain] = from[at]; });
  return rows;
}

void pack_x16(Format format, const PackArgs& args, Expected& dst) {
  dst = {};
  dst.bytes = pack_x16(format, args.src, args.n, args.k);
}
void unpack_x16(Format format, const PackArgs& args, Expected& dst) {
  dst = {};
  dst.bytes = unpack_x16(format, args.src, args.n, args.k);
}

}  // namespace assay::reference
