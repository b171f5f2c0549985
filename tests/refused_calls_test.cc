// Sizes that no call may have: what is asked of every op, and wrong kernels that take them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "harness/verdict/refusals.h"
#include "harness/verdict/suite.h"
#include "kernels/products/products.h"

namespace assay::refused_calls_test {
namespace {

bool asks(const RefusalCheck& check, const std::string& name, bool in_array, std::int64_t value) {
  return std::ranges::any_of(check.calls(), [&](const ChangedCall& call) {
    const FieldValue& first = call.instead[0];
    return call.instead.size() == 1 && first.value == decltype(first.value)(value) && first.element.has_value() == in_array &&
           first.field->name == name;
  });
}

bool is_int64(const Field& field) {
  using enum FieldKind;
  return field.kind == size || field.kind == number || field.kind == any || field.kind == length;
}

TEST(RefusedCalls, NoNumberOfAnyOpIsLeftOut) {
  for (const Op* op : ops()) {
    const RefusalCheck check(*op);
    std::size_t numbers = 0;
    for (const Field& field : op->family->fields) {
      if (!is_int64(field)) continue;
      ++numbers;
      EXPECT_TRUE(asks(check, field.name, false, -1)) << op->name << ": " << field.name;
      EXPECT_TRUE(asks(check, field.name, false, INT64_MIN)) << op->name << ": " << field.name;
    }
    for (const Field& field : op->family->array_fields)
      EXPECT_EQ(asks(check, field.name, true, -1), is_int64(field)) << op->name << ": " << field.name;
    EXPECT_GT(numbers, 0U) << op->name;
    const bool products = std::ranges::any_of(check.calls(), [](const ChangedCall& call) { return call.instead.size() == 2; });
    EXPECT_EQ(products, numbers > 1) << op->name;
  }
}

TEST(RefusedCalls, EveryKernelRefusesThem) {
  for (const Op* op : ops()) {
    RefusalCheck check(*op);
    for (const AnyKernel& kernel : op->kernels()) {
      if (!isa_supported(kernel.isa)) continue;
      InProcess executor(kernel.run);
      const CaseResult result = check.check({.name = kernel.name, .selection = "", .executor = &executor}, Checks::all());
      EXPECT_EQ(result.verdict, Verdict::pass) << kernel.name << ": " << (result.failure ? result.failure->message : "");
      EXPECT_EQ(result.placements, std::ssize(check.calls())) << kernel.name;
    }
  }
}

using Run = AssayStatus (*)(const void*);

Failure failure_of(const char* op, Run run, const Checks& checks = Checks::all()) {
  InProcess executor(run);
  RefusalCheck check(require_op(op));
  const CaseResult result = check.check({.name = "planted", .selection = "--isa scalar", .executor = &executor}, checks);
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.repro.substr(0, result.repro.find(" --checks")),
            std::string("assay check ") + op + " --isa scalar --case refusals");
  return result.failure.value_or(Failure{Check::ledger, ""});
}

void expect_failure(const char* op, Run run, Check check, const std::string& message) {
  const Failure failure = failure_of(op, run);
  EXPECT_EQ(check_name(failure.check), check_name(check)) << failure.message;
  EXPECT_EQ(failure.message, message);
}

const RmsNormArgs& norm(const void* args) {
  return *static_cast<const RmsNormArgs*>(args);
}

AssayStatus takes_what_is_below_zero(const void* args) {
  return norm(args).n < 0 ? ASSAY_OK : kernel_tables::rms_norm.kernels.back().run(args);
}
AssayStatus other_status(const void* args) {
  const AssayStatus status = kernel_tables::rms_norm.kernels.back().run(args);
  return status == ASSAY_OK ? status : ASSAY_OUT_OF_RANGE;
}
AssayStatus wraps(const void* args) {
  const RmsNormArgs& a = norm(args);
  const auto end = static_cast<std::int64_t>(static_cast<std::uint64_t>(a.rows) * static_cast<std::uint64_t>(a.x_stride));
  const bool taken = a.rows == std::int64_t{1} << 32 && a.x_stride == a.rows && end == 0;
  return taken ? ASSAY_OK : kernel_tables::rms_norm.kernels.back().run(args);
}
AssayStatus reads_first(const void* args) {
  const volatile float* x = norm(args).x;
  return x[0] > 0 ? ASSAY_BAD_SHAPE : ASSAY_BAD_PARAMETER;
}
AssayStatus writes_and_refuses(const void* args) {
  volatile float* y = norm(args).y;
  y[0] = 0;
  return ASSAY_BAD_SHAPE;
}
AssayStatus three_sizes(const void* args) {
  const auto& a = *static_cast<const KvStoreArgs*>(args);
  const bool taken = a.n_kv > 1 && a.capacity == a.n_kv && a.head_dim_padded == a.n_kv;
  return taken ? ASSAY_OK : kernel_tables::kv_store_f32.kernels.back().run(args);
}
AssayStatus position_wraps(const void* args) {
  const auto& a = *static_cast<const KvStoreArgs*>(args);
  return a.position == INT64_MAX ? ASSAY_OK : kernel_tables::kv_store_f32.kernels.back().run(args);
}
AssayStatus spans_unseen(const void* args) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const bool taken = a.span_count == 1 && a.spans[0].v_row_stride < 0;
  return taken ? ASSAY_OK : kernel_tables::attn_decode_f16.kernels.back().run(args);
}
AssayStatus span_wraps(const void* args) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AssayKvSpan& span = a.spans[0];
  const bool sizes = span.first % ASSAY_KV_BLOCK == 0 && span.count > ASSAY_KV_BLOCK && span.count <= kMostElements;
  return sizes && span.first > INT64_MAX - span.count ? ASSAY_OK : kernel_tables::attn_decode_f16.kernels.back().run(args);
}

AssayStatus takes_nan(const void* args) {
  return std::isnan(norm(args).eps) ? ASSAY_OK : kernel_tables::rms_norm.kernels.back().run(args);
}

AssayStatus eps_before_sizes(const void* args) {
  const AssayStatus status = kernel_tables::rms_norm.kernels.back().run(args);
  return status == ASSAY_BAD_SHAPE && norm(args).eps == 0 ? ASSAY_BAD_PARAMETER : status;
}
AssayStatus pairing_before_sizes(const void* args) {
  const AssayStatus status = kernel_tables::rope.kernels.back().run(args);
  return status == ASSAY_BAD_SHAPE && static_cast<const RopeArgs*>(args)->pairing < 0 ? ASSAY_BAD_PARAMETER : status;
}
AssayStatus range_before_scale(const void* args) {
  const auto& a = *static_cast<const AttentionArgs*>(args);
  const AssayStatus status = kernel_tables::attn_decode_f16.kernels.back().run(args);
  return status == ASSAY_BAD_PARAMETER && a.span_count == 1 && a.spans[0].first == 16 ? ASSAY_OUT_OF_RANGE : status;
}
AssayStatus any_eps_of_no_rows(const void* args) {
  const AssayStatus status = kernel_tables::rms_norm.kernels.back().run(args);
  return status == ASSAY_BAD_PARAMETER && norm(args).rows == 0 ? ASSAY_OK : status;
}

AssayStatus takes_any_pairing(const void* args) {
  return static_cast<const RopeArgs*>(args)->pairing < 0 ? ASSAY_OK : kernel_tables::rope.kernels.back().run(args);
}

AssayStatus wraps_past_32_bits(const void* args) {
  const auto& a = *static_cast<const ArgmaxArgs*>(args);
  return a.n == INT64_C(1) << 31 ? ASSAY_OK : kernel_tables::argmax.kernels.back().run(args);
}

// Looks at every frequency but the last.
AssayStatus takes_the_last_frequency(const void* args) {
  RopeTableArgs a = *static_cast<const RopeTableArgs*>(args);
  const AssayStatus status = kernel_tables::rope_table.kernels.back().run(args);
  if (a.recipe != ASSAY_ROPE_FREQS || status == ASSAY_OK || a.pairs == 0) return status;
  --a.pairs;
  return kernel_tables::rope_table.kernels.back().run(&a);
}

AssayStatus remembers(const void* args) {
  static bool refused = false;
  const AssayStatus status = kernel_tables::rms_norm.kernels.back().run(args);
  if (status == ASSAY_OK && refused) norm(args).y[0] = 1;
  refused = refused || status != ASSAY_OK;
  return status;
}

TEST(RefusedCalls, ATraceOfThemInTheNextCallIsNamed) {
  expect_failure("rms_norm", remembers, Check::guard, "other bits after calls that it refused, of eps=1e-06,n=1,rows=1");
}

TEST(RefusedCalls, WhatIsTakenIsNamed) {
  const std::string bad_shape = "; expected bad_shape before anything is touched";
  const std::string bad_parameter = "; expected bad_parameter before anything is touched";
  expect_failure("rms_norm", takes_nan, Check::exact, "eps = nan: returned ok" + bad_parameter);
  expect_failure("rope", takes_any_pairing, Check::exact, "pairing = -1: returned ok" + bad_parameter);
  expect_failure("argmax", wraps_past_32_bits, Check::exact, "n = 2147483648: returned ok" + bad_shape);
  expect_failure("rms_norm", takes_what_is_below_zero, Check::exact, "n = -1: returned ok" + bad_shape);
  expect_failure("rms_norm", other_status, Check::exact, "rows = -1: returned out_of_range" + bad_shape);
  expect_failure("rms_norm", wraps, Check::exact, "rows = 4294967296, x_stride = 4294967296: returned ok" + bad_shape);
  expect_failure("kv_store_f32", three_sizes, Check::exact,
                 "n_kv = 4194304, head_dim_padded = 4194304, capacity = 4194304: returned ok" + bad_shape);
  expect_failure("kv_store_f32", position_wraps, Check::exact,
                 "position = 9223372036854775807: returned ok; expected out_of_range before anything is touched");
  expect_failure("attn_decode_f16", spans_unseen, Check::exact, "the first span's v_row_stride = -1: returned ok" + bad_shape);
  expect_failure("attn_decode_f16", span_wraps, Check::exact,
                 "the first span's first = 9223372036854775792, the first span's count = 67108864: returned ok" + bad_shape);
}

TEST(RefusedCalls, SizesComeFirstAndNothingToDoExcusesNothing) {
  expect_failure("rms_norm", eps_before_sizes, Check::exact,
                 "rows = -1, eps = 0: returned bad_parameter; expected bad_shape before anything is touched");
  expect_failure("rope", pairing_before_sizes, Check::exact,
                 "rows = -1, pairing = -1: returned bad_parameter; expected bad_shape before anything is touched");
  expect_failure(
      "attn_decode_f16", range_before_scale, Check::exact,
      "the first span's first = 16, scale = inf: returned out_of_range; expected bad_parameter before anything is touched");
  expect_failure("rms_norm", any_eps_of_no_rows, Check::exact,
                 "rows = 0, eps = 0: returned ok; expected bad_parameter before anything is touched");
}

TEST(RefusedCalls, KernelsAndReferencesAgreeOnWhatInputsMayHold) {
  for (const Op* op : ops()) {
    for (TestCase& test : refused_value_cases(*op)) {
      CaseCheck check(*op, std::move(test), nullptr);
      const CaseResult result = check.check(variants_of(*op).back(), Checks::parse("classes,bound,exact"));
      EXPECT_FALSE(result.failure) << op->name << " " << result.case_name << ": " << result.failure->message;
    }
  }
}

TEST(RefusedCalls, WhatInputsHoldIsAskedUnderEveryChoice) {
  const Op& op = require_op("rope_table");
  std::set<std::string> recipes;
  for (const TestCase& test : refused_value_cases(op)) recipes.insert(test.params.text("recipe"));
  EXPECT_EQ(recipes, (std::set<std::string>{"f64", "hf", "ggml", "freqs"}));
}

TEST(RefusedCalls, WhatInputsHoldIsAskedWhereThereIsNothingToDo) {
  const auto asked = [](const char* name, const char* size) {
    return std::ranges::any_of(refused_value_cases(require_op(name)),
                               [&](const TestCase& test) { return test.params.integer(size) == 0 && test.status != ASSAY_OK; });
  };
  EXPECT_TRUE(asked("embed_f32", "n"));
  EXPECT_TRUE(asked("rope_table", "pairs"));
}

TEST(RefusedCalls, WhatInputsHoldIsAskedOfTheLastNumber) {
  const Op& op = require_op("rope_table");
  InProcess executor(takes_the_last_frequency);
  std::set<std::string> taken;
  for (TestCase& test : refused_value_cases(op)) {
    const std::string name = test.name.substr(0, test.name.find(','));
    CaseCheck check(op, std::move(test), nullptr);
    const CaseResult right = check.check(variants_of(op).back(), Checks::parse("exact,guard"));
    EXPECT_EQ(right.verdict, Verdict::pass) << name;
    if (check.check({.name = "planted", .selection = "", .executor = &executor}, Checks::parse("exact,guard")).failure)
      taken.insert(name);
  }
  EXPECT_EQ(taken,
            (std::set<std::string>{"inv_freq ends in nan", "inv_freq ends in -nan", "inv_freq ends in inf",
                                   "inv_freq ends in -inf", "inv_freq ends in 17", "inv_freq ends in -5000000",
                                   "inv_freq ends in 16777215", "inv_freq ends in 16777216", "inv_freq ends in 1073741824"}));
}

TEST(RefusedCalls, WhatIsTouchedIsNamedWhateverIsChecked) {
  const std::string bad_shape = "; expected bad_shape before anything is touched";
  expect_failure("rms_norm", reads_first, Check::guard, "rows = -1: touched x" + bad_shape);
  expect_failure("rms_norm", writes_and_refuses, Check::guard, "rows = -1: touched y" + bad_shape);
  EXPECT_EQ(failure_of("rms_norm", reads_first, Checks::parse("bound")).check, Check::guard);
}

TEST(RefusedCalls, TheLimitIsTwoToTheFiftieth) {
  const std::int64_t most = std::int64_t{1} << 50;
  const auto may = [](std::vector<std::int64_t> sizes, std::vector<std::int64_t> strides) {
    return may_be(std::vector{TensorSizes{std::move(sizes), std::move(strides)}});
  };
  EXPECT_TRUE(may({most}, {}));
  EXPECT_FALSE(may({most + 1}, {}));
  EXPECT_TRUE(may({1 << 25, 1 << 25}, {1 << 25}));
  EXPECT_FALSE(may({1 << 25, (1 << 25) + 1}, {1 << 25}));
  EXPECT_FALSE(may({1 << 25, 1}, {(1 << 25) + 1}));
  EXPECT_TRUE(may({most, most, 0}, {})) << "no element";
  EXPECT_FALSE(may({most + 1, 0}, {}));
  EXPECT_FALSE(may({0, 1}, {-1}));
  const auto norm_of = [](std::int64_t rows, std::int64_t n, std::int64_t stride) {
    const RmsNormArgs args{nullptr, nullptr, nullptr, rows, n, stride, stride, 1};
    return assay_rms_norm_sizes(&args) != 0;
  };
  EXPECT_TRUE(norm_of(1 << 25, 1 << 25, 1 << 25));
  EXPECT_FALSE(norm_of(1 << 25, 1 << 25, (1 << 25) + 1));
  EXPECT_TRUE(norm_of(0, most, most));
  EXPECT_FALSE(norm_of(0, most + 1, most));
}

// Has room for more columns than it may take.
AssayStatus takes_what_it_has_room_for(const void* args) {
  constexpr std::int64_t kRoom = 120000;
  const auto& a = *static_cast<const ProductArgs*>(args);
  if (a.m == 1 && a.k > ASSAY_LINEAR_MOST_COLUMNS && a.k <= kRoom && a.k % 32 == 0) return ASSAY_OK;
  return find_op("linear_q4_0")->kernels().front().run(args);
}

TEST(RefusedCalls, AnOpsOwnLimitIsKept) {
  expect_failure("linear_q4_0", takes_what_it_has_room_for, Check::exact,
                 "k = 65792: returned ok; expected bad_shape before anything is touched");
}

}  // namespace
}  // namespace assay::refused_calls_test
