#include "reference/block_dot.h"
#include "reference/block_matvec.h"
#include "reference/declared_product.h"
#include "reference/linear.h"
#include "reference/matvec.h"
#include "reference/ops/describe.h"
#include "reference/ops/find.h"

namespace assay {
namespace {

using A = ProductArgs;
using enum FieldKind;

// The projections of Qwen3-0.6B that bench and peers are measured at: rows, columns.
constexpr std::int64_t kBenchShapes[3][2] = {{3072, 1024}, {1024, 3072}, {151936, 1024}};

bool is_gemv(const Op& op) {
  return product_form(op) == ProductForm::gemv;
}
bool is_linear(const Op& op) {
  return product_form(op) == ProductForm::linear;
}
bool is_tile(const Op& op) {
  return !is_block(op.from);
}
// Of w's first axis.
std::int64_t rows_an_index(const Op& op) {
  return is_tile(op) ? kTileRows : is_packed(op.from) ? kPackedRows : 1;
}
// What x holds; linear quantises it by itself.
DType x_type(const Op& op) {
  return is_linear(op) ? DType::f32 : op.to;
}

std::int64_t rows_of_x(const Op& op, const Params& params, const void*) {
  return is_gemv(op) ? 1 : size_of(params, "m");
}
std::int64_t x_length(const Op& op, const Params&, const A& a) {
  return length_of(x_type(op), a.k);
}

constexpr Field kFields[] = {{"w", offsetof(A, w), tensor},
                             {"x", offsetof(A, x), tensor},
                             {"y", offsetof(A, y), tensor},
                             {"m", offsetof(A, m), size, rows_of_x},
                             {"n", offsetof(A, n), size},
                             {"k", offsetof(A, k), size},
                             {"x_stride", offsetof(A, x_stride), size, erased<x_length>, true},
                             {"y_stride", offsetof(A, y_stride), size, same_as<&A::n>, true}};

std::vector<TensorSizes> sizes(const Op&, const A& a) {
  return {{{a.n, a.k}}, {{a.m, a.k}, {a.x_stride}}, {{a.m, a.n}, {a.y_stride}}};
}

TensorSpec weights(const Op& op, const A& a) {
  const std::int64_t rows = ceil_div(a.n, rows_an_index(op));
  if (is_tile(op)) return input("w", op.from, {rows, a.k, kTileRows});
  return input("w", op.from, {rows, length_of(op.from, a.k)});
}

std::vector<TensorSpec> outputs(const Op& op, const A& a) {
  if (is_gemv(op)) return {output("y", DType::f32, {a.n})};
  return {strided(output("y", DType::f32, {a.m, a.n}), {a.y_stride, 1})};
}

Signature signature(const Op& op, const Params& params, const A& a) {
  const std::int64_t length = x_length(op, params, a);
  TensorSpec x = is_gemv(op) ? input("x", x_type(op), {length}) : strided(input("x", x_type(op), {a.m, length}), {a.x_stride, 1});
  // Codes of activations lie in -127..127, and q8_k's sums follow from them.
  if (is_block(x_type(op))) x = with_data(x, {"activations"});
  const std::int64_t unit = rows_an_index(op);
  std::vector<Split> splits;
  if (is_gemv(op)) {
    splits = {{"n", unit, {{"w", 0, unit}, {"y", 0}}, {}}};
  } else {
    splits = {{"m", 1, {{"x", 0}, {"y", 0}}, {}}, {"n", unit, {{"w", 0, unit}, {"y", 1}}, {{"y_stride", a.y_stride}}}};
  }
  return call_of({weights(op, a), x}, outputs(op, a), splits);
}

AssayStatus refusal(const Op& op, const A& a) {
  if (is_linear(op)) return reference::linear_status(op.from, op.to, a);
  return a.k % dtype_numbers(op.from) != 0 || (is_gemv(op) && a.m != 1) ? ASSAY_BAD_SHAPE : ASSAY_OK;
}

void truth(const Op& op, const A& a, std::span<reference::Expected> out) {
  if (is_linear(op)) return reference::linear(op.from, op.to, a, out[0]);
  if (is_tile(op)) return reference::matvec(op.from, a, out[0]);
  if (op.to == DType::f32) return reference::block_matvec(op.from, a, out[0]);
  reference::block_dot(op.from, op.to, a, out[0]);
}

// Whether numbers are multiplied by numbers; else integers of blocks.
bool by_numbers(const Op& op, const reference::Arithmetic& how) {
  return op.to == DType::f32 || (is_linear(op) && how.x != nullptr && how.x->name != dtype_name(op.to));
}

std::uint32_t declarable(const Op& op, const reference::Arithmetic& how) {
  if (by_numbers(op, how)) return kActivations | kWeights | kProducts | kSums | kIntegerSums | kLanes | kTrees | kResults;
  const std::uint32_t blocks = kSums | kLanes | kResults;
  return is_linear(op) ? blocks | kActivations : blocks;
}

void declared(const Op& op, const A& a, const reference::Arithmetic& how, std::span<reference::Expected> out) {
  if (by_numbers(op, how)) return reference::declared_product(op.from, a, how, out[0]);
  if (is_linear(op)) return reference::declared_linear(op.from, op.to, a, how, out[0]);
  reference::declared_blocks(op.from, op.to, a, how, out[0]);
}

Cost cost(const Op& op, const Params& params, const A& a) {
  const auto m = static_cast<double>(a.m), n = static_cast<double>(a.n);
  const double bytes = bytes_of(op.from, weights(op, a).elements()) + m * (bytes_of(x_type(op), x_length(op, params, a)) + 4 * n);
  const double operations = 2 * m * n * static_cast<double>(a.k);
  return op.to == DType::f32 ? Cost{bytes, operations} : Cost{.bytes = bytes, .int8_ops = operations};
}

// Rows of activations that gemm keeps at once.
Border rows_at_once(const Op& op) {
  if (is_tile(op)) return {"kCachedRows", 192};
  return op.to == DType::f32 ? Border{"kDecodedRows", 96} : Border{"kPanelRows", 128};
}

// What both operands hold in whole blocks.
std::int64_t least_columns(const Op& op) {
  return std::max(dtype_numbers(op.from), dtype_numbers(x_type(op)));
}

// Calls that are too dear for whole cases; of blocks also rows of weights between any two powers of two up to the largest vocabulary.
void add_dear_calls(const Op& op, ShapeSpace& space) {
  const std::int64_t unit = dtype_numbers(op.from);
  const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    Params& call = space.vast.emplace_back(Params{{"n", n}, {"k", k}});
    if (!is_gemv(op)) call.set("m", m);
  };
  // As models have them: a vocabulary, a square, a few sequences at once, a prompt; each just past what is long in all of its sizes.
  if (is_gemv(op) || is_linear(op)) add(1, 100000 + 3 * 32, 2048 + 256);
  if (is_gemv(op) || is_linear(op)) add(1, 1024 + 32, 18944);  // a second pass over the columns
  add(7, 4096, 4096);
  if (!is_gemv(op)) {
    const auto apart = [&] { space.vast.back().set("x_stride", (1024 + 256) / dtype_numbers(x_type(op)) + 1); };
    add(11, 1024 + 32, 1024 + 256);
    add(32, 1024 + 32, 1024 + 256);
    apart();
    add(256, 3, 1024 + 256);
    apart();
    add(256 + 1, 1024 + 32 + 5, 2048 + 256);
    add(2048 + 17, 20, 512);  // a batch of many prompts
    if (unit <= 32) add(1024 + 6, 1024 + 32, 32);
    add(128 - 1, 64 - 1, 1024 + 256);              // one less than a panel and a tile
    add(rows_at_once(op).at() + 3, 256 + 3, 512);  // a second panel and group, rows apart
    apart();
    space.vast.back().set("y_stride", 256 + 16);
  }
  // A second pass over the columns for more rows than are kept at once, and columns past what a stack may hold.
  if (is_linear(op)) add(25, 66, 8192 + 256);
  if (is_linear(op)) add(5, 3, 33024);
  if (is_gemv(op)) add(1, 2880, 2880 / unit * unit);
  if (is_gemv(op) && is_tile(op)) add(1, 1024 + 6, 4096 + 1);
  if (is_tile(op)) return;
  for (const std::int64_t n : {1536, 3072, 5120, 9728, 19456, 40960, 81920 + 5, 151936}) {
    add(1, n, least_columns(op));
  }
}

ShapeSpace shapes(const Op& op) {
  const std::int64_t unit = dtype_numbers(op.from);
  Size k = is_tile(op) ? Size{"k", 1000, is_gemv(op) ? 700 : 300} : Size{"k", 1024, (is_gemv(op) ? 7 : 3) * unit, unit};
  k = used(k, kInputWidths, {{"kBlock", 64}, {"kChunkElements", 1024}, {"kGemvElements", 16384}});
  if (is_linear(op)) k.limit = ASSAY_LINEAR_MOST_COLUMNS;
  const std::vector<Border> columns{{"kGroupTiles", 8, kTileRows}};
  // A gemv's weights cannot lie apart: it reads them all.
  if (is_gemv(op)) {
    ShapeSpace space{{used({"n", 77, 200}, kOutputWidths, columns), k},
                     {},
                     nullptr,
                     {{{"n", (std::int64_t{1} << (is_tile(op) ? 20 : 21)) + 33}, {"k", 4096 + unit}}}};
    if (is_tile(op)) {
      for (const std::int64_t length : {49152, 81920}) space.vast.push_back({{"n", 35}, {"k", length + 37}});
    }
    add_dear_calls(op, space);
    return space;
  }
  const Border panel = rows_at_once(op);
  ShapeSpace space{{used({"m", 5, 40}, {}, {panel}),
                    used({"n", 77, 130}, kOutputWidths, columns),
                    k,
                    {"x_stride", 0, 0, dtype_numbers(x_type(op)), "k"},
                    {"y_stride", 0, 0, 1, "n"}},
                   {},
                   nullptr,
                   {{{"m", 6}, {"n", 35}, {"k", 1024 + 256}, {"x_stride", kVastStride}, {"y_stride", kVastStride + 64}},
                    // The second panel begins past 2^32, of whole tiles too.
                    {{"m", panel.at() + 16},
                     {"n", 35},
                     {"k", 256},
                     {"x_stride", 4 * kVastStride / panel.at() + 1},
                     {"y_stride", 4 * kVastStride / panel.at() + 64}}}};
  // More rows than 16 bits count, by a panel and more.
  if (!is_tile(op)) space.vast.push_back({{"m", kCounters.back() + 300}, {"n", 1}, {"k", least_columns(op)}});
  // A linear keeps the fewer rows the longer they are.
  if (is_linear(op))
    space.vast.push_back({{"m", 20}, {"n", 1}, {"k", 16384}, {"x_stride", kVastStride / 4}, {"y_stride", kVastStride / 4 + 64}});
  add_dear_calls(op, space);
  return space;
}

GeneratedCase bias_case(const Op& op) {
  const std::int64_t k = is_tile(op) ? 256 : 1024;
  const std::uint64_t seed = is_tile(op) ? 21 : 31;
  if (is_gemv(op)) return {{{"n", 2048}, {"k", k}}, {}, seed};
  return {{{"m", 4}, {"n", 1024}, {"k", k}}, {}, is_linear(op) ? 33 : seed + 1};
}

GeneratedCase long_bias_case(const Op& op) {
  GeneratedCase bias = bias_case(op);
  bias.params.set("k", std::int64_t{2304});
  bias.params.set("n", std::int64_t{is_gemv(op) ? 272 : 34});
  if (!is_gemv(op)) bias.params.set("m", std::int64_t{8});
  return bias;
}

std::vector<Params> bench_params(const Op& op) {
  std::vector<Params> all;
  for (const std::int64_t m : is_linear(op) ? std::vector<std::int64_t>{1, 512} : std::vector<std::int64_t>{512}) {
    for (const auto& [n, k] : std::span(kBenchShapes, is_linear(op) || (is_tile(op) && !is_gemv(op)) ? 2 : 3)) {
      all.push_back({{"n", n}, {"k", k}});
      if (!is_gemv(op)) all.back().set("m", m);
    }
  }
  return all;
}

std::map<std::string, std::vector<std::int64_t>> parts(const Op& op, const A& a) {
  if (is_linear(op) || op.to == DType::f32) return {};
  reference::IntegerParts found = reference::integer_parts(op.from, op.to, a);
  std::map<std::string, std::vector<std::int64_t>> named{{"I1", std::move(found.i1)}};
  if (reference::info(plain_dtype(op.from)).has_min) named.emplace("I2", std::move(found.i2));
  return named;
}

constexpr Family kFamily = {
    .name = "product",
    .args = "ProductArgs",
    .header = "kernels/products/products.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .refusal = erased<refusal>,
    .weights = "w",
    .reference = erased<truth>,
    .declarable = declarable,
    .declared = erased<declared>,
    .cost = erased<cost>,
    .shapes = shapes,
    .bias_case = bias_case,
    .long_bias_case = long_bias_case,
    .bench_params = bench_params,
    .parts = erased<parts>,
};

// The type of weights in a layout.
constexpr DType tile(DType weights) {
  return weights;
}
constexpr DType plain(DType weights) {
  return weights;
}
constexpr DType x16(DType weights) {
  return packed_dtype(weights).value();
}

constexpr const reference::Contract* contract_of(ProductForm form, DType weights, DType x) {
  if (form == ProductForm::linear) return &reference::kLinearContract;
  if (x == DType::f32) return is_block(weights) ? &reference::kBlockMatvecContract : &reference::kMatvecContract;
  const reference::FormatInfo& format = reference::info(plain_dtype(weights));
  return &reference::kBlockDotContracts[format.has_min][format.half_scales && reference::info(x).half_scales];
}

constexpr Op row(const OpTable& table, ProductForm form, DType weights, DType x) {
  return {table.op, &kFamily, &table, contract_of(form, weights, x), weights, x, static_cast<int>(form)};
}

constexpr Op kOps[] = {
#define ASSAY_GROUP(group, args, isas)
#define ASSAY_OP(op, form, weights, layout, activations) \
  row(kernel_tables::op, ProductForm::form, layout(DType::weights), DType::activations),
#include "kernels/products/ops.inc"
};

}  // namespace

std::span<const Op> product_ops() {
  return kOps;
}

}  // namespace assay
