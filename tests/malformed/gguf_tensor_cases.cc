// Names, dimensions, types and offsets of tensors.
#include <array>

#include "tests/malformed/gguf_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kTensor = "blk.0.attn_q.weight";
constexpr const char* kSubject = "tensor 'blk.0.attn_q.weight'";
constexpr const char* kLast = "output_norm.weight";
constexpr const char* kLastSubject = "tensor 'output_norm.weight'";

constexpr const char* kBytesWrap = "bytes of a tensor wrap (CVE-2026-33298)";
constexpr const char* kSumWraps = "sum of the tensors' sizes wraps (CVE-2025-53630, CVE-2026-27940)";
constexpr const char* kBeyondData = "dimensions beyond the data (CVE-2026-7482)";

void add_names(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& mentions, const Bytes& encoded) {
    cases.push_back(gguf_case("tensor-name-" + name, "a name that overruns a buffer of 64 bytes, or is no name", fault, mentions,
                              [&encoded](GgufImage& image) { image.tensor(kTensor).name = encoded; }));
  };
  add("empty", Fault::name, "tensor", gguf_string(""));
  add("64-bytes", Fault::name, "tensor", gguf_string(std::string(64, 't')));
  add("65-bytes", Fault::name, "tensor", gguf_string(std::string(65, 't')));
  add("4096-bytes", Fault::name, "tensor", gguf_string(std::string(4096, 't')));
  add("with-zero", Fault::name, "tensor 'output.weight\\x00x'", gguf_string(std::string_view("output.weight\0x", 15)));
  add("with-newline", Fault::name, "tensor 'a\\x0ab'", gguf_string("a\nb"));
  add("not-utf8", Fault::name, "tensor '\\xff\\xfe'", gguf_string("\xff\xfe"));
  add("twice", Fault::duplicate, "tensor 'token_embd.weight'", gguf_string("token_embd.weight"));
  add("length-beyond-file", Fault::count, "tensor", string_of_length(1 << 24, kTensor));
  add("length-negative", Fault::count, "tensor", string_of_length(UINT64_MAX, kTensor));
}

void add_shape(std::vector<Case>& cases, const std::string& name, const std::string& mechanism, Fault fault, std::uint32_t type,
               const std::vector<std::uint64_t>& dims) {
  cases.push_back(gguf_case(name, mechanism, fault, kLastSubject, [&](GgufImage& image) {
    image.tensor(kLast).type = type;
    image.tensor(kLast).dims = dims;
  }));
}

void add_dimensions(std::vector<Case>& cases) {
  for (const std::uint32_t rank : {0U, 5U, 64U, 0xffffffffU}) {
    cases.push_back(gguf_case("rank-" + std::to_string(rank), "dimensions written beyond an array of four", Fault::dimensions,
                              kSubject, [rank](GgufImage& image) { image.tensor(kTensor).rank = rank; }));
  }
  const std::string zero = "a size of zero: division by it, or a tensor without bytes";
  add_shape(cases, "dimension-zero-first", zero, Fault::dimensions, 0, {0, 32});
  add_shape(cases, "dimension-zero-second", zero, Fault::dimensions, 0, {32, 0});
  add_shape(cases, "dimension-zero-fourth", zero, Fault::dimensions, 0, {32, 1, 1, 0});

  const std::uint64_t one = 1;
  add_shape(cases, "elements-2-64", kBytesWrap, Fault::overflow, 0, {one << 32, one << 32});
  add_shape(cases, "elements-wrap-to-32", kBytesWrap, Fault::overflow, 0, {32, (one << 59) + 1});
  add_shape(cases, "elements-2-64-in-four", kBytesWrap, Fault::overflow, 0, {one << 16, one << 16, one << 16, one << 16});
  add_shape(cases, "elements-2-63", kBytesWrap, Fault::overflow, 1, {one << 31, one << 32});
  add_shape(cases, "elements-beyond-int64", "a shape that is negative as a signed number", Fault::overflow, 2, {one << 63});
  add_shape(cases, "dimension-negative", kBytesWrap, Fault::overflow, 0, {UINT64_MAX});
  add_shape(cases, "dimensions-both-negative", kBytesWrap, Fault::overflow, 0, {UINT64_MAX, UINT64_MAX});
  add_shape(cases, "bytes-f32-wrap-to-zero", kBytesWrap, Fault::overflow, 0, {one << 31, one << 31});
  add_shape(cases, "bytes-f32-wrap-to-128", kBytesWrap, Fault::overflow, 0, {(one << 62) + 32});
  add_shape(cases, "bytes-q8_0-huge", kBytesWrap, Fault::outside_file, 8, {(one << 63) - 32});

  // Bytes that fit into 64 bits, but not together with where the tensor begins.
  add_shape(cases, "sum-wraps-below-header", kSumWraps, Fault::overflow, 0, {(one << 62) - 1});
  add_shape(cases, "sum-wraps-into-data", kSumWraps, Fault::overflow, 0, {(one << 62) - 64});
  add_shape(cases, "sum-wraps-f16", kSumWraps, Fault::overflow, 1, {(one << 63) - 1});
  cases.push_back(
      gguf_case("sum-of-two-wraps", kSumWraps, Fault::outside_file, "tensor 'token_embd.weight'", [](GgufImage& image) {
        for (const char* name : {"token_embd.weight", kLast}) {
          image.tensor(name).type = 0;
          image.tensor(name).dims = {std::uint64_t{1} << 61};
        }
        image.tensor("blk.0.attn_norm.weight").offset = std::uint64_t{1} << 63;
      }));
}

void add_beyond_data(std::vector<Case>& cases) {
  struct Type {
    const char* name;
    std::uint32_t number;
  };
  constexpr std::array<Type, 11> kTypes{{{"f32", 0},
                                         {"f16", 1},
                                         {"bf16", 30},
                                         {"q4_0", 2},
                                         {"q4_1", 3},
                                         {"q5_0", 6},
                                         {"q5_1", 7},
                                         {"q8_0", 8},
                                         {"q4_k", 12},
                                         {"q5_k", 13},
                                         {"q6_k", 14}}};
  for (const Type& type : kTypes) {
    add_shape(cases, std::string("beyond-data-") + type.name, kBeyondData, Fault::outside_file, type.number, {4096, 4096});
    if (type.number < 2 || type.number == 30) continue;
    add_shape(cases, std::string("rows-cut-blocks-") + type.name, "a row that ends within a block", Fault::block_shape,
              type.number, {type.number < 12 ? 48U : 128U, 4});
  }
  add_shape(cases, "one-row-too-many", kBeyondData, Fault::outside_file, 0, {32, 2});
  cases.push_back(
      gguf_case("inner-tensor-too-long", kBeyondData, Fault::overlap, "tensor 'blk.0.attn_k.weight'", [](GgufImage& image) {
        image.tensor(kTensor).dims = {32, 64};
      }));
  cases.push_back(gguf_case("inner-tensor-too-short", "bytes that belong to no tensor", Fault::hole,
                            "tensor 'blk.0.attn_k.weight'", [](GgufImage& image) {
                              image.tensor(kTensor).dims = {32, 16};
                            }));
}

void add_types(std::vector<Case>& cases) {
  for (const std::uint32_t type : {4U, 5U, 31U, 36U, 999U, 0x80000000U, 0xffffffffU}) {
    cases.push_back(gguf_case("tensor-type-" + std::to_string(type), "an index beyond the table of types", Fault::tensor_type,
                              kSubject, [type](GgufImage& image) { image.tensor(kTensor).type = type; }));
  }
  for (const std::uint32_t type : {9U, 10U, 11U, 15U, 16U, 20U, 24U, 28U, 34U, 39U}) {
    cases.push_back(gguf_case("tensor-type-unsupported-" + std::to_string(type), "a format without a kernel read as another",
                              Fault::tensor_type, kSubject, [type](GgufImage& image) { image.tensor(kTensor).type = type; }));
  }
}

void add_offsets(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, std::uint64_t offset) {
    cases.push_back(gguf_case("offset-" + name, "tensors that overlap, leave holes or lie outside", fault, kSubject,
                              [offset](GgufImage& image) { image.tensor(kTensor).offset = offset; }));
  };
  const std::uint64_t right = 512 + 128;  // behind token_embd and attn_norm
  add("one-more", Fault::misaligned, right + 1);
  add("four-more", Fault::misaligned, right + 4);
  add("zero", Fault::overlap, 0);
  add("of-the-preceding", Fault::overlap, 512);
  add("hole", Fault::hole, right + 32);
  add("of-the-next", Fault::hole, right + 1088);
  add("outside", Fault::hole, std::uint64_t{1} << 32);
  add("2-63", Fault::hole, std::uint64_t{1} << 63);
  add("wraps", Fault::hole, UINT64_MAX - 31);
  cases.push_back(gguf_case("offset-first-not-zero", "bytes before the first tensor", Fault::hole, "tensor 'token_embd.weight'",
                            [](GgufImage& image) { image.tensor("token_embd.weight").offset = 32; }));
  cases.push_back(
      gguf_case("offset-two-swapped", "tensors in another order than their bytes", Fault::hole, kSubject, [](GgufImage& image) {
        image.tensor(kTensor).offset = 512 + 128 + 1088;
        image.tensor("blk.0.attn_k.weight").offset = 512 + 128;
      }));
}

}  // namespace

void add_gguf_tensor_cases(std::vector<Case>& cases) {
  add_names(cases);
  add_dimensions(cases);
  add_beyond_data(cases);
  add_types(cases);
  add_offsets(cases);
}

}  // namespace assay::malformed
