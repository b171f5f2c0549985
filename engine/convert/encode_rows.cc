#include "engine/convert/encode_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "engine/threads.h"
#include "kernels/convert_bf16_f32/convert_bf16_f32.h"
#include "kernels/convert_f16_f32/convert_f16_f32.h"
#include "kernels/convert_f32_bf16/convert_f32_bf16.h"
#include "kernels/convert_f32_f16/convert_f32_f16.h"
#include "kernels/encode_q4_0/encode_q4_0.h"
#include "kernels/encode_q4_k/encode_q4_k.h"
#include "kernels/encode_q5_0/encode_q5_0.h"
#include "kernels/encode_q5_k/encode_q5_k.h"
#include "kernels/encode_q6_k/encode_q6_k.h"
#include "kernels/encode_q8_0/encode_q8_0.h"
#include "kernels/kernel.h"

namespace assay {
namespace {

using Convert = AssayStatus (*)(const void* src, void* dst, std::int64_t n);

// The ops that convert all have {src, dst, n} for arguments.
template <class Op>
AssayStatus run(const void* src, void* dst, std::int64_t n) {
  typename Op::Args args{};
  args.src = static_cast<decltype(args.src)>(src);
  args.dst = static_cast<decltype(args.dst)>(dst);
  args.n = n;
  return select_kernel<Op>().run(&args);
}

AssayStatus copy_f32(const void* src, void* dst, std::int64_t n) {
  std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
  return ASSAY_OK;
}

struct Conversion {
  DType dtype;
  Convert run;
  float most;  // what the type holds, after rounding to nearest even; blocks refuse by themselves
};

constexpr float kMostF32 = 0x1.fffffep127F;
constexpr float kMostF16 = 65519.996F;        // the last float below 65520, which rounds to infinity
constexpr float kMostBf16 = 0x1.fefffep127F;  // likewise
constexpr std::array<Conversion, 3> kToF32{
    {{DType::f32, copy_f32, kMostF32}, {DType::f16, run<ConvertF16F32>, kMostF32}, {DType::bf16, run<ConvertBf16F32>, kMostF32}}};
constexpr std::array<Conversion, 9> kFromF32{{{DType::f32, copy_f32, kMostF32},
                                              {DType::f16, run<ConvertF32F16>, kMostF16},
                                              {DType::bf16, run<ConvertF32Bf16>, kMostBf16},
                                              {DType::q4_0, run<EncodeQ40>, kMostF32},
                                              {DType::q5_0, run<EncodeQ50>, kMostF32},
                                              {DType::q8_0, run<EncodeQ80>, kMostF32},
                                              {DType::q4_k, run<EncodeQ4K>, kMostF32},
                                              {DType::q5_k, run<EncodeQ5K>, kMostF32},
                                              {DType::q6_k, run<EncodeQ6K>, kMostF32}}};

template <std::size_t N>
const Conversion& find(const std::array<Conversion, N>& table, DType dtype) {
  const auto found = std::find_if(table.begin(), table.end(), [dtype](const Conversion& one) { return one.dtype == dtype; });
  if (found == table.end()) throw std::logic_error("encode_rows: no conversion for " + std::string(dtype_name(dtype)));
  return *found;
}

std::size_t row_bytes(DType dtype, std::int64_t cols) {
  return static_cast<std::size_t>(cols / dtype_numbers(dtype)) * dtype_size(dtype);
}

void encode_row(const Conversion& widen, const Conversion& narrow, std::int64_t row, const std::uint8_t* src, std::uint8_t* dst,
                std::span<float> wide) {
  const auto n = static_cast<std::int64_t>(wide.size());
  widen.run(src, wide.data(), n);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (std::fabs(wide[i]) <= narrow.most) continue;
    throw RowError(row, "element " + std::to_string(i) + " is " + std::to_string(wide[i]) + ", which " +
                            std::string(dtype_name(narrow.dtype)) + " does not hold");
  }
  if (narrow.run(wide.data(), dst, n) != ASSAY_OK) {
    throw RowError(row, "a scale leaves the range of f16, in which " + std::string(dtype_name(narrow.dtype)) + " keeps it");
  }
}

}  // namespace

void encode_rows(DType from, DType to, std::int64_t rows, std::int64_t cols, std::span<const std::uint8_t> src,
                 std::span<std::uint8_t> dst, int threads) {
  const Conversion& widen = find(kToF32, from);
  const Conversion& narrow = find(kFromF32, to);
  const std::size_t src_row = row_bytes(from, cols);
  const std::size_t dst_row = row_bytes(to, cols);
  const auto count = static_cast<std::size_t>(rows);
  if (cols % dtype_numbers(to) != 0 || src.size() != count * src_row || dst.size() != count * dst_row) {
    throw std::logic_error("encode_rows: the spans do not have the size of the rows");
  }
  parallel_ranges(threads, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> wide(static_cast<std::size_t>(cols));
    for (std::int64_t row = begin; row < end; ++row) {
      const auto at = static_cast<std::size_t>(row);
      encode_row(widen, narrow, row, src.data() + at * src_row, dst.data() + at * dst_row, wide);
    }
  });
}

}  // namespace assay
