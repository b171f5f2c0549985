#include "harness/verdict/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>

#include "golden/philox.h"
#include "harness/verdict/call.h"
#include "harness/verdict/generate_input.h"
#include "harness/verdict/nearest.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

AssayStatus require_status(const std::string& name) {
  if (const auto status = status_from_name(name)) return *status;
  throw std::invalid_argument(unknown_name("status", name, {kStatusNames.begin(), kStatusNames.end()}));
}

// The draws of one generated case's shape: a stream that no tensor uses.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : seed_(seed) {}
  std::uint32_t below(std::uint32_t bound) {
    constexpr std::uint32_t kStream = 0xffffffff;
    return static_cast<std::uint32_t>((std::uint64_t{philox_block(seed_, kStream, next_++)[0]} * bound) >> 32);
  }

 private:
  std::uint64_t seed_;
  std::uint64_t next_ = 0;
};

// Half the sizes lie beside a vector width, the rest anywhere.
std::int64_t draw_size(const Size& size, Draws& draws) {
  constexpr std::array<std::int64_t, 16> kEdges{1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 129};
  std::int64_t value = draws.below(static_cast<std::uint32_t>(size.most)) + 1;
  if (draws.below(2) == 0) value = std::min(kEdges[draws.below(kEdges.size())], size.most);
  return (value + size.unit - 1) / size.unit * size.unit;
}

Params draw_params(const ShapeSpace& space, Draws& draws) {
  Params params;
  for (const Size& size : space.sizes) {
    if (size.stride_of == nullptr) {
      if (!size.optional || draws.below(2) == 0) params.set(size.name, draw_size(size, draws));
    } else if (draws.below(2) == 0) {
      params.set(size.name, (params.integer(size.stride_of) + size.unit - 1) / size.unit + draws.below(20));
    }
  }
  for (const Choice& choice : space.choices) {
    params.set(choice.name, choice.values[draws.below(static_cast<std::uint32_t>(choice.values.size()))]);
  }
  return params;
}

std::vector<Array> generate_inputs(const Signature& signature, const std::map<std::string, Distribution>& data,
                                   const std::string& fallback, std::uint64_t seed) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : signature.tensors) {
    if (spec.role != Direction::in) continue;
    const auto named = data.find(spec.name);
    const Distribution distribution = named != data.end() ? named->second : distribution_for(spec, fallback);
    const auto stream = static_cast<std::uint32_t>(inputs.size());
    inputs.push_back(generate_input(spec, distribution, seed, stream));
  }
  return inputs;
}

// What a kernel must return, which may depend on the values of inputs: laid out as the signature says.
AssayStatus status_for(const Op& op, const Params& params, const Signature& signature, const std::vector<Array>& inputs) {
  std::vector<std::unique_ptr<std::byte[]>> memory;
  std::vector<void*> pointers;
  auto input = inputs.begin();
  for (const TensorSpec& spec : signature.tensors) {
    memory.push_back(std::make_unique_for_overwrite<std::byte[]>(spec.extent_bytes()));
    pointers.push_back(memory.back().get());
    if (spec.role == Direction::in) scatter(spec, *input++, pointers.back());
  }
  return required_status(op, params, pointers);
}

// Truth and canonical bits must fit the outputs they are of.
void check_kept(const std::string& where, const Signature& signature, const std::map<std::string, Kept>& kept) {
  for (const auto& [name, values] : kept) {
    const auto spec = std::find_if(signature.tensors.begin(), signature.tensors.end(),
                                   [&n = name](const TensorSpec& s) { return s.name == n && s.role == Direction::out; });
    if (spec == signature.tensors.end()) throw std::invalid_argument(where + ": the op has no output '" + name + "'");
    if (values.index.empty() && values.values.shape != spec->shape) {
      throw std::invalid_argument(fmt::format("{}: truth of '{}' is [{}]; expected [{}]", where, name,
                                              fmt::join(values.values.shape, ", "), fmt::join(spec->shape, ", ")));
    }
    for (const std::int64_t index : values.index) {
      if (index < 0 || index >= spec->elements()) {
        throw std::invalid_argument(
            fmt::format("{}: index {} of '{}' lies outside its {} elements", where, index, name, spec->elements()));
      }
    }
  }
}

}  // namespace

bool TestCase::has_tag(std::string_view tag) const {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

TestCase case_from_golden(const Op& op, const GoldenFile& file, const std::string& name) {
  const std::string where = file.path().string() + ": case " + name;
  GoldenCase golden = file.read(name);
  TestCase test;
  test.name = name;
  test.source = file.path().string();
  test.tags = golden.tags;
  test.params = golden.params;
  test.repro = "--case " + name;
  try {
    test.status = require_status(golden.status);
    const Signature signature = signature_of(op, test.params);
    for (const TensorSpec& spec : signature.tensors) {
      if (spec.role != Direction::in) continue;
      const auto input = golden.inputs.find(spec.name);
      if (input == golden.inputs.end()) throw std::invalid_argument("input '" + spec.name + "' is missing");
      test.inputs.push_back(std::move(input->second));
    }
    check_kept(where, signature, golden.truth);
    check_kept(where, signature, golden.canonical);
  } catch (const std::logic_error& error) {
    throw std::invalid_argument(where + ": " + error.what());
  }
  if (golden.truth.empty() && test.status == ASSAY_OK) throw std::invalid_argument(where + ": holds no truth");
  test.truth = std::move(golden.truth);
  test.canonical = std::move(golden.canonical);
  test.parts = std::move(golden.parts);
  return test;
}

std::optional<TestCase> bias_test_case(const Op& op) {
  const GeneratedCase generated = op.family->bias_case(op);
  if (generated.params.values().empty()) return std::nullopt;
  TestCase test;
  test.name = "bias";
  test.params = generated.params;
  test.seed = generated.seed;
  test.judge_bias = true;
  test.repro = "--case bias";
  test.inputs = generate_inputs(signature_of(op, test.params), generated.data, "gauss", generated.seed);
  return test;
}

Params complete_params(const Op& op, const Params& given) {
  const ShapeSpace space = op.family->shapes(op);
  std::vector<std::string> known;
  Params params = given;
  for (const Size& size : space.sizes) {
    known.emplace_back(size.name);
    if (!params.has(size.name) && size.stride_of == nullptr && !size.optional) params.set(size.name, size.fallback);
  }
  for (const Choice& choice : space.choices) {
    known.emplace_back(choice.name);
    if (!params.has(choice.name)) params.set(choice.name, choice.values.front());
  }
  for (const auto& [name, value] : given.values()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw std::invalid_argument(fmt::format("{} has {}", op.name, unknown_name("parameter", name, known)));
    }
  }
  return params;
}

TestCase generated_test_case(const Op& op, const GeneratedRequest& request) {
  Draws draws(request.seed);
  const bool drawn = request.shape.values().empty();
  TestCase test;
  test.params = drawn ? draw_params(op.family->shapes(op), draws) : complete_params(op, request.shape);
  test.seed = request.seed;
  test.name = fmt::format("{} {} seed {}", request.data, test.params.to_string(), request.seed);
  test.repro = fmt::format("{}--data {} --seed {} --cases 1", drawn ? "" : "--shape " + request.shape.to_string() + " ",
                           request.data, request.seed);
  test.tags.emplace_back("trivial");  // a draw is not chosen: one that zeros would pass is counted, and fails if all are
  const Signature signature = signature_of(op, test.params);
  test.inputs = generate_inputs(signature, {}, request.data, request.seed);
  test.status = status_for(op, test.params, signature, test.inputs);
  return test;
}

}  // namespace assay
