// Keys, types, strings and arrays of the metadata.
#include <array>

#include "tests/malformed/gguf_image.h"

namespace assay::malformed {
namespace {

constexpr const char* kKey = "general.spoilt";
constexpr const char* kSubject = "key 'general.spoilt'";

struct Sized {
  const char* name;
  ValueType type;
  int log2_size;
};
constexpr std::array<Sized, 11> kSized{{{"u8", kU8, 0},
                                        {"i8", kI8, 0},
                                        {"u16", kU16, 1},
                                        {"i16", kI16, 1},
                                        {"u32", kU32, 2},
                                        {"i32", kI32, 2},
                                        {"f32", kF32, 2},
                                        {"bool", kBool, 0},
                                        {"u64", kU64, 3},
                                        {"i64", kI64, 3},
                                        {"f64", kF64, 3}}};

// A case whose only fault is the value of one more key.
Case value_case(const std::string& name, const std::string& mechanism, Fault fault, Bytes value) {
  return gguf_case(name, mechanism, fault, kSubject, [&value](GgufImage& image) { image.set(kKey, value); });
}

void add_arrays(std::vector<Case>& cases) {
  for (const Sized& sized : kSized) {
    const std::string name = std::string("array-count-") + sized.name;
    if (sized.log2_size > 0) {
      const std::uint64_t wraps = std::uint64_t{1} << (64 - sized.log2_size);
      cases.push_back(value_case(name + "-wraps-to-zero",
                                 "count times size wraps, nothing allocated, everything read (CVE-2024-23496)", Fault::count,
                                 array(sized.type, wraps, {})));
      cases.push_back(value_case(name + "-wraps-to-sixteen", "count times size wraps to a small buffer (kin of CVE-2024-23496)",
                                 Fault::count, array(sized.type, wraps + (std::uint64_t{16} >> sized.log2_size), Bytes(16))));
    }
    cases.push_back(value_case(name + "-beyond-file", "count trusted for an allocation (kin of CVE-2024-23496)", Fault::count,
                               array(sized.type, 1 << 20, {})));
  }
  cases.push_back(value_case("array-count-string-wraps",
                             "count times the size of a string's handle wraps (kin of CVE-2024-23496)", Fault::count,
                             array(kString, std::uint64_t{1} << 60, {})));
  cases.push_back(
      value_case("array-count-string-beyond-file", "count trusted for an allocation", Fault::count, array(kString, 1 << 20, {})));
  cases.push_back(
      value_case("array-nested", "arrays of arrays: recursion without an end", Fault::nested_array, array(kArray, 1, {})));
  Bytes deep;
  for (int i = 0; i < 64; ++i) put_bytes(deep, scalar<std::uint64_t>(kArray, 1));
  cases.push_back(value_case("array-nested-deeply", "arrays of arrays: recursion without an end", Fault::nested_array,
                             array(kArray, 1, deep)));
  for (const std::uint32_t type : {13U, 0xffffffffU}) {
    cases.push_back(value_case("array-type-" + std::to_string(type), "an index beyond the table of sizes", Fault::value_type,
                               array(static_cast<ValueType>(type), 1, Bytes(8))));
  }
}

void add_values(std::vector<Case>& cases) {
  for (const std::uint32_t type : {13U, 255U, 0x80000000U, 0xffffffffU}) {
    cases.push_back(value_case("value-type-" + std::to_string(type), "an index beyond the table of sizes (kin of CVE-2024-23496)",
                               Fault::value_type, scalar<std::uint64_t>(static_cast<ValueType>(type), 0)));
  }
  for (const int value : {2, 128, 255}) {
    cases.push_back(value_case("boolean-" + std::to_string(value), "a bool that is neither true nor false", Fault::boolean,
                               scalar(kBool, static_cast<std::uint8_t>(value))));
  }
  cases.push_back(
      value_case("boolean-in-array", "a bool that is neither true nor false", Fault::boolean, array(kBool, 3, {0, 1, 2})));
  const auto string_value = [](std::uint64_t length) {
    Bytes value;
    put<std::uint32_t>(value, kString);
    put_bytes(value, string_of_length(length, "short"));
    return value;
  };
  for (const std::uint64_t length : {std::uint64_t{1} << 20, std::uint64_t{1} << 32, std::uint64_t{1} << 63, UINT64_MAX}) {
    cases.push_back(value_case("string-length-" + std::to_string(length),
                               "length plus one wraps, or is trusted (kin of CVE-2024-23496)", Fault::count,
                               string_value(length)));
  }
  cases.push_back(value_case("string-length-in-array", "a long element in an array of strings (CVE-2024-23496)", Fault::count,
                             array(kString, 2, string_of_length(UINT64_MAX - 7, "x"))));
}

void add_keys(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, Fault fault, const std::string& mentions, const Bytes& key) {
    cases.push_back(gguf_case("key-" + name, "a key that is no name", fault, mentions, [&key](GgufImage& image) {
      image.entries.push_back({"", key, scalar<std::uint32_t>(kU32, 1)});
    }));
  };
  add("empty", Fault::name, "key", gguf_string(""));
  add("65536-bytes", Fault::name, "key", gguf_string(std::string(65536, 'k')));
  add("with-zero", Fault::name, "key 'general\\x00name'", gguf_string(std::string_view("general\0name", 12)));
  add("with-newline", Fault::name, "key 'a\\x0ab'", gguf_string("a\nb"));
  add("with-space", Fault::name, "key 'a b'", gguf_string("a b"));
  add("with-escape", Fault::name, "key '\\x1b[2J'", gguf_string("\x1b[2J"));
  add("not-ascii", Fault::name, "key '\\xc3\\xa4'", gguf_string("\xc3\xa4"));
  add("twice", Fault::duplicate, "key 'general.name'", gguf_string("general.name"));
  add("length-beyond-file", Fault::count, "key", string_of_length(1 << 24, "x"));
  add("length-negative", Fault::count, "key", string_of_length(UINT64_MAX, "x"));
}

void add_alignments(std::vector<Case>& cases) {
  const auto add = [&cases](const std::string& name, const Bytes& value) {
    cases.push_back(gguf_case("alignment-" + name, "an alignment that divides by zero, masks wrongly or skips the file",
                              Fault::alignment, "key 'general.alignment'",
                              [&value](GgufImage& image) { image.set("general.alignment", value); }));
  };
  for (const std::uint32_t alignment : {0U, 1U, 4U, 7U, 24U, 48U, 1U << 21, 1U << 31, 0xffffffffU}) {
    add(std::to_string(alignment), scalar(kU32, alignment));
  }
  add("u64", scalar<std::uint64_t>(kU64, 32));
  add("text", text("32"));
  Bytes payload;
  put<std::uint32_t>(payload, 32);
  add("array", array(kU32, 1, payload));
  cases.push_back(gguf_case("alignment-twice", "the first checked, the second used", Fault::duplicate, "key 'general.alignment'",
                            [](GgufImage& image) {
                              image.set("general.alignment", scalar<std::uint32_t>(kU32, 32));
                              image.entries.push_back(image.entries.back());
                            }));
  cases.push_back(gguf_case("alignment-not-kept", "offsets of another alignment than the stated", Fault::misaligned,
                            "tensor 'blk.0.attn_k.weight'",
                            [](GgufImage& image) { image.set("general.alignment", scalar<std::uint32_t>(kU32, 128)); }));
}

}  // namespace

void add_gguf_metadata_cases(std::vector<Case>& cases) {
  add_arrays(cases);
  add_values(cases);
  add_keys(cases);
  add_alignments(cases);
}

}  // namespace assay::malformed
