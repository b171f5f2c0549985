#include "harness/forensics/order/block_writer.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

#include "harness/verdict/block_format.h"
#include "reference/convert.h"

namespace assay::order {
namespace {

using reference::Block;

void flip(std::uint8_t* block, std::size_t bit) {
  block[bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
}

}  // namespace

BlockWriter::BlockWriter(reference::Format format) : format_(format) {
  std::vector<std::uint8_t> bytes(dtype_size(format));
  zero_ = reference::read_block(format, bytes.data());
  codes_.resize(static_cast<std::size_t>(zero_.elements));
  double least = HUGE_VAL;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    flip(bytes.data(), bit);
    const Block with = reference::read_block(format, bytes.data());
    flip(bytes.data(), bit);
    bool makes_one = false;
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      if (with.code[i] != zero_.code[i]) codes_[i].push_back({bit, with.code[i] - zero_.code[i]});
      makes_one = makes_one || with.scale[i] - zero_.scale[i] == 1;
    }
    if (makes_one) ones_.push_back(bit);
    // The least number that one bit gives is the last of the significand: there the scale begins.
    if (with.d == zero_.d || std::abs(with.d) >= least) continue;
    least = std::abs(with.d);
    scale_at_ = bit / 8;
  }
  half_scale_ = least == 0x1p-24;
}

void BlockWriter::set_code(int element, int code, std::uint8_t* block) const {
  const auto i = static_cast<std::size_t>(element);
  const std::vector<Bit>& bits = codes_[i];
  for (unsigned chosen = 0; chosen < 1U << bits.size(); ++chosen) {
    int sum = zero_.code[i];
    for (std::size_t b = 0; b < bits.size(); ++b) sum += (chosen >> b & 1U) != 0 ? bits[b].adds : 0;
    if (sum != code) continue;
    for (std::size_t b = 0; b < bits.size(); ++b) {
      if ((chosen >> b & 1U) != 0) flip(block, bits[b].at);
    }
    return;
  }
  throw std::logic_error("a block format without a code of 0 or 1");
}

void BlockWriter::write(double factor, int element, Array& blocks, std::int64_t index) const {
  std::uint8_t* const block = blocks.bytes.data() + static_cast<std::size_t>(index) * dtype_size(format_);
  std::memset(block, 0, dtype_size(format_));
  for (const std::size_t bit : ones_) flip(block, bit);
  for (int i = 0; i < zero_.elements; ++i) set_code(i, element == kEveryElement || element == i ? 1 : 0, block);
  const auto single = static_cast<float>(factor);
  if (half_scale_) {
    const std::uint16_t half = reference::narrow<reference::Half>(single);
    std::memcpy(block + scale_at_, &half, sizeof half);
  } else {
    std::memcpy(block + scale_at_, &single, sizeof single);
  }
  renew_derived(format_, block);
}

}  // namespace assay::order
