// Kernels that go wrong only where data coincide, as a draw hardly ever does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "golden/sha256.h"
#include "harness/verdict/coincidences.h"
#include "harness/verdict/vast.h"
#include "kernels/activations/activations.h"
#include "kernels/attention/attention.h"
#include "kernels/codecs/codecs.h"
#include "kernels/isa.h"
#include "kernels/kv/kv.h"
#include "kernels/lookups/lookups.h"
#include "kernels/norms/norms.h"
#include "kernels/products/products.h"
#include "tests/spoiled.h"

namespace assay::coincidences_test {
namespace {

std::string seen_by(const char* op, Kernel kernel) {
  return failure_of(op, kernel, coincidence_cases(*find_op(op)));
}

bool ends_as_it_begins(const RmsNormArgs& a) {
  return a.rows > 0 && a.n > 16 && a.x[0] == a.x[a.n - 1];
}
bool cancels(const AddArgs& a) {
  const std::int64_t half = a.n / 2;
  for (std::int64_t i = 0; i < half; ++i) {
    if (a.a[half + i] != -a.a[i]) return false;
  }
  return a.n > 1 && a.a[0] != 0;
}
bool ascends(const SoftmaxArgs& a) {
  return a.rows > 0 && a.n > 16 && std::is_sorted(a.x, a.x + a.n) && a.x[0] < a.x[a.n - 1];
}
bool counts_up(const EmbedArgs& a) {
  return a.rows > 2 && a.ids[1] == a.ids[0] + 1 && a.ids[2] == a.ids[0] + 2;
}
bool has_row_again(const ProductArgs& a) {
  const auto* const x = static_cast<const float*>(a.x);
  for (std::int64_t j = 1; j < a.m; ++j) {
    if (a.k > 1 && std::memcmp(x + j * a.x_stride, x + (j - 1) * a.x_stride, sizeof(float) * static_cast<std::size_t>(a.k)) == 0)
      return true;
  }
  return false;
}
bool has_block_without_scale(const ProductArgs& a) {
  const auto* const w = static_cast<const BlockQ8_0*>(a.w);
  return a.m > 0 && std::any_of(w, w + a.n * a.k / ASSAY_QK, [](const BlockQ8_0& b) { return b.d == 0 && b.qs[0] != 0; });
}
AssayStatus last_is_not_found(const void* args) noexcept {
  const auto& a = *static_cast<const ArgmaxArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && a.n > 4096 && a.index[0] == a.n - 1) a.index[0] = 0;
  return status;
}
AssayStatus one_number_is_none(const void* args) noexcept {
  const auto& a = *static_cast<const CodecArgs*>(args);
  const AssayStatus status = right_kernel(args);
  const auto* const x = static_cast<const float*>(a.src);
  for (std::int64_t b = 0; status == ASSAY_OK && b < a.k / ASSAY_QK; ++b) {
    if (std::count(x + b * ASSAY_QK, x + (b + 1) * ASSAY_QK, 0.0F) == ASSAY_QK - 1) static_cast<BlockQ4_0*>(a.dst)[b].d ^= 1;
  }
  return status;
}

// The order in which a compiler evaluates arguments is no part of a seed.
TEST(Coincidences, AreTheSameBytesWithEveryCompiler) {
  std::vector<std::uint8_t> bytes;
  for (const char* op : {"add", "embed_f32", "gemm_f16", "gemm_q8_0_f32"}) {
    for (const TestCase& test : coincidence_cases(*find_op(op))) {
      for (const Array& input : test.inputs) bytes.insert(bytes.end(), input.bytes.begin(), input.bytes.end());
    }
  }
  EXPECT_EQ(sha256(bytes).substr(0, 16), "4318246cf87ed364");
}

TEST(Coincidences, RowsNumbersAndBlocksHaveThem) {
  EXPECT_NE(seen_by("rms_norm", spoiled<RmsNormArgs, ends_as_it_begins>), "");
  EXPECT_NE(seen_by("add", spoiled<AddArgs, cancels>), "");
  EXPECT_NE(seen_by("softmax", spoiled<SoftmaxArgs, ascends>), "");
  EXPECT_NE(seen_by("embed_f32", spoiled<EmbedArgs, counts_up>), "");
  EXPECT_NE(seen_by("gemm_f32", spoiled<ProductArgs, has_row_again>), "");
  EXPECT_NE(seen_by("gemm_q8_0_f32", spoiled<ProductArgs, has_block_without_scale>), "");
  EXPECT_NE(seen_by("argmax", last_is_not_found), "");
  EXPECT_NE(seen_by("encode_q4_0", one_number_is_none), "");
}

TEST(Coincidences, OfEveryInputAllAreTried) {
  for (const Op* op : ops()) {
    const std::vector<TestCase> cases = coincidence_cases(*op);
    EXPECT_FALSE(cases.empty()) << op->name;
    EXPECT_TRUE(std::ranges::any_of(cases, [](const TestCase& test) { return test.status == ASSAY_OK; })) << op->name;
  }
}

TEST(Coincidences, ARandomCaseOfThemIsRepeatedByItsName) {
  const Op& op = *find_op("softmax");
  const GeneratedRequest request{{{"rows", 3}, {"n", 40}}, std::string(kCoincidences), 7};
  const TestCase one = generated_test_case(op, request);
  EXPECT_EQ(one.inputs[0].bytes, generated_test_case(op, request).inputs[0].bytes);
  EXPECT_NE(one.inputs[0].bytes, generated_test_case(op, {request.shape, "gauss", 7}).inputs[0].bytes);
}

// A drawn case, which is tried in one placement beside its first, is tried in place as well.
TEST(Coincidences, DrawnCasesAreTriedInPlace) {
  const auto in_place = [](const AddArgs& a) { return a.n > 0 && (a.y == a.a || a.y == a.b); };
  for (TestCase& test : coincidence_cases(*find_op("add")))
    expect_seen(failure_of("add", spoiled<AddArgs, in_place>, {std::move(test)}), "in place of");
}

AssayStatus reads_a_span_too_many(const void* args) noexcept {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  if (a.span_count > 0) static_cast<void>(*const_cast<const volatile std::int64_t*>(&a.spans[a.span_count].first));
  return right_kernel(args);
}
AssayStatus writes_a_span(const void* args) noexcept {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  auto* const first = const_cast<volatile std::int64_t*>(&a.spans[0].first);
  if (a.span_count > 0) *first = *first;
  return right_kernel(args);
}

TEST(Coincidences, SpansAreReadOnlyAndEndAtAGuardPage) {
  const auto one =
      made("attn_decode_f32", {{"n_kv", 2}, {"group", 2}, {"head_dim", 8}, {"length", 40}, {"causal", 1}, {"scale", 0.25}});
  for (Kernel kernel : {reads_a_span_too_many, writes_a_span})
    expect_seen(failure_of("attn_decode_f32", kernel, one), "an array that its arguments point to");
}

AssayStatus wrong_of_64(const void* args) noexcept {
  const auto& a = *static_cast<const ProductArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status == ASSAY_OK && a.m == 64 && a.n >= 512 && a.k >= 512) a.y[0] += 1;
  return status;
}

TEST(Coincidences, LongProductsAreCutIntoPartsOfEverySize) {
  const Op& op = *find_op("gemm_q8_0_q8_0");
  const auto avx2 = std::ranges::find(op.kernels(), std::string_view("gemm_q8_0_q8_0_avx2"), &AnyKernel::name);
  right_kernel = avx2 != op.kernels().end() && isa_supported(avx2->isa) ? avx2->run : op.kernels().back().run;
  std::set<std::string> failures;
  RepeatedInputs inputs(1);
  for (const Params& params : vast_params(op, kRandomWork)) {
    if (params.integer_or("m", 1) < 128 || params.integer("n") < 1000) continue;
    const CaseResult result = VastCheck(op, params, inputs).check({"wrong", Isa::scalar, wrong_of_64}, Checks::all());
    if (result.failure) failures.insert(result.failure->message);
  }
  ASSERT_FALSE(failures.empty());
  expect_seen(*failures.begin(), "parts that grow from 1");
}

// A kernel that keeps its result by where its input lies and the numbers at both ends.
AssayStatus remembers_by_the_ends(const void* args) noexcept {
  static const float* where;
  static float first, end, kept;
  const auto& a = *static_cast<const AddArgs*>(args);
  const AssayStatus status = right_kernel(args);
  if (status != ASSAY_OK || a.n <= 2) return status;
  if (where == a.a && first == a.a[0] && end == a.a[a.n - 1]) a.y[a.n / 2] = kept;
  where = a.a;
  first = a.a[0];
  end = a.a[a.n - 1];
  kept = a.y[a.n / 2];
  return status;
}

TEST(Coincidences, DataThatBeginAndEndAlikeLayThereBefore) {
  expect_seen(failure_of("add", remembers_by_the_ends, made("add", {{"n", 40}})), "where other data lay before");
}

// A kernel that keeps its result while its input lies where it lay and is the same in some places.
AssayStatus remembers_by_samples(const void* args) noexcept {
  static const float* where;
  static float seen[5], kept[64];
  const auto& a = *static_cast<const AddArgs*>(args);
  if (a.n < 5 || a.n > 64) return right_kernel(args);
  bool same = std::exchange(where, a.a) == a.a;
  for (std::int64_t i = 0; i < 5; ++i) {
    const float now = a.a[(a.n - 1) * i / 4];
    same = std::exchange(seen[i], now) == now && same;
  }
  if (same) std::copy_n(kept, a.n, a.y);
  const AssayStatus status = same ? ASSAY_OK : right_kernel(args);
  std::copy_n(a.y, a.n, kept);
  return status;
}

TEST(Coincidences, OneElementWasAnotherBefore) {
  expect_seen(failure_of("add", remembers_by_samples, made("add", {{"n", 48}})), "but for one element");
}

// A row that begins as what lies there is not copied again.
AssayStatus copies_what_is_new(const void* args) noexcept {
  KvCopyArgs a = *static_cast<const KvCopyArgs*>(args);
  const std::int64_t positions = std::exchange(a.positions, 1);
  AssayStatus status = a.n_kv == 1 ? ASSAY_OK : right_kernel(args);
  for (std::int64_t p = 0; a.n_kv == 1 && status == ASSAY_OK && p < positions; ++p) {
    const auto* const src = static_cast<const float*>(a.src);
    const auto* const dst = static_cast<const float*>(a.dst);
    if (a.head_dim <= 16 || std::memcmp(src, dst, 16 * sizeof(float)) != 0) status = right_kernel(&a);
    a.src = src + a.src_row_stride;
    a.dst = static_cast<float*>(a.dst) + a.dst_row_stride;
  }
  return status;
}

TEST(Coincidences, OutputsHoldWhatTheCallBeforeWrote) {
  const Params rows{{"n_kv", 1}, {"positions", 3}, {"head_dim", 40}, {"src_row_stride", 40}, {"dst_row_stride", 40}};
  expect_seen(failure_of("kv_copy_f32", copies_what_is_new, made("kv_copy_f32", rows)), "lay before");
}

AssayStatus copies_gaps(const void* args) noexcept {
  const auto& a = *static_cast<const KvCopyArgs*>(args);
  const AssayStatus status = right_kernel(args);
  const auto bytes = static_cast<std::size_t>((a.positions - 1) * a.src_row_stride + a.head_dim) * sizeof(float);
  if (status == ASSAY_OK && a.n_kv == 1 && a.src_row_stride == a.dst_row_stride) std::memcpy(a.dst, a.src, bytes);
  return status;
}

TEST(Coincidences, NoGapIsAnothersCopy) {
  const Params alike{{"n_kv", 1}, {"positions", 3}, {"head_dim", 12}, {"src_row_stride", 20}, {"dst_row_stride", 20}};
  expect_seen(failure_of("kv_copy_f32", copies_gaps, made("kv_copy_f32", alike)), "wrote");
}

// Eps as it was when rows were last as long.
AssayStatus keeps_eps(const void* args) noexcept {
  static std::int64_t n;
  static float eps;
  RmsNormArgs a = *static_cast<const RmsNormArgs*>(args);
  if (std::exchange(n, a.n) != a.n) eps = a.eps;
  a.eps = eps;
  return right_kernel(&a);
}

TEST(Coincidences, SizesComeAgainWithOtherParameters) {
  EXPECT_NE(failure_of("rms_norm", keeps_eps, pattern_cases(*find_op("rms_norm"))), "");
}

}  // namespace
}  // namespace assay::coincidences_test
