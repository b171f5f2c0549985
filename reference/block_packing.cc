#include "reference/block_packing.h"

#include <stdexcept>
#include <string>

#include "reference/bounds.h"

namespace assay::reference {
namespace {

constexpr std::int64_t kRows = 16;

// A field of the plain block; in the packed one it begins at 16 times its offset, and its words of the sixteen rows take turns.
struct Field {
  int offset;
  int bytes;
  int word;  // 2: an f16; 4: bytes in lines of 64
};

std::vector<Field> fields_of(Format format) {
  if (format == Format::q4_k) return {{0, 2, 2}, {2, 2, 2}, {4, 12, 4}, {16, 128, 4}};
  if (format == Format::q6_k) return {{0, 128, 4}, {128, 64, 4}, {192, 16, 4}, {208, 2, 2}};
  if (format == Format::q8_0) return {{0, 2, 2}, {2, 32, 4}};
  throw std::invalid_argument(std::string(info(format).name) + " has no packed layout");
}

// Calls move(byte of the plain rows, byte of the packed matrix) for every byte of every row.
template <class Move>
void for_each_byte(Format format, std::int64_t n, std::int64_t k, Move move) {
  const std::int64_t blocks = k / info(format).elements, size = info(format).bytes;
  const std::vector<Field> fields = fields_of(format);
  for (std::int64_t row = 0; row < n; ++row)
    for (std::int64_t b = 0; b < blocks; ++b)
      for (const Field& field : fields)
        for (std::int64_t p = 0; p < field.bytes; ++p) {
          const std::int64_t within = p / field.word * kRows * field.word + row % kRows * field.word + p % field.word;
          move(static_cast<std::size_t>((row * blocks + b) * size + field.offset + p),
               static_cast<std::size_t>((row / kRows * blocks + b) * kRows * size + kRows * field.offset + within));
        }
}

}  // namespace

std::vector<std::uint8_t> pack_x16(Format format, const void* rows, std::int64_t n, std::int64_t k) {
  const auto* from = static_cast<const std::uint8_t*>(rows);
  std::vector<std::uint8_t> packed(
      static_cast<std::size_t>(ceil_div(n, kRows) * kRows * (k / info(format).elements) * info(format).bytes), 0);
  for_each_byte(format, n, k, [&](std::size_t plain, std::size_t at) { packed[at] = from[plain]; });
  return packed;
}

std::vector<std::uint8_t> unpack_x16(Format format, const void* packed, std::int64_t n, std::int64_t k) {
  const auto* from = static_cast<const std::uint8_t*>(packed);
  std::vector<std::uint8_t> rows(static_cast<std::size_t>(n * (k / info(format).elements) * info(format).bytes));
  for_each_byte(format, n, k, [&](std::size_t plain, std::size_t at) { rows[plain] = from[at]; });
  return rows;
}

}  // namespace assay::reference
