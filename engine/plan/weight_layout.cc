#include "engine/plan/weight_layout.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "engine/files/stored_types.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

// Numbers lie in tiles, which do not depend on what they mean: bf16 is packed as f16.
WeightLayout numbers_layout(DType stored) {
  const DType packed = dtype_size(stored) == dtype_size(DType::f32) ? DType::f32 : DType::f16;
  return {stored,
          stored,
          DType::f32,
          find_pack(packed),
          find_product(ProductForm::gemv, stored, DType::f32),
          find_product(ProductForm::gemm, stored, DType::f32),
          ASSAY_TILE_ROWS};
}

WeightLayout blocks_layout(const StoredType& type, DType weights, const Op* pack) {
  return {type.dtype,
          weights,
          type.activations,
          pack,
          find_product(ProductForm::gemv, weights, type.activations),
          find_product(ProductForm::gemm, weights, type.activations),
          pack == nullptr ? 1 : ASSAY_PACKED_ROWS};
}

bool multiplies(const WeightLayout& layout) {
  return layout.gemv != nullptr && layout.gemm != nullptr;
}

std::vector<WeightLayout> make_layouts() {
  std::vector<WeightLayout> layouts;
  for (const StoredType& type : kStoredTypes) {
    const Op* const pack = is_block(type.dtype) ? find_pack(type.dtype) : nullptr;
    WeightLayout layout = is_block(type.dtype) ? blocks_layout(type, type.dtype, nullptr) : numbers_layout(type.dtype);
    if (pack != nullptr) {
      const WeightLayout packed = blocks_layout(type, pack->to, pack);
      if (multiplies(packed)) layout = packed;
    }
    if (multiplies(layout)) layouts.push_back(layout);
  }
  return layouts;
}

std::vector<WeightLayout> make_plain_layouts() {
  std::vector<WeightLayout> layouts;
  for (const StoredType& type : kStoredTypes) {
    const Op* const linear = find_product(ProductForm::linear, type.dtype, type.activations);
    if (linear != nullptr) layouts.push_back({type.dtype, type.dtype, DType::f32, nullptr, linear, linear, 1});
  }
  return layouts;
}

const std::vector<WeightLayout>& layouts() {
  static const std::vector<WeightLayout> all = make_layouts();
  return all;
}

const WeightLayout* find(const std::vector<WeightLayout>& layouts, DType stored) {
  const auto found = std::ranges::find(layouts, stored, &WeightLayout::stored);
  return found == layouts.end() ? nullptr : &*found;
}

}  // namespace

std::string WeightLayout::name() const {
  return std::string(dtype_name(weights)) + (group == ASSAY_TILE_ROWS ? "_tile" : "");
}

const WeightLayout* find_weight_layout(DType stored) {
  return find(layouts(), stored);
}

const WeightLayout* find_plain_layout(DType stored) {
  static const std::vector<WeightLayout> all = make_plain_layouts();
  return find(all, stored);
}

std::string multiplied_types() {
  std::string names;
  for (const WeightLayout& layout : layouts()) names += (names.empty() ? "" : ", ") + std::string(dtype_name(layout.stored));
  return names;
}

void pack_groups(const WeightLayout& layout, const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols,
                 std::int64_t first_group, std::int64_t last_group) {
  const std::int64_t bytes = layout.group_bytes(cols);
  const std::int64_t count = std::min(rows, last_group * layout.group) - first_group * layout.group;
  if (count <= 0) return;
  src += first_group * bytes;
  dst += first_group * bytes;
  if (layout.pack == nullptr) {
    std::memcpy(dst, src, static_cast<std::size_t>((last_group - first_group) * bytes));
    return;
  }
  const PackArgs args{.src = src, .dst = dst, .n = count, .k = cols, .src_stride = cols, .dst_stride = 0};
  if (select_kernel(*layout.pack->table).run(&args) != ASSAY_OK)
    throw std::logic_error("packing into " + layout.name() + " was refused");
}

}  // namespace assay
