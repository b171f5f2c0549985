// Kernels that look at what may be refused in some places alone, or refuse what counts nowhere.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "harness/verdict/refusals.h"
#include "harness/verdict/suite.h"
#include "kernels/attention/attention.h"
#include "kernels/codecs/codecs.h"
#include "kernels/formats/blocks.h"
#include "kernels/lookups/lookups.h"
#include "kernels/norms/norms.h"
#include "kernels/packings/packings.h"
#include "kernels/products/products.h"
#include "kernels/rope/rope.h"
#include "tests/spoiled.h"

namespace assay::refused_places_test {
namespace {

std::string refusals_failure_of(const char* op, Kernel kernel) {
  InProcess executor(kernel);
  RefusalCheck check(*find_op(op));
  const CaseResult result = check.check({.name = "planted", .selection = "", .executor = &executor}, Checks::all());
  return result.failure ? result.failure->message : "";
}

// The last span's sizes are not asked.
AssayStatus last_span_unseen(const void* args) noexcept {
  AttentionArgs a = *static_cast<const AttentionArgs*>(args);
  if (a.span_count == 3) --a.span_count;
  return find_op("attn_decode_f16")->kernels().back().run(&a);
}

// Past the sixteenth every second id is not looked at.
AssayStatus every_second_id(const void* args) noexcept {
  EmbedArgs a = *static_cast<const EmbedArgs*>(args);
  std::array<std::int32_t, 64> ids{};
  if (a.rows <= 16 || a.rows > std::ssize(ids)) return find_op("embed_f32")->kernels().back().run(args);
  std::copy_n(a.ids, a.rows, ids.begin());
  for (std::int64_t i = 17; i + 1 < a.rows; i += 2) ids[static_cast<std::size_t>(i)] = 0;
  a.ids = ids.data();
  return find_op("embed_f32")->kernels().back().run(&a);
}

AssayStatus refuses_what_it_does_not_read(const void* args) noexcept {
  const auto& a = *static_cast<const RopeTableArgs*>(args);
  const bool refused = a.recipe != ASSAY_ROPE_FREQS && a.inv_freq != nullptr;
  return refused ? ASSAY_BAD_PARAMETER : kernel_tables::rope_table.kernels.back().run(args);
}
AssayStatus reads_what_is_not_its(const void* args) noexcept {
  const auto& a = *static_cast<const RopeTableArgs*>(args);
  const bool refused = a.recipe != ASSAY_ROPE_FREQS && a.inv_freq != nullptr && a.inv_freq[0] > 16;
  return refused ? ASSAY_BAD_PARAMETER : kernel_tables::rope_table.kernels.back().run(args);
}
AssayStatus refuses_a_short_stride(const void* args) noexcept {
  const auto& a = *static_cast<const ProductArgs*>(args);
  return a.y_stride < a.n ? ASSAY_BAD_SHAPE : find_op("gemv_q8_0_q8_0")->kernels().back().run(args);
}

// A scale that is rounded to the largest f16 is taken.
AssayStatus refuses_before_the_edge(const void* args) noexcept {
  const auto& a = *static_cast<const CodecArgs*>(args);
  const auto* const x = static_cast<const float*>(a.src);
  const bool near = a.rows > 0 && a.k > 0 && x[0] / (63 * 15) > 65504;
  return near ? ASSAY_NOT_FINITE : find_op("encode_q4_k")->kernels().back().run(args);
}
AssayStatus takes_a_little_more(const void* args) noexcept {
  const auto& a = *static_cast<const CodecArgs*>(args);
  const auto* const x = static_cast<const float*>(a.src);
  const AssayStatus status = find_op("encode_q4_k")->kernels().back().run(args);
  return status != ASSAY_OK && x[0] / (63 * 15) < 65530 ? ASSAY_OK : status;
}

// Infinities of both signs are numbers, though their sum is none.
AssayStatus refuses_both_infinities(const void* args) noexcept {
  const auto& a = *static_cast<const ArgmaxArgs*>(args);
  for (std::int64_t i = 0; i + 64 < a.n; ++i) {
    if (std::isnan(a.x[i] + a.x[i + 16]) && std::isnan(a.x[i] + a.x[i + 64])) return ASSAY_NOT_FINITE;
  }
  return find_op("argmax")->kernels().back().run(args);
}

TEST(RefusedPlaces, WhatIsTakenAtTheEdge) {
  const std::vector<TestCase> cases = refused_value_cases(*find_op("encode_q4_k"));
  expect_seen(failure_of("encode_q4_k", refuses_before_the_edge, cases), "returned not_finite; expected ok");
  expect_seen(failure_of("encode_q4_k", takes_a_little_more, cases), "returned ok; expected not_finite");
  expect_seen(failure_of("argmax", refuses_both_infinities, pattern_cases(*find_op("argmax"))),
              "returned not_finite; expected ok");
}

// Rows that a kernel is tempted to copy, and those that it loses where it flushes denormals.
bool is_turned_by_nothing(const RopeArgs& a) {
  return a.rows > 0 && a.heads > 0 && a.rot_dim >= 16 && a.cos[0] == 1 && a.cos[7] == 1 && a.sin[0] == 0 && a.sin[7] == 0 &&
         std::isinf(a.x[3]);
}
bool is_denormal_in_long_rows(const SoftmaxArgs& a) {
  return a.n > 1024 && a.rows > 1 && std::fpclassify(a.x[0]) == FP_SUBNORMAL && std::fpclassify(a.x[a.n - 1]) == FP_SUBNORMAL;
}

TEST(RefusedPlaces, RowsThatAreSpecialAllOver) {
  expect_seen(failure_of("rope", spoiled<RopeArgs, is_turned_by_nothing>, pattern_cases(*find_op("rope"))), "y[0");
  expect_seen(failure_of("softmax", spoiled<SoftmaxArgs, is_denormal_in_long_rows>, pattern_cases(*find_op("softmax"))), "y[0");
}

TEST(RefusedPlaces, EveryStructOfAnArrayIsAsked) {
  expect_seen(refusals_failure_of("attn_decode_f16", last_span_unseen),
              "the third span's first = -1: touched k; expected bad_shape before anything is touched");
}

TEST(RefusedPlaces, EveryPlaceOfAnInputIsAsked) {
  expect_seen(failure_of("embed_f32", every_second_id, refused_value_cases(*find_op("embed_f32"))), "expected out_of_range");
}

// Rows of blocks lie without gaps.
AssayStatus takes_the_stride_of_tiles(const void* args) noexcept {
  PackArgs a = *static_cast<const PackArgs*>(args);
  const std::int64_t blocks = a.k / 32;
  if (a.n > 1 && a.src_stride > blocks) a.src = static_cast<const BlockQ8_0*>(a.src) + (a.src_stride - blocks);
  return find_op("pack_q8_0_x16")->kernels().back().run(&a);
}

// Takes one row, whose strides it is to ignore.
AssayStatus takes_no_stride(const void* args) noexcept {
  const auto& a = *static_cast<const CodecArgs*>(args);
  return a.src_stride > a.k ? ASSAY_BAD_SHAPE : find_op("encode_q8_0")->kernels().back().run(args);
}

// Sections behind the last pair are not used.
AssayStatus needs_every_section(const void* args) noexcept {
  const auto& a = *static_cast<const RopeArgs*>(args);
  for (std::int64_t c = a.components; a.pairing == ASSAY_ROPE_SECTIONED && c < 4; ++c) {
    if (a.sections[c] > 0) return ASSAY_BAD_PARAMETER;
  }
  return find_op("rope")->kernels().back().run(args);
}

TEST(RefusedPlaces, WhatCountsNowhereIsTaken) {
  expect_seen(failure_of("rope", needs_every_section, covering_cases("rope")), "returned bad_parameter; expected ok");
  expect_seen(refusals_failure_of("pack_q8_0_x16", takes_the_stride_of_tiles), "src_stride = 1048576: ");
  expect_seen(refusals_failure_of("encode_q8_0", takes_no_stride), "src_stride = 1048576: returned bad_shape; expected ok");
  expect_seen(refusals_failure_of("gemv_q8_0_q8_0", refuses_a_short_stride), "y_stride = 0: returned bad_shape; expected ok");
  expect_seen(refusals_failure_of("rope_table", refuses_what_it_does_not_read),
              "inv_freq = 64: returned bad_parameter; expected ok");
  expect_seen(refusals_failure_of("rope_table", reads_what_is_not_its), "inv_freq = 64: ");
}

}  // namespace
}  // namespace assay::refused_places_test
