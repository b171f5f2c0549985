// One safetensors file: length, header, descriptions of tensors, extents of data.
#include "tests/malformed/folder_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kTensor = "model.layers.0.self_attn.q_proj.weight";
constexpr const char* kSubject = "tensor 'model.layers.0.self_attn.q_proj.weight'";
constexpr const char* kWrap = "product of a shape wraps (kin of CVE-2026-33298)";

void add_file(std::vector<Case>& cases, const std::string& name, const std::string& mechanism, Fault fault,
              const std::string& mentions, Bytes bytes) {
  auto files = right_folder();
  files["model.safetensors"] = std::move(bytes);
  cases.push_back({"safetensors-" + name, mechanism, std::move(files), fault, "model.safetensors", mentions});
}

// A file whose only fault is in the description of one tensor.
void add_entry(std::vector<Case>& cases, const std::string& name, const std::string& mechanism, Fault fault,
               const std::function<void(HeaderEntry&)>& spoil, const std::string& mentions = kSubject) {
  SafetensorsImage image = right_safetensors();
  spoil(image.entry(kTensor));
  add_file(cases, name, mechanism, fault, mentions, image.build());
}

void add_lengths(std::vector<Case>& cases) {
  const std::string mechanism = "length of the header trusted for an allocation";
  const Bytes right = right_safetensors().build();
  for (const std::uint64_t length : {std::uint64_t{right.size()} - 7, std::uint64_t{100'000'001}, std::uint64_t{1} << 32,
                                     std::uint64_t{1} << 63, UINT64_MAX - 7, UINT64_MAX}) {
    Bytes bytes = right;
    std::memcpy(bytes.data(), &length, sizeof length);
    add_file(cases, "header-length-" + std::to_string(length), mechanism, Fault::header_length, "byte 0: header", bytes);
  }
  add_file(cases, "empty", "a file of nothing", Fault::truncated, "byte 0", {});
  add_file(cases, "seven-bytes", "a length read beyond the file", Fault::truncated, "byte 0: header", Bytes(7));
  add_file(cases, "length-alone", "a header of nothing", Fault::header_start, "byte 8: header", Bytes(8));
  add_file(cases, "header-cut", "a header that ends too early", Fault::header_length, "byte 0: header",
           Bytes(right.begin(), right.begin() + 100));
}

void add_json(std::vector<Case>& cases) {
  const std::string mechanism = "a lenient parser: two readers see two files";
  const std::string header = right_safetensors().header();
  const std::uint64_t data = right_safetensors().build().size() - 8 - header.size();
  const auto add = [&](const std::string& name, Fault fault, const std::string& mentions, const std::string& text) {
    add_file(cases, name, mechanism, fault, mentions, safetensors_file(text, data));
  };
  add("starts-with-space", Fault::header_start, "byte 8: header", " " + header);
  add("starts-with-bracket", Fault::header_start, "byte 8: header", "[" + header + "]");
  add("starts-with-bom", Fault::header_start, "byte 8: header", "\xef\xbb\xbf" + header);
  add("trailing-comma", Fault::json, "byte", replaced(header, "{\"format\":\"pt\"}", "{\"format\":\"pt\",}"));
  add("comment", Fault::json, "byte", replaced(header, "{\"format\":\"pt\"}", "{/* */\"format\":\"pt\"}"));
  add("single-quotes", Fault::json, "byte", replaced(header, "\"format\"", "'format'"));
  add("not-a-number", Fault::json, "byte", replaced(header, "\"pt\"", "NaN"));
  add("two-objects", Fault::json, "byte", header + "{}");
  add("ends-in-zeros", Fault::json, "byte", header + std::string(8, '\0'));
  add("unclosed", Fault::json, "byte", "{\"a\":{");
  add("number-beyond-fp64", Fault::json, "byte 8", replaced(header, "\"pt\"", "1e999"));
  add("control-character", Fault::json, "byte", replaced(header, "\"pt\"", "\"p\nt\""));
  add("invalid-utf8-name", Fault::json, "byte", replaced(header, "\"format\"", "\"for\xff\""));
  add("overlong-utf8", Fault::json, "byte", replaced(header, "\"format\"", "\"\xc0\xaf\""));
  add("utf8-surrogate", Fault::json, "byte", replaced(header, "\"format\"", "\"\xed\xa0\x80\""));
  add("lone-surrogate-escape", Fault::json, "byte", replaced(header, "\"format\"", "\"\\ud800\""));
  add("nested-17-deep", Fault::json_limit, "member '__metadata__'",
      replaced(header, "{\"format\":\"pt\"}", std::string(17, '[') + std::string(17, ']')));
  add("nested-100000-deep", Fault::json_limit, "member '__metadata__'",
      replaced(header, "{\"format\":\"pt\"}", std::string(100'000, '[')));
  add("metadata-twice", Fault::duplicate, "member '__metadata__'",
      replaced(header, "{\"__metadata__\"", "{\"__metadata__\":{},\"__metadata__\""));
  add("metadata-of-numbers", Fault::member, "member '__metadata__'", replaced(header, "\"pt\"", "1"));
  add("metadata-list", Fault::member, "member '__metadata__'", replaced(header, "{\"format\":\"pt\"}", "[]"));
  add("tensor-twice", Fault::duplicate, "member 'model.norm.weight'",
      replaced(header, ",\"model.norm.weight\"", ",\"model.norm.weight\":{},\"model.norm.weight\""));
  add("tensor-twice-by-escape", Fault::duplicate, "member 'model.norm.weight'",
      replaced(header, ",\"model.norm.weight\"", ",\"model.norm.w\\u0065ight\":{},\"model.norm.weight\""));
  add("tensor-without-name", Fault::name, "tensor ''", replaced(header, "\"model.norm.weight\"", "\"\""));
  add("tensor-as-list", Fault::member, "tensor 'x'",
      replaced(header, ",\"model.norm.weight\"", ",\"x\":[1,2,3],\"model.norm.weight\""));
  add("tensor-as-null", Fault::member, "tensor 'x'",
      replaced(header, ",\"model.norm.weight\"", ",\"x\":null,\"model.norm.weight\""));
}

void add_members(std::vector<Case>& cases) {
  const std::string mechanism = "a member of another type, or none, taken for what was expected";
  const auto add = [&](const std::string& name, Fault fault, std::string HeaderEntry::*member, const std::string& value) {
    add_entry(cases, name, mechanism, fault, [&](HeaderEntry& entry) { entry.*member = value; });
  };
  add("dtype-unknown", Fault::tensor_type, &HeaderEntry::dtype, "\"Q4_0\"");
  add("dtype-lower-case", Fault::tensor_type, &HeaderEntry::dtype, "\"bf16\"");
  add("dtype-empty", Fault::tensor_type, &HeaderEntry::dtype, "\"\"");
  add("dtype-f8", Fault::tensor_type, &HeaderEntry::dtype, "\"F8_E4M3\"");
  add("dtype-i16", Fault::tensor_type, &HeaderEntry::dtype, "\"I16\"");
  add("dtype-number", Fault::member, &HeaderEntry::dtype, "7");
  add("shape-number", Fault::member, &HeaderEntry::shape, "1024");
  add("shape-negative", Fault::member, &HeaderEntry::shape, "[-32,-32]");
  add("shape-real", Fault::member, &HeaderEntry::shape, "[32.0,32]");
  add("shape-text", Fault::member, &HeaderEntry::shape, "[\"32\",32]");
  add("shape-beyond-u64", Fault::member, &HeaderEntry::shape, "[18446744073709551648,32]");
  add("shape-of-nine", Fault::dimensions, &HeaderEntry::shape, "[32,32,1,1,1,1,1,1,1]");
  add("offsets-one", Fault::member, &HeaderEntry::offsets, "[576]");
  add("offsets-three", Fault::member, &HeaderEntry::offsets, "[576,2624,2624]");
  add("offsets-reversed", Fault::member, &HeaderEntry::offsets, "[2624,576]");
  add("offsets-negative", Fault::member, &HeaderEntry::offsets, "[-1472,576]");
  add("offsets-object", Fault::member, &HeaderEntry::offsets, "{\"begin\":576,\"end\":2624}");
  add("member-missing", Fault::member, &HeaderEntry::offsets, "[576,2624]},\"y\":{\"dtype\":\"BF16\",\"shape\":[]");
  add("member-unknown", Fault::member, &HeaderEntry::offsets, "[576,2624],\"strides\":[32,1]");
  add("member-twice", Fault::duplicate, &HeaderEntry::offsets, "[0,0],\"data_offsets\":[576,2624]");
  cases.back().mentions = "member 'data_offsets'";
  cases[cases.size() - 3].mentions = "tensor 'y'";
}

void add_products(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& shape, const std::string& offsets) {
    add_entry(cases, name, kWrap, fault, [&](HeaderEntry& entry) {
      entry.shape = shape;
      entry.offsets = offsets;
    });
  };
  add("elements-wrap-to-zero", Fault::overflow, "[4294967296,4294967296]", "[576,576]");
  add("elements-wrap-to-zero-in-three", Fault::overflow, "[8589934592,2147483648,32]", "[576,576]");
  add("elements-wrap-to-1024", Fault::overflow, "[18014398509481985,1024]", "[576,2624]");
  add("bytes-wrap-to-zero", Fault::overflow, "[9223372036854775808]", "[576,576]");
  add("bytes-wrap-to-2048", Fault::overflow, "[9223372036854776832]", "[576,2624]");
  add("overflow-before-zero", Fault::overflow, "[9223372036854775808,2,0]", "[576,576]");
  add("overflow-after-zero", Fault::overflow, "[0,9223372036854775808,2]", "[576,576]");
  add_entry(cases, "elements-beyond-int64", "a shape that is negative as a signed number", Fault::overflow,
            [](HeaderEntry& entry) {
              entry.dtype = "\"U8\"";
              entry.shape = "[9223372036854775808]";
              entry.offsets = "[576,9223372036854776384]";
            });
  add("extent-short", Fault::size_mismatch, "[32,32]", "[576,2622]");
  add("extent-long", Fault::size_mismatch, "[32,32]", "[576,2626]");
  add("shape-beyond-extent", Fault::size_mismatch, "[32,33]", "[576,2624]");
  add("scalar", Fault::size_mismatch, "[]", "[576,2624]");
  add("outside", Fault::outside_file, "[2305843009213693952]", "[576,4611686018427388480]");
}

void add_extents(std::vector<Case>& cases) {
  const std::string mechanism = "tensors that overlap, leave holes or lie outside (kin of CVE-2026-7482)";
  const auto add = [&](const std::string& name, Fault fault, const std::string& offsets, const std::string& mentions) {
    add_entry(
        cases, name, mechanism, fault, [&](HeaderEntry& entry) { entry.offsets = offsets; }, mentions);
  };
  add("same-bytes-as-next", Fault::hole, "[1088,3136]", "tensor 'model.layers.0.");
  add("overlap-by-two", Fault::overlap, "[574,2622]", kSubject);
  add("hole-of-two", Fault::hole, "[578,2626]", kSubject);
  add("behind-the-file", Fault::hole, "[1048576,1050624]", "tensor 'model.layers.0.self_attn.k_proj.weight'");
  add("offsets-wrap", Fault::hole, "[18446744073709549567,18446744073709551615]",
      "tensor 'model.layers.0.self_attn.k_proj.weight'");

  SafetensorsImage image = right_safetensors();
  const std::string header = image.header();
  const std::uint64_t data = image.build().size() - 8 - header.size();
  add_file(cases, "last-byte-missing", mechanism, Fault::outside_file, "tensor 'model.norm.weight'",
           safetensors_file(header, data - 1));
  add_file(cases, "no-data", mechanism, Fault::outside_file, "tensor 'model.embed_tokens.weight'", safetensors_file(header, 0));
  add_file(cases, "one-byte-more", "bytes that no reader looks at", Fault::trailing_bytes, "byte",
           safetensors_file(header, data + 1));
  add_file(cases, "page-more", "bytes that no reader looks at", Fault::trailing_bytes, "byte",
           safetensors_file(header, data + 4096));
  add_file(cases, "data-at-odd-byte", "words read where the type does not allow", Fault::misaligned, "tensor 'b'",
           safetensors_file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("b":{"dtype":"F32","shape":[1],"data_offsets":[1,5]}})",
                            5));
  image.entries.erase(image.entries.begin());
  add_file(cases, "first-tensor-missing", mechanism, Fault::hole, "tensor 'model.layers.0.input_layernorm.weight'",
           image.build());
  add_file(cases, "no-tensors", "a model without weights", Fault::missing_tensor, "tensor 'model.embed_tokens.weight'",
           safetensors_file("{}      ", 0));
}

void add_model(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& mentions, const std::string& from,
                            const std::string& to) {
    SafetensorsImage image = right_safetensors();
    image.entry(from).name = to;
    add_file(cases, name, "a weight that is ignored, or stays uninitialised", fault, mentions, image.build());
  };
  add("renamed", Fault::missing_tensor, kSubject, kTensor, "model.layers.0.self_attn.Q_proj.weight");
  add("norm-missing", Fault::missing_tensor, "tensor 'model.norm.weight'", "model.norm.weight", "norm.weight");
  add("layer-beyond", Fault::missing_tensor, "tensor 'model.layers.1.mlp.up_proj.weight'", "model.layers.1.mlp.up_proj.weight",
      "model.layers.2.mlp.up_proj.weight");
  SafetensorsImage image = right_safetensors();
  const std::string begin = std::to_string(image.build().size() - 8 - image.header().size());
  const std::string end = std::to_string(std::stoull(begin) + 64);
  image.entries.push_back({"model.layers.0.self_attn.q_proj.bias", "\"BF16\"", "[32]", "[" + begin + "," + end + "]", 64});
  add_file(cases, "bias", "a weight that is ignored and changes every answer", Fault::unexpected_tensor,
           "tensor 'model.layers.0.self_attn.q_proj.bias'", image.build());
  add_entry(cases, "integers", "integers read as weights", Fault::tensor_type, [](HeaderEntry& entry) {
    entry.dtype = "\"I32\"";
    entry.shape = "[32,16]";
  });
  cases.back().fault = Fault::tensor_shape;
  add_entry(cases, "transposed", "rows and columns swapped", Fault::tensor_shape,
            [](HeaderEntry& entry) { entry.shape = "[16,64]"; });
  image = right_safetensors();
  image.entry("model.norm.weight").dtype = "\"U8\"";
  image.entry("model.norm.weight").shape = "[64]";
  add_file(cases, "norm-of-bytes", "bytes read as a norm", Fault::tensor_shape, "tensor 'model.norm.weight'", image.build());
}

}  // namespace

void add_safetensors_cases(std::vector<Case>& cases) {
  add_lengths(cases);
  add_json(cases);
  add_members(cases);
  add_products(cases);
  add_extents(cases);
  add_model(cases);
}

}  // namespace assay::malformed
