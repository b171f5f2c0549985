// Which calls must be refused, and which taken: made of an op's fields.
#include "harness/verdict/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "harness/verdict/discipline/faults.h"
#include "harness/verdict/drawn_case.h"
#include "harness/verdict/patterns.h"
#include "reference/ops/status.h"

namespace assay {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

// One field: below 0, none, two of what there may be one, just past the limit of sizes, as large as there is.
constexpr std::int64_t kOne[] = {-1, 0, kLeast, 2, kMostElements + 1, kMost};
constexpr std::int64_t kUnderChoices[] = {-1, 0, 1, 3, 16, kMost};  // beside a choice or a real number
// Past 32 bits. Of an array's length left out: the references look at each element.
constexpr std::int64_t kWide = std::int64_t{1} << 31;
// Of those that have a few values: none of them.
constexpr std::int64_t kNoChoice[] = {-1, 1 << 20};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kReals[] = {0, -1, 0.5, 1e30, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN()};
// Two fields, each a size that may be: a product just past the limit, one that wraps to 0 and one that wraps below 0.
constexpr std::int64_t kTwo[] = {std::int64_t{1} << 26, std::int64_t{1} << 32, 3037000500};
// A position and a size: their sum wraps. A multiple of 16, as a span's must be.
constexpr std::int64_t kFar = kMost - 15;
// Three: a product that wraps to 0, though that of no two does; and, one of them small, as an op's own limit may ask, one past the limit.
constexpr std::int64_t kThree = std::int64_t{1} << 22;
constexpr std::int64_t kSmall = 256;
constexpr std::int64_t kBesideSmall = std::int64_t{1} << 43;  // a product of 2^51
constexpr std::int64_t kIgnored = 1 << 20;                    // as a stride larger than any row of a small call
constexpr std::int64_t kNoMemory = 64;                        // an address at which no system maps anything

constexpr const char* kOrdinals[] = {"first", "second", "third"};

// Every size that has no value of its own as small as the op takes it.
Params smallest(const ShapeSpace& space) {
  Params params;
  for (const Size& size : space.sizes) {
    if (size.in_every_call()) params.set(size.name, size.unit);
  }
  for (const Choice& choice : space.choices) params.set(choice.name, choice.values.front());
  return params;
}

std::vector<Array> zeros(const Signature& signature) {
  std::vector<Array> inputs;
  for (const TensorSpec& spec : signature.tensors) {
    if (spec.role != Direction::in) continue;
    Array& one = inputs.emplace_back();
    one.dtype = spec.dtype;
    one.shape = spec.shape;
    one.bytes.resize(static_cast<std::size_t>(spec.elements()) * dtype_size(spec.dtype));
  }
  return inputs;
}

bool is_int64(FieldKind kind) {
  using enum FieldKind;
  return kind == size || kind == number || kind == any || kind == length;
}

// Not of sizes alone: positions, and what else may be refused by the op.
bool is_place(const FieldValue& number) {
  return number.field->kind == FieldKind::any || number.field->kind == FieldKind::number;
}

bool is_nothing(const FieldValue& number) {
  return !number.field->at_least && number.value == decltype(number.value){std::int64_t{0}};
}

// The int64s of the argument struct and of the structs in its array. An array's length is none to be multiplied: whoever reads so many
// elements reads past its end.
std::vector<FieldValue> numbers_of(const Family& family) {
  std::vector<FieldValue> all;
  for (const Field& field : family.fields) {
    if (is_int64(field.kind)) all.push_back({&field, 0});
  }
  for (const Field& field : family.array_fields) {
    if (is_int64(field.kind)) all.push_back({&field, 0, 0});
  }
  return all;
}

FieldValue with(FieldValue number, std::int64_t value) {
  number.value = value;
  return number;
}

// No stride is too short then, and only the product of all sizes too large.
std::vector<FieldValue> at_once(std::vector<FieldValue> numbers) {
  std::erase_if(numbers, [](const FieldValue& number) { return number.field->kind == FieldKind::length; });
  for (FieldValue& number : numbers) number = with(number, kThree);
  return numbers;
}

}  // namespace

std::string describe(const std::vector<FieldValue>& instead) {
  std::string text;
  for (const FieldValue& one : instead) {
    text += text.empty() ? "" : ", ";
    if (one.element) text += fmt::format("the {} span's ", kOrdinals[*one.element]);
    text += fmt::format("{} = ", one.field->name);
    text += std::visit([](auto value) { return fmt::format("{}", value); }, one.value);
  }
  return text;
}

RefusalCheck::RefusalCheck(const Op& op, std::size_t page) : op_(op) {
  const ShapeSpace space = op.family->shapes(op);
  const auto add_base = [&](const Params& params, std::vector<Array> inputs) {
    bases_.push_back({Call(op, params, std::move(inputs), page)});
    bases_.back().point_to_ends();
  };
  Params params = smallest(space);
  add_base(params, zeros(signature_of(op, params)));
  TestCase several = drawn_case(op, square_params(op, ""), "gauss", kPatternSeed);
  add_base(several.params, std::move(several.inputs));
  if (!space.three.values().empty()) {
    for (const auto& [name, value] : space.three.values()) params.set(name, value);
    add_base(params, zeros(signature_of(op, params)));
  }
  // The simplest first: one number, then several.
  const std::vector<FieldValue> numbers = numbers_of(*op.family);
  for (const FieldValue& number : numbers) add_one(number);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (std::size_t j = i + 1; j < numbers.size(); ++j) add_several(numbers, i, j);
  }
  add(at_once(numbers));
  for (const Field& field : op.family->fields) add_no_number(field, numbers);
  // A tensor that the call does not have need not be null.
  const std::vector<TensorSpec>& tensors = bases_[kSmallest].call.signature().tensors;
  for (const Field& field : op.family->fields) {
    if (field.kind == FieldKind::tensor && std::ranges::find(tensors, field.name, &TensorSpec::name) == tensors.end())
      add_taken({&field, kNoMemory});
  }
}

void RefusalCheck::add_one(const FieldValue& number) {
  const FieldKind kind = number.field->kind;
  for (const std::int64_t value : kOne) {
    const bool past_array = kind == FieldKind::length && value == 2;  // it has one: the second lies past its end
    if (!past_array) add({with(number, value)});
  }
  if (kind != FieldKind::length) add({with(number, kWide)});
  if (kind == FieldKind::size && !number.element) add_edge(number);
  for (const std::size_t element : {1, 2}) {
    for (const std::int64_t value : kOne)
      if (number.element && bases_.size() > kThreeStructs) add({{number.field, value, element}}, kThreeStructs);
  }
  if (kind == FieldKind::size && !number.element) add_ignored(number);
  // What counts nowhere in a call of one row, or changes nothing.
  for (const std::int64_t value : {std::int64_t{0}, kMostElements, kMost}) {
    if (number.field->at_least || (kind == FieldKind::number && value == kMost)) add_taken(with(number, value));
  }
}

// Of two numbers, and a third.
void RefusalCheck::add_several(const std::vector<FieldValue>& numbers, std::size_t i, std::size_t j) {
  // Nothing to do does not make it right, neither what is no size nor what is no multiple of a block.
  for (const auto& [one, other] : {std::pair(i, j), std::pair(j, i)})
    for (const std::int64_t value : {-1, 1}) add({with(numbers[one], 0), with(numbers[other], value)});
  const auto is_length = [&](std::size_t n) { return numbers[n].field->kind == FieldKind::length; };
  if (is_length(i) || is_length(j)) return;
  // Strides of 0, so that sizes alone are too large; empty where one of the fields is a stride itself.
  const auto no_strides = [&](std::vector<FieldValue> instead) {
    if (std::ranges::any_of(instead, [](const FieldValue& one) { return one.field->at_least; })) return std::vector<FieldValue>{};
    for (const FieldValue& number : numbers) {
      if (number.field->at_least) instead.push_back(with(number, 0));
    }
    return instead;
  };
  for (const std::int64_t value : kTwo) add({with(numbers[i], value), with(numbers[j], value)});
  for (const auto& [one, other] : {std::pair(i, j), std::pair(j, i)})
    add(no_strides({with(numbers[one], kBesideSmall), with(numbers[other], kSmall)}));
  if (is_place(numbers[i])) add({with(numbers[i], kFar), with(numbers[j], kTwo[0])});
  if (is_place(numbers[j])) add({with(numbers[i], kTwo[0]), with(numbers[j], kFar)});
  for (std::size_t k = j + 1; k < numbers.size(); ++k) {
    if (is_length(k)) continue;
    const std::vector<FieldValue> three{with(numbers[i], kThree), with(numbers[j], kThree), with(numbers[k], kThree)};
    add(three);
    for (std::size_t small = 0; small < three.size(); ++small) {
      std::vector<FieldValue> one_small = three;
      one_small[small].value = kSmall;
      add(no_strides(std::move(one_small)));
    }
  }
}

// A choice, or a real.
void RefusalCheck::add_no_number(const Field& field, const std::vector<FieldValue>& numbers) {
  const auto each = [&](const auto& values) {
    for (const auto value : values) add({{&field, value}});
  };
  // Beside a number that is none, of which an op says what comes first, and where there is nothing to do, which does not make it right.
  const auto beside_numbers = [&](auto value) {
    for (const FieldValue& number : numbers)
      for (const std::int64_t other : kUnderChoices) {
        if (number.field->kind != FieldKind::length || other <= 1) add({with(number, other), {&field, value}});
      }
  };
  for (std::size_t choice = 1; choice < field.choices.size(); ++choice) {  // what is refused is so under every choice
    for (const FieldValue& number : numbers)
      for (const std::int64_t value : kUnderChoices) add({with(number, value), {&field, static_cast<std::int64_t>(choice)}});
  }
  if (field.kind == FieldKind::choice || field.kind == FieldKind::int32) {
    each(kNoChoice);
    add_taken({&field, kNoChoice[0]});
    beside_numbers(kNoChoice[0]);
  }
  if (field.kind == FieldKind::real32 || field.kind == FieldKind::real64) {
    each(kReals);
    beside_numbers(kReals[0]);
    beside_numbers(kInfinity);
  }
}

// How it must be refused, whatever its tensors hold; none: it need not be. Where several sizes and nothing else are changed, the sizes decide,
// unless there is nothing to do: an op looks at tensors when its sizes may be.
std::optional<AssayStatus> RefusalCheck::refusal(const std::vector<FieldValue>& instead, BaseCall base) const {
  const Arguments args(op_, bases_[base].call.params(), bases_[base].pointers, instead);
  const auto is_size = [](const FieldValue& one) { return is_int64(one.field->kind) && !is_place(one) && !is_nothing(one); };
  const bool of_sizes = instead.size() > 1 && std::ranges::all_of(instead, is_size);
  const bool may = may_be(op_.family->sizes(op_, args.data()));
  AssayStatus status = may ? ASSAY_OK : ASSAY_BAD_SHAPE;
  const bool looks = !of_sizes && catch_faults([&] { status = required_status(op_, args.data()); });
  return status != ASSAY_OK && !looks ? std::optional(status) : std::nullopt;
}

void RefusalCheck::add(std::vector<FieldValue> instead, BaseCall base) {
  if (instead.empty()) return;
  if (const auto status = refusal(instead, base)) calls_.push_back({std::move(instead), *status, base});
}

// The least that is refused of a size, in steps that are whole blocks of every format: an op may have a limit of its own.
void RefusalCheck::add_edge(const FieldValue& size) {
  const auto refused = [&](std::int64_t steps) { return refusal({with(size, steps * kSmall)}, kSmallest).has_value(); };
  std::int64_t low = 1;
  std::int64_t high = kMostElements / kSmall + 1;
  if (refused(low)) return;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (refused(middle) ? high : low) = middle;
  }
  add({with(size, high * kSmall)});
}

// If it is one to be taken.
void RefusalCheck::add_taken(const FieldValue& instead) {
  Call& call = bases_[kSmallest].call;
  call.place(call.placements().front());
  const Arguments args(op_, call.params(), call.pointers(), {&instead, 1});
  if (required_status(op_, args.data()) == ASSAY_OK) taken_.push_back({{instead}, ASSAY_OK});
}

// A number that is no parameter of the op, or a stride, by which no tensor lies otherwise.
void RefusalCheck::add_ignored(const FieldValue& stride) {
  const bool is_parameter = stride.field->param == nullptr || *stride.field->param != '\0';
  if (is_parameter && !stride.field->at_least) return;
  Call& call = bases_[kSeveral].call;
  call.place(call.placements().front());
  const std::vector<FieldValue> instead{with(stride, kIgnored)};
  const Arguments args(op_, call.params(), call.pointers(), instead);
  const auto alike = [](const TensorSpec& one, const TensorSpec& other) {
    return one.shape == other.shape && one.strides == other.strides && one.begin == other.begin;
  };
  if (!may_be(op_.family->sizes(op_, args.data()))) return;
  const Signature signature = op_.family->signature(op_, call.params(), args.data());
  if (!std::ranges::equal(signature.tensors, call.signature().tensors, alike)) return;
  if (required_status(op_, args.data()) == ASSAY_OK) taken_.push_back({instead, ASSAY_OK, kSeveral});
}

}  // namespace assay
