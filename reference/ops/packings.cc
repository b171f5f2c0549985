#include "reference/block_packing.h"
#include "reference/ops/describe.h"
#include "reference/ops/find.h"
#include "reference/packing.h"

namespace assay {
namespace {

using A = PackArgs;
using enum FieldKind;

bool packs(const Op& op) {
  return op.form == static_cast<int>(PackForm::pack);
}
// Tile-major rows of numbers; else sixteen rows of blocks in one.
bool is_tile(const Op& op) {
  return !is_block(op.from);
}
std::int64_t rows_a_unit(const Op& op) {
  return is_tile(op) ? kTileRows : kPackedRows;
}

template <PackForm kForm>
std::int64_t row_stride(const Op& op, const Params&, const void* args) {
  return is_tile(op) && op.form == static_cast<int>(kForm) ? static_cast<const A*>(args)->k : 0;
}

constexpr Field kFields[] = {{"src", offsetof(A, src), tensor},
                             {"dst", offsetof(A, dst), tensor},
                             {"n", offsetof(A, n), size},
                             {"k", offsetof(A, k), size},
                             {"src_stride", offsetof(A, src_stride), size, row_stride<PackForm::pack>, true},
                             {"dst_stride", offsetof(A, dst_stride), size, row_stride<PackForm::unpack>, true}};

std::vector<TensorSizes> sizes(const Op&, const A& a) {
  return {{{a.n, a.k}, {a.src_stride}}, {{a.n, a.k}, {a.dst_stride}}};
}

std::vector<std::int64_t> packed_shape(const Op& op, const A& a) {
  const std::int64_t units = ceil_div(a.n, rows_a_unit(op));
  if (is_tile(op)) return {units, a.k, kTileRows};
  return {units, length_of(op.from, a.k)};
}

// `make` is input or output.
TensorSpec plain(const Op& op, const A& a, const char* name, decltype(input)* make) {
  const DType type = plain_dtype(op.from);
  const std::int64_t columns = length_of(type, a.k);
  return strided(make(name, type, {a.n, columns}), {is_tile(op) ? (packs(op) ? a.src_stride : a.dst_stride) : columns, 1});
}

std::vector<TensorSpec> outputs(const Op& op, const A& a) {
  return {packs(op) ? output("dst", op.to, packed_shape(op, a)) : plain(op, a, "dst", output)};
}

Signature signature(const Op& op, const Params&, const A& a) {
  const std::int64_t unit = rows_a_unit(op);
  return call_of({packs(op) ? plain(op, a, "src", input) : input("src", op.from, packed_shape(op, a))}, outputs(op, a),
                 {{"n", unit, {{"src", 0, packs(op) ? 1 : unit}, {"dst", 0, packs(op) ? unit : 1}}, {}}});
}

AssayStatus refusal(const Op& op, const A& a) {
  return a.k % dtype_numbers(op.from) == 0 ? ASSAY_OK : ASSAY_BAD_SHAPE;
}

void truth(const Op& op, const A& a, std::span<reference::Expected> out) {
  const DType type = plain_dtype(op.from);
  if (is_tile(op)) return packs(op) ? reference::pack_tile(type, a, out[0]) : reference::unpack_tile(type, a, out[0]);
  packs(op) ? reference::pack_x16(type, a, out[0]) : reference::unpack_x16(type, a, out[0]);
}

Cost cost(const Op& op, const Params&, const A& a) {
  const DType packed = packs(op) ? op.to : op.from;
  return {2 * bytes_of(packed, input("", packed, packed_shape(op, a)).elements()), 0};
}

ShapeSpace shapes(const Op& op) {
  const Size n = used({"n", 77, 130}, kOutputWidths);
  const std::int64_t unit = dtype_numbers(op.from);
  ShapeSpace space{{n, used({"k", is_tile(op) ? 100 : 1024, is_tile(op) ? 140 : 1024, unit}, kInputWidths)}, {}};
  // Between any two powers of two as far as models go.
  for (const std::int64_t length : {3072, 6144, 12288, 24576, 40960, 81920, 151936}) {
    if (!is_tile(op)) space.vast.push_back({{"n", length + 1}, {"k", unit}});
    if (is_tile(op) && length < 131072) space.vast.push_back({{"n", 17}, {"k", length + 1}});
  }
  // A matrix, a vocabulary and a long row as models have them.
  if (!is_tile(op)) {
    for (const auto& [rows, length] : {std::pair{4096 + 3, 4096}, {112, 18944}})
      space.vast.push_back({{"n", rows}, {"k", length}});
    return space;
  }
  const char* const stride = packs(op) ? "src_stride" : "dst_stride";
  space.sizes.push_back({stride, 0, 0, 1, "k"});
  space.vast.push_back({{"n", 35}, {"k", 37}, {stride, kVastStride / 4 + 5}});
  space.vast.push_back({{"n", 1024 + 17}, {"k", 1024 + 64}, {stride, 1024 + 96}});
  space.vast.push_back({{"n", 4096 + 3}, {"k", 1024 + 64}});
  space.together.push_back({{"n", 65}, {"k", 529}, {stride, 536}});
  return space;
}

constexpr Family kFamily = {
    .name = "packing",
    .args = "PackArgs",
    .header = "kernels/packings/packings.h",
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
          return std::vector<Params>{{{"n", 3072}, {"k", 1024}}};
        },
};

// Source and destination of pack: rows, and rows in a layout of their own.
constexpr DType tile(DType plain) {
  return plain;
}
constexpr DType x16(DType plain) {
  return packed_dtype(plain).value();
}

constexpr const reference::Contract* contract_of(DType plain) {
  if (is_block(plain)) return &reference::kPackX16Contract;
  return dtype_size(plain) == 2 ? &reference::kTile16Contract : &reference::kTile32Contract;
}

constexpr Op row(const OpTable& table, PackForm form, DType plain, DType packed) {
  const bool packs = form == PackForm::pack;
  return {table.op, &kFamily, &table, contract_of(plain), packs ? plain : packed, packs ? packed : plain, static_cast<int>(form)};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, layout, plain) row(kernel_tables::op, PackForm::form, DType::plain, layout(DType::plain)),
#include "kernels/packings/ops.inc"
};

}  // namespace

std::span<const Op> packing_ops() {
  return kOps;
}

}  // namespace assay
