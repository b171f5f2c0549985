#include "engine/convert/encode_rows.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "engine/threads.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

struct Conversion {
  const AnyKernel* kernel;  // null: copied
  bool codec;               // takes CodecArgs

  AssayStatus run(const void* src, void* dst, std::int64_t n) const {
    if (kernel == nullptr) {
      std::memcpy(dst, src, static_cast<std::size_t>(n) * sizeof(float));
      return ASSAY_OK;
    }
    const CodecArgs codec_args{src, dst, 1, n, 0, 0};
    const ConvertArgs convert_args{src, dst, n};
    return codec ? kernel->run(&codec_args) : kernel->run(&convert_args);
  }
};

// One of the two is f32.
Conversion conversion(DType from, DType to) {
  if (from == to) return {nullptr, false};
  const Op& op = is_block(to) ? codec_op(CodecForm::encode, to) : convert_op(from, to);
  return {&select_kernel(*op.table), is_block(to)};
}

// What the type holds, after rounding to nearest even; blocks refuse by themselves.
float most_of(DType dtype) {
  if (dtype == DType::f16) return 65519.996F;        // the last float below 65520, which rounds to infinity
  if (dtype == DType::bf16) return 0x1.fefffep127F;  // likewise
  return std::numeric_limits<float>::max();
}

std::size_t row_bytes(DType dtype, std::int64_t cols) {
  return static_cast<std::size_t>(cols / dtype_numbers(dtype)) * dtype_size(dtype);
}

void encode_row(const Conversion& widen, const Conversion& narrow, DType to, std::int64_t row, const std::uint8_t* src,
                std::uint8_t* dst, std::span<float> wide) {
  const auto n = static_cast<std::int64_t>(wide.size());
  widen.run(src, wide.data(), n);
  const float most = most_of(to);
  for (std::size_t i = 0; i < wide.size(); ++i) {
    if (std::fabs(wide[i]) <= most) continue;
    throw RowError(row, "element " + std::to_string(i) + " is " + std::to_string(wide[i]) + ", which " +
                            std::string(dtype_name(to)) + " does not hold");
  }
  if (narrow.run(wide.data(), dst, n) != ASSAY_OK) {
    throw RowError(row, "a scale leaves the range of f16, in which " + std::string(dtype_name(to)) + " keeps it");
  }
}

}  // namespace

void encode_rows(DType from, DType to, std::int64_t rows, std::int64_t cols, std::span<const std::uint8_t> src,
                 std::span<std::uint8_t> dst, Team& team) {
  const Conversion widen = conversion(from, DType::f32);
  const Conversion narrow = conversion(DType::f32, to);
  const std::size_t src_row = row_bytes(from, cols);
  const std::size_t dst_row = row_bytes(to, cols);
  const auto count = static_cast<std::size_t>(rows);
  if (cols % dtype_numbers(to) != 0 || src.size() != count * src_row || dst.size() != count * dst_row) {
    throw std::logic_error("encode_rows: the spans do not have the size of the rows");
  }
  parallel_ranges(team, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> wide(static_cast<std::size_t>(cols));
    for (std::int64_t row = begin; row < end; ++row) {
      const auto at = static_cast<std::size_t>(row);
      encode_row(widen, narrow, to, row, src.data() + at * src_row, dst.data() + at * dst_row, wide);
    }
  });
}

}  // namespace assay
