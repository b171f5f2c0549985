#include "harness/verdict/cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/verdict/call.h"
#include "harness/verdict/coincidences.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/generate_input.h"
#include "harness/verdict/nearest.h"
#include "harness/verdict/shell.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

AssayStatus require_status(const std::string& name) {
  if (const auto status = status_from_name(name)) return *status;
  throw std::invalid_argument(unknown_name("status", name, {kStatusNames.begin(), kStatusNames.end()}));
}

// Of which the truth tells every element: sums stay finite. First those whose ends may be loud (generate_input.h).
constexpr std::array<std::string_view, 4> kShapeData{"gauss", "uniform", "near", "ties"};
constexpr std::span kLongShapeData = std::span(kShapeData).first<2>();
// What drawn_case knows by name; of blocks and tensors with data of their own it makes what it can.
constexpr std::array<std::string_view, 18> kRandomData{
    "gauss",    "positive", "uniform",  "mixed_zero", "wide", "edges",       "near",        "ties",        "underflow",
    "specials", "specials", "denormal", "bits",       "ties", kCoincidences, kCoincidences, kCoincidences, kCoincidences};

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

std::optional<TestCase> judged_by_bias(const Op& op, const GeneratedCase& generated, std::optional<std::uint64_t> seed) {
  if (generated.params.values().empty()) return std::nullopt;
  TestCase test;
  test.params = generated.params;
  test.seed = seed.value_or(generated.seed);
  test.judge_bias = true;
  test.repro = "--case bias";
  test.inputs = generate_inputs(signature_of(op, test.params), generated.data, "gauss", *test.seed);
  return test;
}

ParamValue param_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_integer()) return value.get<std::int64_t>();
  return value.get<double>();
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
  test.repro = "--case " + quoted(name);
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

std::optional<TestCase> bias_test_case(const Op& op, std::optional<std::uint64_t> seed) {
  std::optional<TestCase> test = judged_by_bias(op, op.family->bias_case(op), seed);
  if (!test) return std::nullopt;
  test->name = seed ? fmt::format("bias {}", *seed) : "bias";
  test->drawn = seed.has_value();
  if (seed) test->repro += fmt::format(" --seed {}", *seed);
  return test;
}

std::optional<TestCase> long_bias_test_case(const Op& op) {
  std::optional<TestCase> test = judged_by_bias(op, op.family->long_bias_case(op), std::nullopt);
  if (!test) return std::nullopt;
  test->name = "bias of long rows";
  test->drawn = true;
  return test;
}

Params complete_params(const Op& op, const Params& given) {
  const ShapeSpace space = op.family->shapes(op);
  std::vector<std::string> known;
  Params params = given;
  for (const Size& size : space.sizes) {
    known.emplace_back(size.name);
    if (!params.has(size.name) && size.in_every_call()) params.set(size.name, size.fallback);
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
  TestCase test =
      drawn_case(op, drawn ? draw_params(op, op.family->shapes(op), draws, kRandomWork) : complete_params(op, request.shape),
                 request.data, request.seed);
  test.drawn = drawn;
  test.name = fmt::format("{} {} seed {}", request.data, test.params.to_string(), request.seed);
  test.repro = fmt::format("{}--data {} --seed {} --cases 1", drawn ? "" : "--shape " + request.shape.to_string() + " ",
                           request.data, request.seed);
  return test;
}

std::uint32_t seed_of(std::string_view name) {
  std::uint32_t seed = 2166136261;
  for (const char letter : name) seed = (seed ^ static_cast<unsigned char>(letter)) * 16777619;
  return seed;
}

TestCase shape_test_case(const Op& op, Params params) {
  // By the name, so that a case stays what it is when others come or go.
  const std::string name = params.to_string();
  const std::uint32_t seed = seed_of(name);
  Draws draws(seed);
  const bool is_long = std::ranges::any_of(signature_of(op, params).tensors, has_long_rows);
  const std::string_view data = is_long ? draws.of(kLongShapeData) : draws.of(kShapeData);
  TestCase test = drawn_case(op, std::move(params), std::string(data), seed);
  test.name = name;
  test.repro = "--case " + quoted(name);
  return test;
}

std::vector<GeneratedRequest> kept_cases(const std::filesystem::path& list, const Op& op) {
  std::vector<GeneratedRequest> kept;
  std::ifstream in(list);
  if (!in) return kept;
  try {
    for (const nlohmann::json& one : nlohmann::json::parse(in)) {
      if (one.at("op").get<std::string>() != op.name) continue;
      GeneratedRequest& request = kept.emplace_back();
      request.data = one.at("data").get<std::string>();
      request.seed = one.at("seed").get<std::uint64_t>();
      for (const auto& [name, value] : one.at("shape").items()) request.shape.set(name, param_of(value));
    }
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(list.string() + ": " + error.what());
  }
  return kept;
}

TestCase random_test_case(const Op& op, std::uint64_t seed, double work) {
  Draws draws(seed);
  const std::string data(draws.of(kRandomData));
  TestCase test = drawn_case(op, draw_params(op, op.family->shapes(op), draws, work), data, seed);
  test.name = fmt::format("random {}, {} {}", seed, data, test.params.to_string());
  test.repro = fmt::format("--case random --seed {} --cases 1{}", seed, work > kRandomWork ? " --long" : "");
  test.data = data;
  return test;
}

}  // namespace assay
