#include "reference/rope.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <stdexcept>
#include <utility>

#include "reference/ops/describe.h"

namespace assay {
namespace {

using enum FieldKind;
using Table = RopeTableArgs;
using A = RopeArgs;

constexpr const char* kRecipes[] = {ASSAY_ROPE_RECIPES};                 // AssayRopeRecipe
constexpr const char* kPairings[] = {"split", "adjacent", "sectioned"};  // AssayRopePairing

constexpr Field kTableFields[] = {{"positions", offsetof(Table, positions), tensor},
                                  {"inv_freq", offsetof(Table, inv_freq), tensor},
                                  {"cos", offsetof(Table, cos), tensor},
                                  {"sin", offsetof(Table, sin), tensor},
                                  {"rows", offsetof(Table, rows), size},
                                  {"pairs", offsetof(Table, pairs), size},
                                  {"table_stride", offsetof(Table, table_stride), size, same_as<&Table::pairs>, true},
                                  {"theta", offsetof(Table, theta), real64, constant<0>},
                                  {"recipe", offsetof(Table, recipe), choice, nullptr, false, kRecipes}};

constexpr std::int64_t kPositions = 1 << 24;

std::vector<TensorSizes> table_sizes(const Op&, const Table& a) {
  return {TensorSizes{{a.rows, a.pairs}, {a.table_stride}}};
}

std::vector<TensorSpec> table_outputs(const Op&, const Table& a) {
  const auto table = [&](const char* name) { return strided(output(name, DType::f32, {a.rows, a.pairs}), {a.table_stride, 1}); };
  return {table("cos"), table("sin")};
}

// inv_freq is an input of the recipe `freqs` alone.
Signature table_signature(const Op& op, const Params&, const Table& a) {
  std::vector<TensorSpec> inputs{with_data(input("positions", DType::i32, {a.rows}), {"magnitudes", 1, 0, kPositions})};
  if (a.recipe == ASSAY_ROPE_FREQS) inputs.push_back(with_data(input("inv_freq", DType::f32, {a.pairs}), {"uniform"}));
  return call_of(inputs, table_outputs(op, a), {{"rows", 1, {{"positions", 0}, {"cos", 0}, {"sin", 0}}, {}}});
}

// A call to be refused may have no inv_freq: that it is looked at is told by the fault (RefusalCheck::refusal).
__attribute__((noinline, no_sanitize("null"))) AssayStatus table_refusal(const Op&, const Table& a) {
  if (a.recipe < ASSAY_ROPE_F64 || a.recipe > ASSAY_ROPE_FREQS) return ASSAY_BAD_PARAMETER;
  if (a.recipe != ASSAY_ROPE_FREQS && !(a.theta >= 1 && a.theta <= 0x1p40)) return ASSAY_BAD_PARAMETER;
  for (std::int64_t i = 0; a.recipe == ASSAY_ROPE_FREQS && i < a.pairs; ++i) {
    if (!std::isfinite(a.inv_freq[i])) return ASSAY_NOT_FINITE;
    if (std::fabs(a.inv_freq[i]) > 16) return ASSAY_BAD_PARAMETER;
  }
  const auto refused = [](std::int32_t position) { return position < 0 || position >= kPositions; };
  return std::any_of(a.positions, a.positions + a.rows, refused) ? ASSAY_OUT_OF_RANGE : ASSAY_OK;
}

void table_truth(const Op&, const Table& a, std::span<reference::Expected> out) {
  reference::rope_table(a, out[0], out[1]);
}

Cost table_cost(const Op&, const Params&, const Table& a) {
  const auto rows = static_cast<double>(a.rows);
  return {8 * rows * static_cast<double>(a.pairs) + 4 * rows, 0};
}

ShapeSpace table_shapes(const Op&) {
  return {
      {{"rows", 5, 20}, {"pairs", 64, 70}, {"table_stride", 0, 0, 1, "pairs"}},
      {{"recipe", {std::begin(kRecipes), std::end(kRecipes)}}, {"theta", {1e6, 1e4, 5e6, 5e5, 1.5e5, 2.5e5, 1.0, 2.1, 0x1p40}}},
      nullptr,
      {{{"rows", 6}, {"pairs", 37}, {"table_stride", kVastStride}, {"recipe", std::string("f64")}, {"theta", 1e6}},
       // Every position of a context.
       {{"rows", kCounters.back() + 37}, {"pairs", 32}, {"recipe", std::string("f64")}, {"theta", 1e6}},
       {{"rows", 1100}, {"pairs", 64}, {"recipe", std::string("f64")}, {"theta", 1e6}}}};
}

std::vector<Params> table_bench_params(const Op&) {
  return {{{"rows", 512}, {"pairs", 64}, {"recipe", std::string("f64")}, {"theta", 1e6}}};
}

std::int64_t x_head(const Op&, const Params& params, const A& a) {
  return inner_stride(params, "x_row_stride", a.rows, a.heads, a.head_dim);
}
std::int64_t y_head(const Op&, const Params& params, const A& a) {
  return inner_stride(params, "y_row_stride", a.rows, a.heads, a.head_dim);
}
std::int64_t x_row(const Op&, const Params&, const A& a) {
  return a.heads * a.x_head_stride;
}
std::int64_t y_row(const Op&, const Params&, const A& a) {
  return a.heads * a.y_head_stride;
}
std::int64_t table(const Op&, const Params& params, const A& a) {
  return inner_stride(params, "component_stride", a.components, a.rows, a.rot_dim / 2);
}
std::int64_t component(const Op&, const Params&, const A& a) {
  return a.table_stride == 0 ? a.rot_dim / 2 : a.rows * a.table_stride;
}

constexpr Field kFields[] = {{"x", offsetof(A, x), tensor},
                             {"cos", offsetof(A, cos), tensor},
                             {"sin", offsetof(A, sin), tensor},
                             {"y", offsetof(A, y), tensor},
                             {"rows", offsetof(A, rows), size},
                             {"heads", offsetof(A, heads), size},
                             {"head_dim", offsetof(A, head_dim), size},
                             {"rot_dim", offsetof(A, rot_dim), size, same_as<&A::head_dim>},
                             {"components", offsetof(A, components), size, constant<1>},
                             {"x_head_stride", offsetof(A, x_head_stride), size, erased<x_head>, true},
                             {"y_head_stride", offsetof(A, y_head_stride), size, erased<y_head>, true},
                             {"x_row_stride", offsetof(A, x_row_stride), size, erased<x_row>},
                             {"y_row_stride", offsetof(A, y_row_stride), size, erased<y_row>},
                             {"table_stride", offsetof(A, table_stride), size, erased<table>},
                             {"component_stride", offsetof(A, component_stride), size, erased<component>},
                             {"pairing", offsetof(A, pairing), choice, nullptr, false, kPairings},
                             {"section0", offsetof(A, sections), int32, constant<0>},
                             {"section1", offsetof(A, sections) + 4, int32, constant<0>},
                             {"section2", offsetof(A, sections) + 8, int32, constant<0>},
                             {"section3", offsetof(A, sections) + 12, int32, constant<0>}};

std::vector<TensorSizes> sizes(const Op&, const A& a) {
  const std::vector<std::int64_t> shape{a.rows, a.heads, a.head_dim};
  return {{shape, {a.x_row_stride, a.x_head_stride}},
          {shape, {a.y_row_stride, a.y_head_stride}},
          {{a.components, a.rows, a.rot_dim}, {a.component_stride, a.table_stride}}};
}

std::vector<TensorSpec> outputs(const Op&, const A& a) {
  const TensorSpec y = strided(output("y", DType::f32, {a.rows, a.heads, a.head_dim}), {a.y_row_stride, a.y_head_stride, 1});
  const bool alike = a.x_row_stride == a.y_row_stride && a.x_head_stride == a.y_head_stride;
  return {alike ? in_place(y, {"x"}) : y};
}

Signature signature(const Op& op, const Params&, const A& a) {
  // What a stride of 0 repeats is there once.
  const auto held = [&](std::int64_t count, std::int64_t stride) {
    return stride == 0 && a.rot_dim / 2 > 0 ? std::min<std::int64_t>(count, 1) : count;
  };
  const std::int64_t components = held(a.components, a.component_stride);
  const std::int64_t rows = held(a.rows, a.table_stride);
  check_apart("x", a.head_dim, {{a.rows, a.x_row_stride}, {a.heads, a.x_head_stride}});
  check_apart("y", a.head_dim, {{a.rows, a.y_row_stride}, {a.heads, a.y_head_stride}});
  check_apart("cos", a.rot_dim / 2, {{components, a.component_stride}, {rows, a.table_stride}});
  const auto table = [&](const char* name) {
    return strided(with_data(input(name, DType::f32, {components, rows, a.rot_dim / 2}), {"uniform"}),
                   {a.component_stride, a.table_stride, 1});
  };
  const std::vector<std::pair<const char*, std::int64_t>> strides{
      {"x_row_stride", a.x_row_stride},   {"x_head_stride", a.x_head_stride}, {"y_row_stride", a.y_row_stride},
      {"y_head_stride", a.y_head_stride}, {"table_stride", a.table_stride},   {"component_stride", a.component_stride}};
  return call_of(
      {strided(input("x", DType::f32, {a.rows, a.heads, a.head_dim}), {a.x_row_stride, a.x_head_stride, 1}), table("cos"),
       table("sin")},
      outputs(op, a),
      {{"rows", 1, {{"x", 0}, {"cos", 1}, {"sin", 1}, {"y", 0}}, strides}, {"heads", 1, {{"x", 1}, {"y", 1}}, strides}});
}

// A section that is used has its component, and some section is not empty.
AssayStatus refusal(const Op&, const A& a) {
  if (a.rot_dim % 2 != 0 || a.rot_dim > a.head_dim) return ASSAY_BAD_SHAPE;
  if (a.pairing == ASSAY_ROPE_SPLIT || a.pairing == ASSAY_ROPE_ADJACENT)
    return a.components > 0 || a.rot_dim == 0 ? ASSAY_OK : ASSAY_BAD_PARAMETER;
  if (a.pairing != ASSAY_ROPE_SECTIONED) return ASSAY_BAD_PARAMETER;
  std::int64_t before = 0;
  for (std::size_t c = 0; c < std::size(a.sections); before += a.sections[c++]) {
    const bool used = a.sections[c] > 0 && before < a.rot_dim / 2;
    if (a.sections[c] < 0 || (used && static_cast<std::int64_t>(c) >= a.components)) return ASSAY_BAD_PARAMETER;
  }
  return before > 0 ? ASSAY_OK : ASSAY_BAD_PARAMETER;
}

Cost cost(const Op&, const Params&, const A& a) {
  const auto elements = static_cast<double>(a.rows * a.heads * a.head_dim);
  return {8 * elements + 4 * static_cast<double>(a.rows * a.rot_dim), 3 * elements};
}

// Sections that every head size can have, some of them empty.
ShapeSpace shapes(const Op&) {
  ShapeSpace space{
      {{"rows", 5, 6},
       used({"heads", 3, 5}, {Column::heads}),
       used({"head_dim", 128, 160, 2}, {Column::head_dim}),
       used({"rot_dim", 0, 160, 2, nullptr, true}, {Column::rot_dim}),
       limited({"components", 4, 1, 5}, 5),
       {"x_head_stride", 0, 0, 1, "head_dim"},
       {"y_head_stride", 0, 0, 1, "head_dim"},
       instead_of("x_head_stride", {"x_row_stride", 0, 0, 1, "head_dim"}),
       instead_of("y_head_stride", {"y_row_stride", 0, 0, 1, "head_dim"}),
       broadcast({"table_stride", 0, 0, 2, "head_dim"}),
       broadcast(instead_of("table_stride", {"component_stride", 0, 0, 2, "head_dim"}))},
      {{"pairing", {std::begin(kPairings), std::end(kPairings)}},
       {"section0", {std::int64_t{3}, std::int64_t{0}}},
       {"section1", {std::int64_t{2}, std::int64_t{0}}},
       {"section2", {std::int64_t{2}, std::int64_t{11}}},
       {"section3", {std::int64_t{1}}}},
      [](Params& params) {
        if (params.has("rot_dim")) params.set("rot_dim", std::min(params.integer("rot_dim"), params.integer("head_dim")));
      },
      {{{"rows", 6},
        {"heads", 2},
        {"head_dim", 38},
        {"x_head_stride", kVastStride / 2},
        {"y_head_stride", kVastStride / 2 + 64},
        {"pairing", std::string("split")}},
       {{"rows", 6}, {"heads", 2}, {"head_dim", 38}, {"table_stride", kVastStride / 4}, {"pairing", std::string("adjacent")}},
       // A head as wide as attention takes it.
       {{"rows", 9}, {"heads", 3}, {"head_dim", 512}, {"pairing", std::string("split")}},
       // A prompt of a model; heads of which a part is rotated, and which lie apart in y alone.
       {{"rows", 1100}, {"heads", 8}, {"head_dim", 64}, {"pairing", std::string("adjacent")}},
       {{"rows", 1100}, {"heads", 8}, {"head_dim", 64}, {"pairing", std::string("split")}},
       {{"rows", 3},
        {"heads", 24},
        {"head_dim", 128},
        {"rot_dim", 96},
        {"y_head_stride", 136},
        {"pairing", std::string("split")}}}};
  // Heads of odd lengths have a rest.
  for (std::int64_t r = 1; r < 16; r += 2)
    space.together.push_back({{"rows", 2}, {"heads", 2}, {"head_dim", 32 + r}, {"rot_dim", 32}});
  // Sections that begin behind the last pair, and so need no component.
  for (const auto& [components, pairs] : {std::pair(1, 3), {2, 5}, {3, 7}}) {
    space.together.push_back({{"rows", 2},
                              {"heads", 2},
                              {"head_dim", 16},
                              {"rot_dim", 2 * pairs},
                              {"components", components},
                              {"pairing", std::string("sectioned")},
                              {"section0", 3},
                              {"section1", 2},
                              {"section2", 2},
                              {"section3", 1}});
  }
  // Of each model's heads the part that is rotated, and the rest.
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  for (const Model& model : models()) {
    if (model.rot_dim == 0 || !seen.insert({model.head_dim, model.rot_dim}).second) continue;
    space.together.push_back({{"rows", 3}, {"heads", 2}, {"head_dim", model.head_dim}, {"rot_dim", model.rot_dim}});
    space.together.back().set("pairing", std::string(kPairings[0]));
  }
  return space;
}

GeneratedCase bias_case(const Op&) {
  return {{{"rows", 32}, {"heads", 4}, {"head_dim", 128}, {"pairing", std::string("split")}},
          {{"cos", {"gauss"}}, {"sin", {"gauss"}}},
          62};
}

std::vector<Params> bench_params(const Op&) {
  const std::string split = "split";
  return {{{"rows", 1}, {"heads", 16}, {"head_dim", 128}, {"pairing", split}},
          {{"rows", 512}, {"heads", 16}, {"head_dim", 128}, {"pairing", split}}};
}

// No bias case: cosines near 1 all round up, so that a correct table leans by itself.
constexpr Family kTable = {
    .name = "rope_table",
    .args = "RopeTableArgs",
    .header = "kernels/rope/rope.h",
    .args_bytes = sizeof(Table),
    .fields = kTableFields,
    .sizes = erased<table_sizes>,
    .signature = erased<table_signature>,
    .outputs = erased<table_outputs>,
    .refusal = erased<table_refusal>,
    .reference = erased<table_truth>,
    .cost = erased<table_cost>,
    .shapes = table_shapes,
    .bench_params = table_bench_params,
};
constexpr Family kRope = {
    .name = "rope",
    .args = "RopeArgs",
    .header = "kernels/rope/rope.h",
    .args_bytes = sizeof(A),
    .fields = kFields,
    .sizes = erased<sizes>,
    .signature = erased<signature>,
    .outputs = erased<outputs>,
    .refusal = erased<refusal>,
    .reference = truth_of<reference::rope>,
    .declarable = always<kSums | kResults>,
    .declared = declared_of<reference::declared_rope>,
    .cost = erased<cost>,
    .shapes = shapes,
    .bias_case = bias_case,
    .bench_params = bench_params,
};

constexpr Op kOps[] = {{kernel_tables::rope_table.op, &kTable, &kernel_tables::rope_table, &reference::kRopeTableContract},
                       {kernel_tables::rope.op, &kRope, &kernel_tables::rope, &reference::kRopeContract}};

}  // namespace

std::span<const Op> rope_ops() {
  return kOps;
}

}  // namespace assay
