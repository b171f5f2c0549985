#include "engine/plan/weight_layout.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "kernels/kernel.h"
#include "kernels/pack_q4_k_x16/pack_q4_k_x16.h"
#include "kernels/pack_q6_k_x16/pack_q6_k_x16.h"
#include "kernels/pack_q8_0_x16/pack_q8_0_x16.h"
#include "kernels/pack_tile_f16/pack_tile_f16.h"
#include "kernels/pack_tile_f32/pack_tile_f32.h"

namespace assay {
namespace {

constexpr WeightLayout kLayouts[] = {
    {DType::f32, WeightType::f32_tile, ActivationType::f32, 32},   {DType::f16, WeightType::f16_tile, ActivationType::f32, 32},
    {DType::bf16, WeightType::bf16_tile, ActivationType::f32, 32}, {DType::q4_0, WeightType::q4_0, ActivationType::q8_0, 1},
    {DType::q5_0, WeightType::q5_0, ActivationType::q8_0, 1},      {DType::q8_0, WeightType::q8_0_x16, ActivationType::q8_0, 16},
    {DType::q4_k, WeightType::q4_k_x16, ActivationType::q8_k, 16}, {DType::q5_k, WeightType::q5_k, ActivationType::q8_k, 1},
    {DType::q6_k, WeightType::q6_k_x16, ActivationType::q8_k, 16},
};

// As the file has them; for the linear ops, which take f32 activations and quantise them by themselves.
constexpr WeightLayout kPlainLayouts[] = {
    {DType::q4_0, WeightType::q4_0, ActivationType::f32, 1}, {DType::q5_0, WeightType::q5_0, ActivationType::f32, 1},
    {DType::q8_0, WeightType::q8_0, ActivationType::f32, 1}, {DType::q4_k, WeightType::q4_k, ActivationType::f32, 1},
    {DType::q5_k, WeightType::q5_k, ActivationType::f32, 1}, {DType::q6_k, WeightType::q6_k, ActivationType::f32, 1},
};

// The ops that pack all have {src, dst, n, k}, those of numbers a stride too.
template <class Op>
AssayStatus pack_by(const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols) {
  typename Op::Args args{};
  args.src = reinterpret_cast<decltype(args.src)>(src);
  args.dst = reinterpret_cast<decltype(args.dst)>(dst);
  args.n = rows;
  args.k = cols;
  if constexpr (requires { args.src_stride; }) args.src_stride = cols;
  return select_kernel<Op>().run(&args);
}

AssayStatus pack(WeightType type, const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols,
                 std::int64_t bytes) {
  switch (type) {
    case WeightType::f32_tile:
      return pack_by<PackTileF32>(src, dst, rows, cols);
    case WeightType::f16_tile:
    case WeightType::bf16_tile:
      return pack_by<PackTileF16>(src, dst, rows, cols);
    case WeightType::q4_k_x16:
      return pack_by<PackQ4KX16>(src, dst, rows, cols);
    case WeightType::q6_k_x16:
      return pack_by<PackQ6KX16>(src, dst, rows, cols);
    case WeightType::q8_0_x16:
      return pack_by<PackQ80X16>(src, dst, rows, cols);
    default:
      std::memcpy(dst, src, static_cast<std::size_t>(bytes));
      return ASSAY_OK;
  }
}

}  // namespace

std::span<const WeightLayout> weight_layouts() {
  return kLayouts;
}

const WeightLayout* find_weight_layout(DType stored) {
  const auto* const found = std::ranges::find(kLayouts, stored, &WeightLayout::stored);
  return found == std::end(kLayouts) ? nullptr : found;
}

const WeightLayout* find_plain_layout(DType stored) {
  const auto* const found = std::ranges::find(kPlainLayouts, stored, &WeightLayout::stored);
  return found == std::end(kPlainLayouts) ? nullptr : found;
}

std::string multiplied_types() {
  std::string names;
  for (const WeightLayout& layout : kLayouts) names += (names.empty() ? "" : ", ") + std::string(dtype_name(layout.stored));
  return names;
}

DType activation_dtype(ActivationType type) {
  switch (type) {
    case ActivationType::q8_0:
      return DType::q8_0;
    case ActivationType::q8_k:
      return DType::q8_k;
    default:
      return DType::f32;
  }
}

void pack_groups(const WeightLayout& layout, const std::uint8_t* src, std::uint8_t* dst, std::int64_t rows, std::int64_t cols,
                 std::int64_t first_group, std::int64_t last_group) {
  const std::int64_t bytes = layout.group_bytes(cols);
  const std::int64_t first_row = first_group * layout.group;
  const std::int64_t count = std::min(rows, last_group * layout.group) - first_row;
  if (count <= 0) return;
  const AssayStatus status =
      pack(layout.type, src + first_group * bytes, dst + first_group * bytes, count, cols, (last_group - first_group) * bytes);
  if (status != ASSAY_OK) throw std::logic_error("packing into " + std::string(type_name(layout.type)) + " was refused");
}

}  // namespace assay
