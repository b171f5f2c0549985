#include "reference/decode_blocks.h"
#include "reference/encode.h"
#include "reference/encode_k.h"
#include "reference/ops/describe.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

using A = CodecArgs;
using enum FieldKind;

bool is_form(const Op& op, CodecForm form) {
  return op.form == static_cast<int>(form);
}
DType block_type(const Op& op) {
  return is_block(op.from) ? op.from : op.to;
}
// Encoders that search for their scales.
constexpr bool searches(DType to) {
  return dtype_numbers(to) == 256 && to != DType::q8_k;
}

std::int64_t blocks(const Op& op, const Params&, const A& a) {
  return length_of(block_type(op), a.k);
}

constexpr Field kRowFields[] = {{"src", offsetof(A, src), tensor},
                                {"dst", offsetof(A, dst), tensor},
                                {"rows", offsetof(A, rows), size, constant<1>, false, {}, ""},
                                {"k", offsetof(A, k), size, nullptr, false, {}, "n"},
                                {"src_stride", offsetof(A, src_stride), size, constant<0>, false, {}, ""},
                                {"dst_stride", offsetof(A, dst_stride), size, constant<0>, false, {}, ""}};
constexpr Field kFields[] = {{"src", offsetof(A, src), tensor},
                             {"dst", offsetof(A, dst), tensor},
                             {"rows", offsetof(A, rows), size},
                             {"k", offsetof(A, k), size},
                             {"src_stride", offsetof(A, src_stride), size, same_as<&A::k>, true},
                             {"dst_stride", offsetof(A, dst_stride), size, erased<blocks>, true}};

std::vector<TensorSizes> sizes(const Op&, const A& a) {
  return {{{a.rows, a.k}, {a.src_stride}}, {{a.rows, a.k}, {a.dst_stride}}};
}

// encode and decode: one row.
std::vector<TensorSpec> row_outputs(const Op& op, const A& a) {
  return {output("dst", op.to, {length_of(op.to, a.k)})};
}
Signature row_signature(const Op& op, const Params&, const A& a) {
  const std::int64_t unit = dtype_numbers(block_type(op));
  return call_of({input("src", op.from, {length_of(op.from, a.k)})}, row_outputs(op, a),
                 {{"n", unit, {{"src", 0, dtype_numbers(op.from)}, {"dst", 0, dtype_numbers(op.to)}}, {}}});
}

AssayStatus row_refusal(const Op& op, const A& a) {
  if (a.rows != 1 || a.k % dtype_numbers(block_type(op)) != 0) return ASSAY_BAD_SHAPE;
  return is_form(op, CodecForm::encode) ? reference::encode_status(op.to, static_cast<const float*>(a.src), a.k) : ASSAY_OK;
}

void row_truth(const Op& op, const A& a, std::span<reference::Expected> out) {
  if (is_form(op, CodecForm::decode)) return reference::decode_blocks(op.from, a, out[0]);
  searches(op.to) ? reference::encode_k_blocks(op.to, a, out[0]) : reference::encode_blocks(op.to, a, out[0]);
}

// quantize: rows.
std::vector<TensorSpec> outputs(const Op& op, const A& a) {
  return {strided(output("dst", op.to, {a.rows, length_of(op.to, a.k)}), {a.dst_stride, 1})};
}
Signature signature(const Op& op, const Params&, const A& a) {
  return call_of({strided(input("src", DType::f32, {a.rows, a.k}), {a.src_stride, 1})}, outputs(op, a),
                 {{"rows", 1, {{"src", 0}, {"dst", 0}}, {}}});
}

AssayStatus refusal(const Op& op, const A& a) {
  if (a.k % dtype_numbers(op.to) != 0) return ASSAY_BAD_SHAPE;
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const auto* src = static_cast<const float*>(a.src) + row * a.src_stride;
    if (const AssayStatus status = reference::encode_status(op.to, src, a.k); status != ASSAY_OK) return status;
  }
  return ASSAY_OK;
}

void truth(const Op& op, const A& a, std::span<reference::Expected> out) {
  reference::quantize_rows(op.to, a, out[0]);
}

Cost cost(const Op& op, const Params& params, const A& a) {
  return {4 * static_cast<double>(a.rows * a.k) + bytes_of(block_type(op), a.rows * blocks(op, params, a)), 0};
}

ShapeSpace row_shapes(const Op& op) {
  return {{used({"n", 1024, 3000, dtype_numbers(block_type(op))}, {Column::hidden, Column::ffn})}, {}};
}
ShapeSpace shapes(const Op& op) {
  const std::int64_t unit = dtype_numbers(op.to);
  ShapeSpace space{{{"rows", 5, 9},
                    used({"k", 1024, 1024, unit}, kInputWidths),
                    {"src_stride", 0, 0, 1, "k"},
                    {"dst_stride", 0, 0, unit, "k"}},
                   {},
                   nullptr,
                   {{{"rows", 6}, {"k", 256}, {"src_stride", kVastStride}, {"dst_stride", kVastStride + 5}}}};
  // More rows than 16 bits count, where they fit into memory that repeats.
  if (op.to == DType::q8_0) space.vast.push_back({{"rows", kCounters.back() + 300}, {"k", unit}});
  return space;
}

constexpr Family kCodec = {
    .name = "codec",
    .args = "CodecArgs",
    .header = "kernels/codecs/codecs.h",
    .args_bytes = sizeof(A),
    .fields = kRowFields,
    .sizes = erased<sizes>,
    .signature = erased<row_signature>,
    .outputs = erased<row_outputs>,
    .refusal = erased<row_refusal>,
    .reference = erased<row_truth>,
    .cost = erased<cost>,
    .shapes = row_shapes,
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"n", 1024 * 1024}}};
        },
};
constexpr Family kQuantize = {
    .name = "quantize",
    .args = "CodecArgs",
    .header = "kernels/codecs/codecs.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .refusal = erased<refusal>,
    .reference = erased<truth>,
    .cost = erased<cost>,
    .shapes = shapes,
    .bench_params =
        [](const Op&) {
          return std::vector<Params>{{{"rows", 1}, {"k", 1024}}, {{"rows", 512}, {"k", 1024}}};
        },
};

constexpr Op row(const OpTable& table, CodecForm form, DType format) {
  const auto* family = form == CodecForm::quantize ? &kQuantize : &kCodec;
  if (form == CodecForm::decode) {
    return {table.op, family, &table, &reference::kDecodeContract, format, DType::f32, static_cast<int>(form)};
  }
  const auto* contract = searches(format) ? &reference::kEncodeKContract : &reference::kEncodeContract;
  return {table.op, family, &table, contract, DType::f32, format, static_cast<int>(form)};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, format) row(kernel_tables::op, CodecForm::form, DType::format),
#include "kernels/codecs/ops.inc"
};

}  // namespace

std::span<const Op> codec_ops() {
  return kOps;
}

}  // namespace assay
