#include "harness/verdict/block_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "reference/block_packing.h"

namespace assay {
namespace {

using reference::Block;
using reference::Format;

// Elements that share a scale.
int run_of(Format format) {
  if (format == Format::q6_k) return 16;
  return 32;
}

// "d 0.0123 dmin 0.5"; q4_1 and q5_1 call their minimum m, and add it.
std::string scales_text(Format format, const Block& block) {
  if (format == Format::q4_1 || format == Format::q5_1) return fmt::format("d {:.7g} m {:.7g}", block.d, -block.dmin);
  return block.has_min ? fmt::format("d {:.7g} dmin {:.7g}", block.d, block.dmin) : fmt::format("d {:.7g}", block.d);
}

bool has_sub_blocks(Format format) {
  return format == Format::q4_k || format == Format::q5_k || format == Format::q6_k;
}

// q8_k: a scale of 4 bytes, 256 codes, the sums of each 16 of them.
constexpr std::size_t kCodesAt = 4;
constexpr std::size_t kSumsAt = 260;
constexpr std::size_t kSummed = 16;

bool has_sums(DType dtype) {
  return dtype == Format::q8_k;
}

std::int16_t sum_at(const std::uint8_t* q8_k, std::size_t j) {
  std::int16_t sum = 0;
  std::memcpy(&sum, q8_k + kSumsAt + sizeof sum * j, sizeof sum);
  return sum;
}

// " codes 3 -1 ... values 0.5 ..." of elements first .. first + count - 1.
std::string elements_text(const Block& block, int first, int count) {
  std::string codes, values;
  for (int i = first; i < first + count; ++i) {
    codes += fmt::format(" {}", block.code[static_cast<std::size_t>(i)]);
    values += fmt::format(" {:.6g}", block.value(i));
  }
  return fmt::format("codes{} values{}", codes, values);
}

std::string sub_blocks_text(Format format, const Block& block) {
  if (!has_sub_blocks(format)) return "";
  std::string scales, mins;
  for (std::size_t i = 0; i < 256; i += static_cast<std::size_t>(run_of(format))) {
    scales += fmt::format(" {}", block.scale[i]);
    if (block.has_min) mins += fmt::format(" {}", block.min[i]);
  }
  return fmt::format(" scales{}{}{}", scales, block.has_min ? " mins" : "", mins);
}

std::string plain_listing(Format format, const std::uint8_t* bytes) {
  const Block block = reference::read_block(format, bytes);
  std::string out = fmt::format("    {}\n", scales_text(format, block));
  for (int first = 0; first < block.elements; first += run_of(format)) {
    const auto at = static_cast<std::size_t>(first);
    out += fmt::format("    {:>3}..{:<3} ", first, first + run_of(format) - 1);
    if (has_sub_blocks(format)) out += fmt::format("scale {} ", block.scale[at]);
    if (has_sub_blocks(format) && block.has_min) out += fmt::format("min {} ", block.min[at]);
    if (has_sums(format)) out += fmt::format("sums {} {} ", sum_at(bytes, at / kSummed), sum_at(bytes, at / kSummed + 1));
    out += elements_text(block, first, run_of(format)) + "\n";
  }
  return out;
}

}  // namespace

std::string describe_block(DType dtype, const std::uint8_t* bytes, std::int64_t count) {
  const Format format = plain_dtype(dtype);
  if (is_packed(dtype)) {
    const auto rows = reference::unpack_x16(format, bytes, kPackedRows, dtype_numbers(dtype));
    return fmt::format("row 0: {}", describe_block(format, rows.data(), count));
  }
  const Block block = reference::read_block(format, bytes);
  const auto shown = static_cast<int>(std::min<std::int64_t>(count, block.elements));
  return fmt::format("{}{} {}", scales_text(format, block), sub_blocks_text(format, block), elements_text(block, 0, shown));
}

std::string block_listing(DType dtype, const std::uint8_t* bytes) {
  const Format format = plain_dtype(dtype);
  if (!is_packed(dtype)) return plain_listing(format, bytes);
  const auto rows = reference::unpack_x16(format, bytes, kPackedRows, dtype_numbers(dtype));
  std::string out;
  for (std::int64_t row = 0; row < kPackedRows; ++row) {
    out += fmt::format("   row {}\n", row) + plain_listing(format, rows.data() + row * reference::block_bytes(format));
  }
  return out;
}

bool is_derived(DType dtype, std::size_t offset) {
  return has_sums(dtype) && offset >= kSumsAt;
}

void renew_derived(DType dtype, std::uint8_t* block) {
  if (!has_sums(dtype)) return;
  for (std::size_t j = 0; kSumsAt + 2 * j < dtype_size(dtype); ++j) {
    std::int16_t sum = 0;
    for (std::size_t i = 0; i < kSummed; ++i)
      sum = static_cast<std::int16_t>(sum + static_cast<std::int8_t>(block[kCodesAt + kSummed * j + i]));
    std::memcpy(block + kSumsAt + sizeof sum * j, &sum, sizeof sum);
  }
}

}  // namespace assay
