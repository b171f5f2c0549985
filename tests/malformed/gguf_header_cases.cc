// Magic, version, counts, and files that stop too early.
#include "tests/malformed/gguf_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kCounts = "counts trusted before the bytes left are looked at (CVE-2024-23496 and kin)";

void add_identity(std::vector<Case>& cases) {
  for (const char* magic : {"GGML", "GGJT", "FUGG", "gguf", "PK\x03\x04"}) {
    cases.push_back(gguf_case("magic-" + std::to_string(cases.size()), "another format's file", Fault::magic, "byte 0: magic",
                              [magic](GgufImage& image) { image.magic = magic; }));
  }
  for (const std::uint32_t version : {0U, 1U, 4U, 0xffffffffU}) {
    cases.push_back(gguf_case("version-" + std::to_string(version), "a version with another layout", Fault::version,
                              "byte 4: version", [version](GgufImage& image) { image.version = version; }));
  }
  for (const std::uint32_t version : {1U, 2U, 3U}) {
    cases.push_back(gguf_case("big-endian-" + std::to_string(version), "every number with its bytes swapped", Fault::big_endian,
                              "byte 4: version", [version](GgufImage& image) { image.version = version << 24; }));
  }
}

void add_counts(std::vector<Case>& cases) {
  for (const std::uint64_t count : {std::uint64_t{1} << 32, std::uint64_t{1} << 60, std::uint64_t{1} << 63, UINT64_MAX}) {
    const std::string suffix = std::to_string(count);
    cases.push_back(gguf_case("tensor-count-" + suffix, kCounts, Fault::count, "byte 8: number of tensors",
                              [count](GgufImage& image) { image.tensor_count = count; }));
    cases.push_back(gguf_case("entry-count-" + suffix, kCounts, Fault::count, "byte 16: number of metadata entries",
                              [count](GgufImage& image) { image.entry_count = count; }));
  }
  // Counts that the file could hold, so that only the entries themselves show the lie.
  cases.push_back(gguf_case("tensor-count-one-more", "padding read as a tensor's description", Fault::name, "tensor",
                            [](GgufImage& image) { image.tensor_count = image.tensors.size() + 1; }));
  cases.push_back(gguf_case("entry-count-one-more", "a tensor's description read as metadata", Fault::count, "tensor",
                            [](GgufImage& image) { image.entry_count = image.entries.size() + 1; }));
  cases.push_back(gguf_case("entry-count-one-less", "metadata read as a tensor's description", Fault::dimensions,
                            "tensor 'tokenizer.ggml.add_bos_token'",
                            [](GgufImage& image) { image.entry_count = image.entries.size() - 1; }));
  cases.push_back(gguf_case("tensor-count-zero", "a model without weights", Fault::missing_tensor, "tensor 'token_embd.weight'",
                            [](GgufImage& image) { image.tensor_count = 0; }));
}

void add_cut(std::vector<Case>& cases, const std::string& where, std::uint64_t length, Fault fault, const std::string& mentions) {
  Bytes bytes = right_gguf().build();
  bytes.resize(length);
  cases.push_back({"gguf-cut-" + where,
                   "a file that ends before what it announces (CVE-2026-7482)",
                   {{"model.gguf", std::move(bytes)}},
                   fault,
                   "model.gguf",
                   mentions});
}

void add_cuts(std::vector<Case>& cases) {
  const GgufImage image = right_gguf();
  const std::uint64_t tokens = image.offset_of("tokenizer.ggml.tokens");
  const std::uint64_t last = image.offset_of("tokenizer.ggml.add_bos_token");
  const std::uint64_t tensors = last + image.entries.back().key.size() + image.entries.back().value.size();
  add_cut(cases, "to-nothing", 0, Fault::truncated, "byte 0");
  add_cut(cases, "in-magic", 3, Fault::truncated, "byte 0: magic");
  add_cut(cases, "in-version", 7, Fault::truncated, "byte 4: version");
  add_cut(cases, "in-tensor-count", 15, Fault::truncated, "byte 8: number of tensors");
  // A file cut this short cannot hold the counts that its header states.
  add_cut(cases, "in-entry-count", 23, Fault::count, "byte 8: number of tensors");
  add_cut(cases, "after-header", 24, Fault::count, "byte 8: number of tensors");
  add_cut(cases, "in-tokens", tokens + 60, Fault::count, "byte 8: number of tensors");
  add_cut(cases, "in-first-tensor", tensors + 40, Fault::truncated, "byte");
  add_cut(cases, "before-data", tensors + 400, Fault::truncated, "byte");
  add_cut(cases, "last-byte", image.build().size() - 1, Fault::outside_file, "tensor 'output_norm.weight'");
}

}  // namespace

void add_gguf_header_cases(std::vector<Case>& cases) {
  add_identity(cases);
  add_counts(cases);
  add_cuts(cases);
}

}  // namespace assay::malformed
