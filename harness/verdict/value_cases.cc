#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>

#include "golden/generate_blocks.h"
#include "harness/verdict/check.h"
#include "harness/verdict/coverage.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/row_patterns.h"
#include "harness/verdict/suite.h"
#include "reference/block_packing.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

// So many of an input's elements are exceptional, of short ones one of sixteen; more where too few outputs tell, as of a cache of which a call
// reads a part.
constexpr std::int64_t kFewValues = 8;
constexpr std::int64_t kMostShare = 4;  // at most one in so many
constexpr double kToldBy = 0.125;       // of the outputs
constexpr double kValuesWork = 1 << 18;
constexpr double kUnitWork = 1 << 16;  // where a size is one
// What all other inputs are beside an infinity: what is skipped where it adds nothing, and what closes a gate, gives NaN then.
constexpr float kBesideInfinity[] = {0, -200};

// Real numbers, or blocks of zeros where it is 0; false where it holds others.
bool fill_with(Array& array, float number) {
  const bool holds = number == 0 ? is_float(array.dtype) || is_block(array.dtype) : array.dtype == DType::f32;
  if (holds && number == 0) std::ranges::fill(array.bytes, std::uint8_t{0});
  if (holds && number != 0) set_floats(array, [number](std::int64_t /*i*/, float /*x*/) { return number; });
  return holds;
}

// What a call has of exceptions: one kind, or NaN would hide what becomes of the others. Of blocks, where their bytes come from.
struct Exceptions {
  const char* what;
  std::vector<SpecialNumber> numbers;
  const char* blocks;
  BlockPart BlockParts::*alone =
      nullptr;  // where blocks have sub-blocks: exceptional is this, beside sub-blocks whose own parts are 0
};
const std::array<Exceptions, 5> kExceptions{
    {{"infinities", {SpecialNumber::infinity}, "bits"},
     {"NaN", {SpecialNumber::quiet_nan, SpecialNumber::signalling_nan}, "bits"},
     {"ends",
      {SpecialNumber::zero, SpecialNumber::least, SpecialNumber::largest_denormal, SpecialNumber::least_normal,
       SpecialNumber::largest},
      "wide"},
     {"infinite scales beside zeros", {SpecialNumber::infinity}, "bits", &BlockParts::scale},
     {"infinite minima beside zeros", {SpecialNumber::infinity}, "bits", &BlockParts::minimum}}};

bool takes(const TensorSpec& spec, const Exceptions& kind) {
  if (is_float(spec.dtype)) return kind.alone == nullptr;
  if (!is_block(spec.dtype)) return false;
  const BlockParts parts = parts_of(plain_dtype(spec.dtype));
  return kind.alone == nullptr || (parts.scales.count > 0 && (parts.*kind.alone).count > 0);
}

// By turns a scale, a minimum and none: random bits seldom are NaN.
std::vector<std::uint8_t> exceptional_blocks(const TensorSpec& spec, std::int64_t count, const Exceptions& kind, bool negative,
                                             Draws& draws) {
  const DType plain = plain_dtype(spec.dtype);
  const std::size_t size = dtype_size(plain);
  std::vector<std::uint8_t> blocks(static_cast<std::size_t>(count) * dtype_size(spec.dtype));
  const std::size_t all = blocks.size() / size;
  generate(spec.data.value_or(Distribution{kind.blocks}), draws.below(1U << 16), 0, plain, static_cast<std::int64_t>(all),
           blocks.data());
  const BlockParts parts = parts_of(plain);
  const BlockPart turns[] = {parts.scale, parts.minimum, {}};
  for (std::size_t i = 0; i < all; ++i) {
    const BlockPart part = kind.alone != nullptr ? parts.*kind.alone : turns[i % std::size(turns)];
    if (kind.alone != nullptr) std::fill_n(&blocks[i * size + static_cast<std::size_t>(parts.scales.at)], parts.scales.count, 0);
    if (part.count != sizeof(std::uint16_t) && part.count != sizeof(float)) continue;
    put_special(part.count == sizeof(float) ? DType::f32 : DType::f16, &blocks[i * size + static_cast<std::size_t>(part.at)], 0,
                kind.numbers[i / 3 % kind.numbers.size()], negative);
  }
  if (is_packed(spec.dtype)) {  // side by side, as many rows as there are blocks
    blocks = reference::pack_x16(plain, blocks.data(), static_cast<std::int64_t>(all), dtype_numbers(plain));
  }
  return blocks;
}

// `count` elements, of either sign by turns, first of this; false where the tensor can hold none.
bool put_exceptions(const TensorSpec& spec, Array& array, const Exceptions& kind, std::int64_t count, bool negative,
                    Draws& draws) {
  const std::int64_t elements = array.elements();
  const bool real = is_float(array.dtype);
  if (elements == 0 || !takes(spec, kind)) return false;
  const auto anywhere = [&] { return static_cast<std::int64_t>(draws.below(static_cast<std::uint32_t>(elements))); };
  const std::size_t size = array.bytes.size() / static_cast<std::size_t>(elements);
  const auto few = static_cast<std::size_t>(count);
  const std::vector<std::uint8_t> blocks =
      real ? std::vector<std::uint8_t>{} : exceptional_blocks(spec, count, kind, negative, draws);
  for (std::size_t i = 0; i < few; ++i) {
    if (real) {
      put_special(array.dtype, array.bytes.data(), anywhere(), kind.numbers[i % kind.numbers.size()], (i % 2 == 1) != negative);
    } else {
      std::memcpy(&array.bytes[static_cast<std::size_t>(anywhere()) * size], &blocks[i * size], size);
    }
  }
  return true;
}

// Whether so many of the outputs are others that a kernel which mistakes what became of the exceptions cannot hide; of encoders always.
bool told(const std::vector<reference::Expected>& tame, const std::vector<reference::Expected>& wild) {
  std::size_t all = 0;
  std::size_t others = 0;
  for (std::size_t o = 0; o < tame.size(); ++o) {
    all += tame[o].value.size() + tame[o].bytes.size();
    for (std::size_t i = 0; i < tame[o].value.size(); ++i)
      others += std::bit_cast<std::uint64_t>(tame[o].value[i]) != std::bit_cast<std::uint64_t>(wild[o].value[i]) ? 1 : 0;
    for (std::size_t i = 0; i < tame[o].bytes.size(); ++i) others += tame[o].bytes[i] != wild[o].bytes[i] ? 1 : 0;
  }
  return static_cast<double>(others) >= kToldBy * static_cast<double>(all);
}

// Whether the outputs' infinities have one sign.
bool has_one_sign(const std::vector<reference::Expected>& wild) {
  const auto has = [&](double infinity) {
    return std::ranges::any_of(wild, [&](const reference::Expected& one) { return std::ranges::count(one.value, infinity) > 0; });
  };
  return has(INFINITY) != has(-INFINITY);
}

struct Wild {
  TestCase test;
  bool one_sign;
};

// Exceptions in input `i`, twice as many until they tell; none where it takes none.
std::optional<Wild> wild_case(const Op& op, const Signature& signature, const TestCase& tame,
                              const std::vector<reference::Expected>& truth, std::size_t i, const Exceptions& kind, bool negative,
                              Draws& draws) {
  const std::int64_t elements = tame.inputs[i].elements();
  for (std::int64_t count = std::min(kFewValues, 1 + elements / 16);; count *= 2) {
    TestCase test = tame;
    if (!put_exceptions(signature.tensors[i], test.inputs[i], kind, count, negative, draws)) return std::nullopt;
    const LaidInputs laid(signature, test.inputs);
    test.status = required_status(op, tame.params, laid.tensors());
    if (test.status != ASSAY_OK) return Wild{std::move(test), false};
    const std::vector<reference::Expected> wild = expected_outputs(op, test, laid.tensors());
    if (2 * kMostShare * count > elements || told(truth, wild)) return Wild{std::move(test), has_one_sign(wild)};
  }
}

// Where all infinities have one sign, they have the other in a second case.
void add_wild(const Op& op, const Params& params, const Exceptions& kind, std::uint64_t seed, Draws& draws, std::size_t most,
              std::vector<TestCase>& cases) {
  const Signature signature = signature_of(op, params);
  if (std::ranges::none_of(signature.tensors,
                           [&](const TensorSpec& spec) { return spec.role == Direction::in && takes(spec, kind); }))
    return;
  const TestCase tame = drawn_case(op, params, "gauss", seed);
  std::vector<reference::Expected> truth;
  if (tame.status == ASSAY_OK) truth = expected_outputs(op, tame, LaidInputs(signature, tame.inputs).tensors());
  for (std::size_t i = 0; i < tame.inputs.size() && most > 0; ++i) {
    const auto add = [&](bool negative) {
      std::optional<Wild> wild = wild_case(op, signature, tame, truth, i, kind, negative, draws);
      if (!wild) return false;
      wild->test.name =
          fmt::format("{}{} in {}, {}", negative ? "other " : "", kind.what, signature.tensors[i].name, params.to_string());
      wild->test.repro = "--case values";
      cases.push_back(std::move(wild->test));
      if (!negative) --most;
      return wild->one_sign;
    };
    if (add(false)) add(true);
  }
}

// Infinities in each input in turn, and in all others this number; in blocks, zeros.
void add_beside(const Op& op, const Params& params, float number, std::uint64_t seed, Draws& draws,
                std::vector<TestCase>& cases) {
  const TestCase drawn = drawn_case(op, params, "gauss", seed);
  const Signature signature = signature_of(op, params);
  for (std::size_t i = 0; i < drawn.inputs.size(); ++i) {
    TestCase test = drawn;
    if (!put_exceptions(signature.tensors[i], test.inputs[i], kExceptions[0],
                        std::max<std::int64_t>(1, test.inputs[i].elements() / kMostShare), false, draws))
      continue;
    bool changed = false;
    for (std::size_t other = 0; other < test.inputs.size(); ++other) {
      if (other != i) changed |= fill_with(test.inputs[other], number);
    }
    if (!changed) continue;
    test.status = status_for(op, params, signature, test.inputs);
    test.name = fmt::format("infinities in {} beside {}, {}", signature.tensors[i].name, number, params.to_string());
    test.repro = "--case values";
    cases.push_back(std::move(test));
  }
}

}  // namespace

std::vector<TestCase> value_cases(const Op& op) {
  const ShapeSpace space = op.family->shapes(op);
  std::vector<TestCase> cases;
  for (std::uint32_t seed = 1; seed <= kExceptions.size(); ++seed) {
    Draws draws(seed);
    const Params params = draw_params(op, space, draws, kValuesWork);
    add_wild(op, params, kExceptions[seed - 1], seed, draws, SIZE_MAX, cases);
  }
  for (const float number : kBesideInfinity) {
    Draws draws(1);
    add_beside(op, draw_params(op, space, draws, kValuesWork), number, 1, draws, cases);
  }
  for (const Params& params : space.exceptional) {
    Draws draws(1);
    for (const Exceptions& kind : std::span(kExceptions).first<2>())
      add_wild(op, complete_params(op, params), kind, 1, draws, SIZE_MAX, cases);
  }
  // Beside nothing else: where each size in turn is one.
  std::uint32_t seed = 0;
  for (const Size& size : space.sizes) {
    if (!size.in_every_call()) continue;
    Draws draws(++seed);
    const Params params = draw_params(op, space, draws, kUnitWork, {{size.name, size.unit}});
    add_wild(op, params, kExceptions[seed % 2], seed, draws, 1, cases);
  }
  for (auto* made : {pattern_cases, coincidence_cases}) std::ranges::move(made(op), std::back_inserter(cases));
  return cases;
}

}  // namespace assay
