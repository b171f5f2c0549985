#include <fmt/format.h>

#include "golden/store.h"
#include "harness/verdict/suite.h"
#include "tests/fuzz/hdf5_recipe.h"
#include "tests/fuzz/seeds.h"

namespace assay::fuzz {
namespace {

constexpr std::int64_t kFewElements = 1500;  // of a golden's case, all its tensors together
constexpr std::int64_t kShownValues = 24;    // of a tensor; they are repeated

std::string type_name(DType dtype) {
  return is_block(dtype) ? "u8" : dtype == DType::bf16 ? "u16" : std::string(dtype_name(dtype));
}

std::string value_text(const Array& array, std::int64_t index) {
  switch (array.dtype) {
    case DType::f32:
    case DType::f16:
    case DType::f64:
      return fmt::format("{:.6g}", element_as_double(array.dtype, array.bytes.data() +
                                                                      static_cast<std::size_t>(index) * dtype_size(array.dtype)));
    case DType::i32:
      return std::to_string(array.as<std::int32_t>()[index]);
    case DType::i64:
      return std::to_string(array.as<std::int64_t>()[index]);
    case DType::bf16:
      return std::to_string(array.as<std::uint16_t>()[index]);
    default:
      return std::to_string(array.bytes[static_cast<std::size_t>(index)]);
  }
}

std::string dataset_line(const std::string& path, const Array& array) {
  std::vector<std::int64_t> shape = array.shape;
  if (is_block(array.dtype)) shape.push_back(static_cast<std::int64_t>(dtype_size(array.dtype)));
  std::string line = fmt::format("D {} {} {} plain", path, type_name(array.dtype),
                                 shape.empty() ? "scalar" : fmt::format("{}", fmt::join(shape, "x")));
  const std::int64_t values = is_block(array.dtype) ? std::ssize(array.bytes) : array.elements();
  for (std::int64_t i = 0; i < std::min(values, kShownValues); ++i) line += " " + value_text(array, i);
  line += "\n";
  if (is_block(array.dtype)) line += fmt::format("A {} dtype s {}\n", path, dtype_name(array.dtype));
  if (array.dtype == DType::bf16) line += fmt::format("A {} dtype s bfloat16\n", path);
  return line;
}

std::string attribute_line(const std::string& path, const std::string& name, const ParamValue& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("A {} {} i {}\n", path, name, *whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("A {} {} r {:.9g}\n", path, name, *real);
  const auto& text = std::get<std::string>(value);
  return text.empty() ? "" : fmt::format("A {} {} s {}\n", path, name, text.substr(0, 64));
}

std::string generated_lines(const std::string& path, const GeneratedInput& recipe, const Array& array) {
  std::string out =
      fmt::format("G {}\nA {} generator s philox4x32-10\nA {} distribution s {}\n", path, path, path, recipe.distribution.name);
  for (const auto& [name, value] : {std::pair{"seed", static_cast<std::int64_t>(recipe.seed)},
                                    {"stream", std::int64_t{recipe.stream}},
                                    {"low", recipe.distribution.low},
                                    {"high", recipe.distribution.high}}) {
    out += attribute_line(path, name, value);
  }
  out += attribute_line(path, "scale", recipe.distribution.scale) +
         fmt::format("A {} shape a {}\n", path, fmt::join(array.shape, " "));
  return out + fmt::format("A {} dtype s {}\nA {} sha256 s {}\n", path, dtype_name(array.dtype), path, recipe.sha256);
}

std::int64_t elements_of(const GoldenCase& one) {
  std::int64_t elements = 0;
  for (const auto& [name, array] : one.inputs) elements += std::ssize(array.bytes) / 4;
  for (const auto& [name, kept] : one.truth) elements += kept.values.elements();
  return elements;
}

std::string recipe_of(const GoldenFile& file, const GoldenCase& one) {
  const std::string group = "/cases/" + one.name;
  std::string out = fmt::format("A / schema i 1\nA / op s {}\nG {}\nG {}/params\nG {}/inputs\n", file.op(), group, group, group);
  std::string tags;
  for (const std::string& tag : one.tags) tags += (tags.empty() ? "" : " ") + tag;
  out += attribute_line(group, "tags", tags) + attribute_line(group, "status", one.status);
  for (const auto& [name, value] : one.params.values()) out += attribute_line(group + "/params", name, value);
  for (const auto& [name, array] : one.inputs) {
    const auto generated = one.generated.find(name);
    const std::string path = group + "/inputs/" + name;
    out += generated == one.generated.end() ? dataset_line(path, array) : generated_lines(path, generated->second, array);
  }
  for (const auto& [kind, all] : {std::pair{"truth", &one.truth}, {"canonical", &one.canonical}}) {
    for (const auto& [name, kept] : *all) {
      const std::string path = fmt::format("{}/{}/{}", group, kind, name);
      out += dataset_line(path, kept.values);
      if (kept.index.empty()) continue;
      out += fmt::format("D {}.index i64 {} plain {}\n", path, kept.index.size(), fmt::join(kept.index, " "));
    }
  }
  for (const auto& [name, array] : one.parts) out += dataset_line(group + "/parts/" + name, array);
  return out;
}

constexpr std::string_view kTraceHead = R"(A / schema i 1
A / kind s trace
A / model s kjv
A / weights s bf16
A / recipe s assay
A / rope s f64
A / dtype s float32
D /plan u8 2 plain 123 125
G /prompts
)";

constexpr std::string_view kWholePrompt = R"(D /prompts/genesis/text u8 5 plain 72 101 108 108 111
D /prompts/genesis/tokens i32 3 plain 10 11 12
D /prompts/genesis/positions i32 2 plain 0 2
D /prompts/genesis/sites/embed f32 2x8 deflate 1 2 3
A /prompts/genesis/sites/embed step i 0
D /prompts/genesis/sites/layers.00.q_rope f32 2x2x4 plain 0
A /prompts/genesis/sites/layers.00.q_rope step i 5
D /prompts/genesis/sites/layers.00.attn f16 2x8 fletcher 0.5 -1
A /prompts/genesis/sites/layers.00.attn step i 7
D /prompts/genesis/sites/layers.00.attn.quant u8 2x1x34 chunks 1 2 3 4
A /prompts/genesis/sites/layers.00.attn.quant dtype s q8_0
A /prompts/genesis/sites/layers.00.attn.quant step i 9
D /prompts/genesis/sites/final_norm u16 2x8 compact 16256
A /prompts/genesis/sites/final_norm dtype v bfloat16
A /prompts/genesis/sites/final_norm step i 40
D /prompts/genesis/logits f64 2x16 plain 0.25
D /prompts/genesis/greedy/tokens i32 2 plain 4 5
D /prompts/genesis/greedy/gap f32 2 plain 0.1 nan
)";

constexpr std::string_view kBarePrompt = R"(D /prompts/bare/tokens i32 1 plain 1
D /prompts/bare/positions i32 1 plain 0
G /prompts/bare/sites
D /prompts/bare/logits f32 1x4 plain 1 2 3 4
)";

Seed seed(const std::string& name, std::string_view text) {
  return {name, {text.begin(), text.end()}};
}

}  // namespace

// Of each op the first case that is small.
std::vector<Seed> golden_recipes() {
  std::vector<Seed> seeds;
  for (const auto& path : golden_files(own_golden())) {
    const GoldenFile file(path, Hdf5Origin::known);
    for (const std::string& name : file.case_names()) {
      const GoldenCase one = file.read(name);
      if (elements_of(one) > kFewElements) continue;
      seeds.push_back(seed(file.op(), recipe_of(file, one)));
      break;
    }
  }
  return seeds;
}

std::vector<Seed> trace_recipes() {
  const std::string head(kTraceHead);
  return {seed("whole", head + std::string(kWholePrompt)), seed("bare", head + std::string(kBarePrompt)),
          seed("both", head + std::string(kBarePrompt) + std::string(kWholePrompt))};
}

}  // namespace assay::fuzz
