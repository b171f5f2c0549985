#include "reference/ops/attention_cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "reference/ops/describe.h"

namespace assay {
namespace {

constexpr std::int64_t kVastKeys = 20;

// A view that begins late is seen through a window; without causality there is none.
void mend(Params& params) {
  if (params.integer_or("turned", 0) != 0) {
    params.set("n_kv", ParamValue{std::int64_t{ASSAY_KV_BLOCK}});
    params.set("span_positions", ParamValue{std::int64_t{ASSAY_KV_BLOCK}});
    params.set("length", std::max<std::int64_t>(params.integer("length"), 2 * ASSAY_KV_BLOCK + 1));
    params.set("only_seen", std::int64_t{0});
    params.set("uneven", std::int64_t{0});
  }
  if (params.integer_or("only_seen", 0) != 0) params.set("span_positions", std::int64_t{0});
  if (params.integer_or("span_positions", 0) == 0) params.set("uneven", std::int64_t{0});
  if (params.integer("causal") == 0) return params.set("window", std::int64_t{0});
  if (params.integer("first_position") == 0) return;
  const std::int64_t seen = std::max<std::int64_t>(1, params.integer("length") - params.integer_or("rows", 1) + 1);
  params.set("position", params.integer("first_position") + seen - 1);
  params.set("window", std::clamp<std::int64_t>(params.integer_or("window", seen), 1, seen));
}

// The heads, dimensions and windows of each model together, behind a window and a part of a block.
void add_models(const Op& op, ShapeSpace& space) {
  std::set<std::array<std::int64_t, 3>> seen;
  std::set<std::int64_t> alone;  // in no group
  for (const Model& model : models()) {
    const std::int64_t group = model[Column::group];
    if (is_prefill(op) && model.window > 1024) continue;  // its rows cost as sixteen
    if (!seen.insert({group, model.head_dim, model.window}).second) continue;
    Params& call = space.together.emplace_back(Params{{"group", group}, {"head_dim", model.head_dim}, {"causal", 1}});
    call.set("n_kv", std::int64_t{model.window > 1024 ? 1 : 2});
    call.set("length", model.window + 37);
    if (model.window > 0) call.set("window", model.window);
    if (is_prefill(op)) call.set("rows", std::int64_t{2});
    if (!alone.insert(model.head_dim).second) continue;
    space.together.push_back({{"n_kv", 3}, {"group", 1}, {"head_dim", model.head_dim}, {"causal", 1}, {"length", 37}});
  }
}

// Each way to see a view with each other: through windows, from past its end, from where it begins late, in spans, whole blocks or not.
struct View {
  std::int64_t first, length, behind;  // the last row's position is so far behind the last key's
};
constexpr View kWhole[] = {{0, 96, 0}, {0, 101, 0}, {48, 96, 0}, {48, 101, 0}};  // without causality
constexpr View kCausal[] = {{0, 333, 0}, {0, 333, 9}, {48, 336, 0}, {1008, 336, 0}};
constexpr std::int64_t kWraps = std::int64_t{1} << 32;
constexpr View kSeenFromFar = {0, 333, kWraps - 200};  // in 32 bits from its midst

void add_views(const Op& op, ShapeSpace& space) {
  const std::int64_t rows = is_prefill(op) ? 17 : 1;
  const auto add = [&](const View& view, std::int64_t span, std::int64_t causal, std::int64_t window, std::int64_t slot = 0) {
    Params& call = space.together.emplace_back(Params{{"n_kv", 2}, {"group", 3}, {"head_dim", 12}, {"causal", causal}});
    call.set("length", view.length);
    call.set("first_position", view.first);
    call.set("position", view.first + view.length - rows + view.behind);
    call.set("span_positions", span);
    call.set("window", window);
    call.set("first_slot", slot);
    if (is_prefill(op)) call.set("rows", rows);
  };
  add(kSeenFromFar, 0, 1, 0);
  add({0, 0, 40}, 0, 1, 7);  // behind what was evicted there is nothing
  add({0, 600, 0}, 0, 1, 520);
  // As many queries as are taken at once, of heads that are no whole vectors.
  if (is_prefill(op)) {
    add({0, 130, 0}, 0, 1, 0);
    for (const auto& [name, value] : {std::pair("head_dim", 65), {"rows", 61}, {"n_kv", 1}, {"group", 2}, {"position", 69}})
      space.together.back().set(name, std::int64_t{value});
  }
  // Spans that lie across, between one that does not and a last one that is short.
  for (const std::int64_t causal : {0, 1}) {
    for (const std::int64_t length : {40, 101}) {
      add({0, length, 0}, ASSAY_KV_BLOCK, causal, 0);
      space.together.back().set("n_kv", std::int64_t{ASSAY_KV_BLOCK});
      space.together.back().set("turned", std::int64_t{1});
    }
  }
  // Spans of other lengths, the first a long or a short one, whose values lie in another order than their keys.
  for (const std::int64_t uneven : {1, 2}) {
    for (const std::int64_t window : {0, 7, 290}) {
      add(kCausal[0], 3 * ASSAY_KV_BLOCK, 1, window, 1);
      space.together.back().set("uneven", uneven);
      space.together.back().set("v_slot_shift", std::int64_t{2});
    }
  }
  add(kCausal[0], 0, 1, kWraps + 7);                                                 // in 32 bits a window of 7
  for (const std::int64_t window : {0, 7, 290}) add(kCausal[0], 256, 1, window, 1);  // two spans, the second before the first
  for (const std::int64_t span : {0, 16, 48}) {
    for (const View& view : kWhole) add(view, span, 0, 0);
    for (const std::int64_t window : {0, 7, 290}) {
      for (const View& view : kCausal) {
        if (window > 0 || view.first == 0) add(view, span, 1, window);  // what lies before the view must not be seen
      }
    }
  }
}

void add_vast(const Op& op, ShapeSpace& space) {
  space.vast = {{{"n_kv", 2},
                 {"group", 3},
                 {"head_dim", 64},
                 {"length", 40},
                 {"causal", 1},
                 {"scale", 0.125},
                 {"span_positions", 16},
                 {"k_row_stride", kVastStride / 32},
                 {"v_row_stride", kVastStride / 32 + 64}},
                // Heads as far apart as they may be.
                {{"n_kv", 3},
                 {"group", 3},
                 {"head_dim", 40},
                 {"length", kVastKeys},
                 {"causal", 1},
                 {"scale", 0.125},
                 {"k_row_stride", kVastStride / kVastKeys},
                 {"v_row_stride", kVastStride / kVastKeys - 64},
                 {"k_slot_stride", kVastStride},
                 {"v_slot_stride", kVastStride},
                 {"k_head_stride", kMostNumber},
                 {"v_head_stride", kMostNumber - 48}},
                // A position's heads beside each other, and positions far apart.
                {{"n_kv", 3},
                 {"group", 3},
                 {"head_dim", 40},
                 {"length", 28},
                 {"causal", 1},
                 {"scale", 0.125},
                 {"k_row_stride", kMostNumber / 8 + 144},
                 {"v_row_stride", kMostNumber / 8 + 160},
                 {"k_slot_stride", kMostNumber},  // of the one slot
                 {"v_slot_stride", kMostNumber},
                 {"k_head_stride", 48},
                 {"v_head_stride", 40}}};
  const std::size_t far = space.vast.size();
  // A long context, many pages behind a window, wide heads.
  if (is_prefill(op)) {
    space.vast.push_back(
        {{"rows", 69}, {"n_kv", 1}, {"group", 3}, {"head_dim", 64}, {"length", 1069}, {"causal", 1}, {"window", 600}});
    // A prompt behind a context in pages, its queries in rows of a fused projection; and one whose rows see each other.
    space.vast.push_back({{"rows", 261}, {"n_kv", 2}, {"group", 4}, {"head_dim", 128}, {"length", 1361}, {"causal", 1}});
    space.vast.back().set("span_positions", 128);
    space.vast.back().set("q_row_stride", std::int64_t{2 * 8 * 128});
    space.vast.back().set("q_head_stride", 128);
    space.vast.push_back({{"rows", 261}, {"n_kv", 2}, {"group", 1}, {"head_dim", 64}, {"length", 300}, {"causal", 0}});
    // Prompts of thousands, in groups by which a row's number is divided.
    for (const std::int64_t group : {5, 6, 7}) {
      space.vast.push_back({{"rows", 4133}, {"n_kv", 1}, {"group", group}, {"head_dim", 16}, {"length", 4133}, {"causal", 1}});
      space.vast.back().set("window", std::int64_t{16});
    }
  } else {
    space.vast.push_back({{"n_kv", 2}, {"group", 2}, {"head_dim", 64}, {"length", 32768 + 40}, {"causal", 1}});
    space.vast.push_back({{"n_kv", 8}, {"group", 5}, {"head_dim", 128}, {"length", 8192 + 40}, {"causal", 1}});
    space.vast.push_back({{"n_kv", 1}, {"group", 2}, {"head_dim", 264}, {"length", 16 * 600}, {"causal", 1}, {"window", 300}});
    space.vast.back().set("span_positions", std::int64_t{ASSAY_KV_BLOCK});
  }
  for (std::size_t i = far; i < space.vast.size(); ++i) space.vast[i].set("scale", 0.125);
  // Of queries heads are as far apart as they may be, or rows, each with the others between them.
  for (std::size_t i = 0; i < far; ++i) {
    const bool heads = !is_prefill(op) || i == 1;
    space.vast[i].set(heads ? "q_head_stride" : "q_row_stride", kMostNumber);
    space.vast[i].set(heads ? "y_head_stride" : "y_row_stride", kMostNumber - 64);
    if (!is_prefill(op)) continue;
    space.vast[i].set("rows", 4);
    if (heads) space.vast[i].set("q_row_stride", 48);
    if (heads) space.vast[i].set("y_row_stride", 64);
  }
}

}  // namespace

// Views from 0, from a block and from a span on; windows of less and more than a block; pages out of order.
ShapeSpace attention_shapes(const Op& op) {
  const auto numbers = [](std::initializer_list<std::int64_t> values) {
    return std::vector<ParamValue>(values.begin(), values.end());
  };
  Size keys =
      used({"length", 100, 300}, {Column::positions}, {{"kKeySpan", 1024}, {"", kCounters.back() / 2}, {"", kCounters.back()}});
  keys.cheap = 2;  // the weight of one key is 1, whatever it holds
  ShapeSpace space{{used({"n_kv", 2, 3}, {Column::kv_heads}),
                    used({"group", 2, 8}, {Column::group}, {{"kHeadsAtOnce", 16}}),
                    limited(used({"head_dim", 128, 160}, {Column::head_dim}, {{"kChunkDims", 512}}), kMostAttentionHeadDim),
                    keys,
                    used({"window", 0, 60, 1, nullptr, true}, {Column::window}),
                    used({"position", 0, 400, 1, nullptr, true}, {Column::positions}),
                    {"k_row_stride", 0, 0, 1, "head_dim"},
                    {"v_row_stride", 0, 0, 1, "head_dim"},
                    {"q_head_stride", 0, 0, 1, "head_dim"},
                    {"y_head_stride", 0, 0, 1, "head_dim"},
                    instead_of("k_row_stride", {"k_head_stride", 0, 0, 1, "head_dim"}),
                    instead_of("v_row_stride", {"v_head_stride", 0, 0, 1, "head_dim"})},
                   {{"causal", numbers({1, 1, 1, 1, 1, 0})},
                    {"scale", {0.0883883461356163, 0.5, -0.25, 0.0, 2.0}},
                    {"first_position", numbers({0, 0, 0, 0, 0, 48, 1008, 65488, 131008, 1 << 24, kWraps / 2 - 48, kWraps + 48})},
                    {"span_positions", numbers({0, 16, 48, 256})},
                    {"first_slot", numbers({0, 1})},
                    {"slot_step", numbers({1, 10007})},
                    {"v_slot_shift", numbers({0, 1})},
                    {"uneven", numbers({0, 0, 1, 2})},
                    {"only_seen", numbers({0, 0, 0, 1})},
                    {"turned", numbers({0, 0, 0, 0, 0, 0, 0, 1})}}};
  if (is_prefill(op)) {
    space.sizes.insert(space.sizes.begin(), used({"rows", 4, 20}, {}, {{"kMaxVectors", 8, 16}}));
    space.sizes.push_back(instead_of("q_head_stride", {"q_row_stride", 0, 0, 1, "head_dim"}));
    space.sizes.push_back(instead_of("y_head_stride", {"y_row_stride", 0, 0, 1, "head_dim"}));
  }
  space.mend = mend;
  add_models(op, space);
  add_views(op, space);
  add_vast(op, space);
  // Scores so far apart that most weights underflow.
  space.exceptional = {{{"n_kv", 2}, {"group", 3}, {"head_dim", 12}, {"length", 40}, {"causal", 1}, {"scale", 32.0}}};
  if (is_prefill(op)) space.exceptional.front().set("rows", std::int64_t{5});
  space.three = {{"length", 41}, {"span_positions", 16}};
  return space;
}

// A scale of full precision: one of few digits would make the scores' errors alike.
GeneratedCase attention_bias_case(const Op& op) {
  GeneratedCase bias{{{"n_kv", 64}, {"group", 8}, {"head_dim", 80}, {"length", 100}, {"causal", 1}, {"window", 0}}, {}, 71};
  bias.params.set("scale", 0.11180339753627777);
  if (is_prefill(op)) {
    bias.params.set("n_kv", 16);
    bias.params.set("rows", 6);
  }
  return bias;
}

GeneratedCase attention_long_bias_case(const Op& op) {
  GeneratedCase bias = attention_bias_case(op);
  bias.params.set("n_kv", std::int64_t{4});
  bias.params.set("group", std::int64_t{is_prefill(op) ? 11 : 66});
  bias.params.set("head_dim", std::int64_t{16});
  bias.params.set("length", std::int64_t{2100});
  return bias;
}

std::vector<Params> attention_bench_params(const Op& op) {
  Params base{{"n_kv", 8}, {"group", 2}, {"head_dim", 128}, {"causal", 1}, {"window", 0}, {"scale", 0.0883883461356163}};
  if (is_prefill(op)) base.set("rows", 512);
  std::vector<Params> all;
  for (const std::int64_t length :
       is_prefill(op) ? std::vector<std::int64_t>{512, 4608} : std::vector<std::int64_t>{4096, 32768}) {
    all.push_back(base);
    all.back().set("length", length);
  }
  return all;
}

}  // namespace assay
