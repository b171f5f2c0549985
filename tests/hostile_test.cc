// Numbers in strangers' files and messages that no file of ours has: refused by name before anything is computed with them. Each was
// found by fuzzing or by reading for it (docs/sanitizers-and-fuzzing.md).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/tokenizer/vocabulary.h"
#include "golden/generate.h"
#include "golden/hdf5.h"
#include "golden/hdf5_writer.h"
#include "golden/printable.h"
#include "harness/interop/runner/messages.h"
#include "harness/interop/runner/placed_call.h"
#include "reference/ops/op.h"
#include "tests/refusals.h"
#include "tests/temporary.h"

namespace assay::hostile_test {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::string refusal_of(const Distribution& distribution, DType dtype) {
  std::vector<std::uint8_t> bytes(64);
  return message_of([&] { generate(distribution, 1, 0, dtype, 4, bytes.data()); });
}

TEST(HostileGolden, RangesThatLeaveTheirType) {
  EXPECT_NE(refusal_of({"sequence", 1, kMost - 2, 0}, DType::i64).find("from 9223372036854775805 to 0"), std::string::npos);
  EXPECT_NE(refusal_of({"index", 1, kLeast, kMost}, DType::i64).find("distribution 'index'"), std::string::npos);
  EXPECT_NE(refusal_of({"index", 1, 5, 4}, DType::i32).find("from 5 to 4"), std::string::npos);
  EXPECT_NE(refusal_of({"wide", 1, 0, kMost}, DType::f32).find("distribution 'wide'"), std::string::npos);
  EXPECT_NE(refusal_of({"wide", 1, -16385, 0}, DType::f32).find("from -16385 to 0"), std::string::npos);
  std::vector<std::uint8_t> bytes(64);
  generate({"sequence", 1, kMost - 4, 0}, 1, 0, DType::i64, 4, bytes.data());
  generate({"index", 1, -5, 0xfffffffb}, 1, 0, DType::i64, 4, bytes.data());
}

TEST(HostileText, ControlCharactersAreShownNotSent) {
  EXPECT_EQ(printable("a\x1b[2J\nb\x7f \xc3\xa9"), "a\\x1b[2J\\x0ab\\x7f \xc3\xa9");
  EXPECT_STREQ(TokenizerError("token '\x1b'").what(), "token '\\x1b'");
  EXPECT_NE(message_of([] { PreTokenizer("(\n"); }).find("pattern '(\\x0a'"), std::string::npos);
}

// Nor do names of objects and attributes come through, which are printed as they are.
TEST(HostileGolden, ControlCharactersInNamesAndTexts) {
  EXPECT_STREQ(Hdf5Error("/cases/\x1b]0;\x07").what(), "/cases/\\x1b]0;\\x07");
  const TemporaryFolder folder;
  const std::filesystem::path path = folder.path() / "a.h5";
  Hdf5Writer writer(path, Hdf5Writer::Format::v108);
  for (const char* group : {"/a", "/b", "/b/x\x1b[2J"}) writer.make_group(group);
  writer.set_attribute("/a", "y\n", std::int64_t{1});
  writer.commit();
  const Hdf5File file(path);
  EXPECT_NE(
      message_of([&] { file.children("/b"); }).find("/b: no group, or one with soft or external links or control characters"),
      std::string::npos);
  EXPECT_NE(message_of([&] { file.attributes("/a"); }).find("/a: unreadable attributes, or control characters"),
            std::string::npos);
  EXPECT_EQ(file.children("/").size(), 2U);
}

TEST(HostileGolden, ShapesWhoseProductLeaves64Bits) {
  constexpr std::int64_t kLarge = std::int64_t{1} << 31;
  EXPECT_NE(message_of([] { input("x", DType::f32, {1, kLarge, kLarge, kLarge}); }).find("more than 2^63"), std::string::npos);
  EXPECT_NE(message_of([] {
              static_cast<void>(input("x", DType::f32, {kLarge, kLarge, kLarge}).elements());
            }).find("elements"),
            std::string::npos);
  EXPECT_NE(message_of([] {
              static_cast<void>(input("x", DType::f64, {kLarge, kLarge}).extent_bytes());
            }).find("2^63"),
            std::string::npos);
}

Params view_of(const std::string& name, std::int64_t value) {
  Params params{{"n_kv", std::int64_t{1}},   {"group", std::int64_t{1}}, {"head_dim", std::int64_t{8}},
                {"length", std::int64_t{8}}, {"rows", std::int64_t{1}},  {"scale", 0.5},
                {"causal", std::int64_t{1}}};
  params.set(name, value);
  return params;
}

TEST(HostileGolden, ViewsOfTheKvCache) {
  const Op& attention = *find_op("attn_prefill_f32");
  EXPECT_EQ(signature_of(attention, view_of("rows", 1)).tensors.size(), 4U);
  const std::vector<std::string> positions{"first_position", "position", "window"};
  for (const std::string name :
       {"first_position", "span_positions", "slots", "first_slot", "slot_step", "k_slot_stride", "position", "window"}) {
    const std::int64_t largest = std::int64_t{1} << (std::ranges::find(positions, name) == positions.end() ? 31 : 40);
    for (const std::int64_t value : {kLeast, kMost, largest + 1}) {
      const std::string message = message_of([&] { signature_of(attention, view_of(name, value)); });
      EXPECT_TRUE(message.starts_with(name)) << name << ": " << message;
    }
  }
  EXPECT_NE(message_of([&] { signature_of(attention, view_of("head_dim", -1)); }).find("dimension of -1"), std::string::npos);
  Params heads = view_of("n_kv", std::int64_t{1} << 31);
  heads.set("group", std::int64_t{1} << 31);
  EXPECT_NE(message_of([&] { signature_of(attention, heads); }).find("n_heads = 4611686018427387904"), std::string::npos);
  Params many = view_of("length", std::int64_t{1} << 30);
  many.set("span_positions", 1);
  EXPECT_NE(message_of([&] { signature_of(attention, many); }).find("more than 2^24 spans"), std::string::npos);
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

TEST(HostileRunner, FaultsFarFromEveryMemory) {
  wire::Fault fault;
  fault.signal = 11;
  fault.where = wire::Where::memory;
  for (const std::int64_t offset : {kLeast, kMost, (std::int64_t{1} << 33) + 1}) {
    fault.offset = offset;
    const std::string bytes = encode(fault);
    EXPECT_NE(message_of([&] { wire::decode_fault(bytes_of(bytes), 1); }).find("at " + std::to_string(offset)),
              std::string::npos);
  }
  fault.offset = -4096;
  EXPECT_EQ(wire::decode_fault(bytes_of(encode(fault)), 1).offset, -4096);
  fault.packed_bytes = std::uint64_t{1} << 63;
  const std::string bytes = encode(fault);
  EXPECT_NE(message_of([&] { wire::decode_fault(bytes_of(bytes), 1); }).find("a layout of 9223372036854775808 bytes"),
            std::string::npos);
}

TEST(HostileRunner, MorePartsThanThreads) {
  const RunnableKernel kernel{8, [](const void*) { return ASSAY_OK; }, {}, {}};
  Foreign foreign;
  wire::CallRequest request;
  request.at_once = true;
  request.parts.assign(5000, {{std::vector<std::byte>(8)}, {}});
  EXPECT_NE(message_of([&] { run_call(kernel, request, foreign); }).find("5000 parts to run at once; expected at most 1024"),
            std::string::npos);
  request.at_once = false;
  EXPECT_FALSE(run_call(kernel, request, foreign).fault);
}

}  // namespace
}  // namespace assay::hostile_test
