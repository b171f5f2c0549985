#include "harness/verdict/bench/rotation.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "harness/verdict/generate_input.h"

namespace assay::bench {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::int64_t kPattern = 1 << 16;  // elements; time does not depend on which numbers they are

std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Where each tensor begins in a copy, and at the end the copy's size. Every tensor begins on a line, not on a
// page: tensors that all began on pages would compete for the same lines of the first-level cache.
std::vector<std::size_t> offsets_in_copy(const std::vector<TensorSpec>& tensors) {
  std::vector<std::size_t> offsets;
  std::size_t at = 0;
  for (const TensorSpec& spec : tensors) {
    at = rounded_up(at, std::max(kCacheLine, spec.alignment));
    offsets.push_back(at);
    at += spec.extent_bytes() + kCacheLine;
  }
  offsets.push_back(rounded_up(at, kCacheLine));
  return offsets;
}

void fill(const TensorSpec& spec, std::uint32_t stream, std::byte* base) {
  const Array made = pattern_of(spec, stream, kPattern / dtype_numbers(spec.dtype));
  const std::size_t total = spec.extent_bytes();
  for (std::size_t at = 0; at < total; at += made.bytes.size()) {
    std::memcpy(base + at, made.bytes.data(), std::min(made.bytes.size(), total - at));
  }
}

}  // namespace

Array pattern_of(const TensorSpec& spec, std::uint32_t stream, std::int64_t most) {
  const bool whole = spec.data && !is_block(spec.dtype);
  const std::int64_t count = whole ? spec.extent() : std::min(spec.extent(), most);
  TensorSpec piece = spec;
  piece.shape = is_packed(spec.dtype) ? std::vector<std::int64_t>{1, count} : std::vector<std::int64_t>{count};
  return generate_input(piece, distribution_for(piece, "gauss"), 1, stream);
}

Rotation::Rotation(const Op& op, const Variant& variant, const Params& params, Temperature temperature) : kernel_(variant.run) {
  const Signature signature = signature_of(op, params);
  const Copies copies = lay_out(op, params, signature, temperature);
  calls_.reserve(copies.size());
  for (const std::vector<void*>& tensors : copies) calls_.emplace_back(op, params, tensors);
}

Rotation::Copies Rotation::lay_out(const Op& op, const Params& params, const Signature& signature, Temperature temperature) {
  const std::vector<std::size_t> offsets = offsets_in_copy(signature.tensors);
  const std::size_t copy_bytes = offsets.back();
  std::size_t data_bytes = 0;
  for (const TensorSpec& spec : signature.tensors) data_bytes += spec.extent_bytes();
  if (data_bytes == 0) throw std::invalid_argument(std::string(op.name) + ": nothing to time at " + params.to_string());

  const std::size_t copies = temperature == Temperature::warm ? 1 : cold_bytes() / copy_bytes + 1;
  const double touched = cost_of(op, params).bytes * static_cast<double>(copies);
  if (temperature == Temperature::cold && touched < static_cast<double>(cold_bytes())) cold_calls_ = copies;
  memory_ = PageBuffer(copies * copy_bytes, Pages::huge);
  Copies all;
  for (std::size_t copy = 0; copy < copies; ++copy) {
    std::byte* base = memory_.data() + copy * copy_bytes;
    if (copy > 0) std::memcpy(base, memory_.data(), copy_bytes);
    std::vector<void*>& pointers = all.emplace_back();
    for (std::size_t i = 0; i < signature.tensors.size(); ++i) {
      const TensorSpec& spec = signature.tensors[i];
      pointers.push_back(base + offsets[i]);
      for (std::size_t t = 0; t < i && spec.in_place_only; ++t) {
        if (signature.tensors[t].name == spec.aliases.front()) pointers.back() = pointers[t];
      }
      if (copy == 0 && spec.role == Direction::in) fill(spec, static_cast<std::uint32_t>(i), base + offsets[i]);
    }
  }
  return all;
}

AssayStatus Rotation::run() {
  const AssayStatus status = kernel_(calls_[next_].data());
  next_ = next_ + 1 < calls_.size() ? next_ + 1 : 0;
  return status;
}

}  // namespace assay::bench
