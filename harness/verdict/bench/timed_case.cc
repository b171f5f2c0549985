#include "harness/verdict/bench/timed_case.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "harness/verdict/call_image.h"
#include "harness/verdict/element_text.h"
#include "harness/verdict/strided.h"

namespace assay::bench {
namespace {

constexpr std::uint64_t kMostSlots = 1 << 17;
constexpr std::int64_t kPatternNumbers = 65521;  // primes
constexpr std::int64_t kPatternBlocks = 4093;
constexpr std::uint32_t kStirredLine = 64;
constexpr std::uint32_t kLeastBlock = 12;  // stir() turns bytes 4 to 11

std::uint64_t second_level_cache_bytes() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 20;
}

std::uint32_t unit_of(DType dtype) {
  const auto size = static_cast<std::uint32_t>(dtype_size(dtype));
  if (is_packed(dtype)) return 0;
  if (is_block(dtype)) return size >= kLeastBlock ? size : 0;
  return kStirredLine;
}

// Three bits of a mantissa stay, and with sign and exponent about what the number was. None where some number is 0 or not finite, or where
// numbers mean something.
std::uint64_t free_bits_of(const TensorSpec& spec, const Array& pattern) {
  if (spec.data || is_block(spec.dtype)) return 0;
  const std::size_t size = dtype_size(spec.dtype);
  for (std::size_t at = 0; at < pattern.bytes.size(); at += size) {
    const double number = element_as_double(spec.dtype, &pattern.bytes[at]);
    if (number == 0 || !std::isfinite(number)) return 0;
  }
  constexpr std::uint64_t kOfF32 = 0x000f'ffff'000f'ffff;
  constexpr std::uint64_t kOfF16 = 0x007f'007f'007f'007f;
  constexpr std::uint64_t kOfBf16 = 0x000f'000f'000f'000f;
  return spec.dtype == DType::f32 ? kOfF32 : spec.dtype == DType::f16 ? kOfF16 : spec.dtype == DType::bf16 ? kOfBf16 : 0;
}

// Addresses that no memory has, far apart: tensor t lies at the start of the t-th.
void* address_of(std::size_t tensor) {
  return reinterpret_cast<void*>((tensor + 1) << 44);  // NOLINT(performance-no-int-to-ptr): it is only looked at
}

PlaceInMemory place_of(const void* address) {
  return {(reinterpret_cast<std::uintptr_t>(address) >> 44) - 1, 0};
}

}  // namespace

TimedCase::TimedCase(const Op& op, const Params& params, Temperature temperature, const std::string& packed_tensor)
    : op_(op), params_(params), signature_(signature_of(op, params)) {
  const std::vector<TensorSpec>& specs = signature_.tensors;
  std::vector<void*> pointers;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const auto on =
        std::ranges::find(specs, specs[t].in_place_only ? specs[t].aliases.front() : specs[t].name, &TensorSpec::name);
    lies_on_.push_back(static_cast<std::size_t>(on - specs.begin()));
    pointers.push_back(address_of(lies_on_[t]));
    patterns_.push_back(specs[t].role == Direction::in ? pattern_of(specs[t], static_cast<std::uint32_t>(t),
                                                                    is_block(specs[t].dtype) ? kPatternBlocks : kPatternNumbers)
                                                       : Array{});
  }
  std::uint64_t slot_bytes = 0;
  std::uint64_t read_bytes = 0;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    TimedTensor& one = tensors_.emplace_back();
    one.bytes = lies_on_[t] == t ? specs[t].extent_bytes() : 0;
    one.keep = specs[t].role == Direction::out ? Keep::shared : Keep::own;
    one.element = static_cast<std::uint32_t>(dtype_size(specs[t].dtype));
    one.unit = unit_of(specs[t].dtype);
    one.pattern = std::as_bytes(std::span(patterns_[t].bytes));
    if (specs[t].role == Direction::in) one.free_bits = free_bits_of(specs[t], patterns_[t]);
    slot_bytes += one.bytes;
    if (specs[t].role == Direction::in) read_bytes += one.bytes;
  }
  for (const std::size_t t : written()) tensors_[t].keep = Keep::shared;
  // Where there is less to compute than to find out what has changed, to change all of it would take longer than the call.
  constexpr double kOfExp = 16;
  const Cost cost = cost_of(op, params);
  const bool costly = cost.operations() + kOfExp * cost.exps > static_cast<double>(read_bytes);
  for (TimedTensor& one : tensors_) one.changing = one.free_bits == 0 ? 0 : costly ? std::uint32_t{kLineWords} : 1;
  if (slot_bytes == 0) throw std::invalid_argument(std::string(op.name) + ": nothing to time at " + params.to_string());

  const CallPart part{params_, pointers, {}};
  CallImage image = call_image(op, part, place_of);
  for (std::size_t p = 0; p < image.tensors.size(); ++p) {
    if (specs[image.tensors[p]].name == packed_tensor) packed_ = static_cast<std::uint32_t>(p);
  }
  part_ = std::move(image.part);
  const bool cold = temperature == Temperature::cold;
  const std::uint64_t ring = cold ? cold_bytes() : second_level_cache_bytes() / 2;
  slots_ = std::clamp<std::uint64_t>(ring / slot_bytes + (cold ? 2 : 0), 2, kMostSlots);
  const auto has_one_answer = [](const TensorSpec& one) {  // of all its bytes, with data that stay as they are
    return one.role == Direction::in || (!one.in_place_only && one.extent() == one.elements());
  };
  has_laps_ = !cold && std::ranges::all_of(specs, has_one_answer);
  evicts_ = cold && cost_of(op, params).bytes * static_cast<double>(slots_) < static_cast<double>(cold_bytes());
}

wire::TimedRequest TimedCase::request(std::uint64_t slots) const {
  wire::TimedRequest request;
  request.packed = packed_;
  request.slots = slots;
  request.tensors = tensors_;
  request.part = part_;
  return request;
}

std::vector<std::size_t> TimedCase::written() const {
  std::vector<std::size_t> all;
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    if (signature_.tensors[t].role == Direction::out) all.push_back(lies_on_[t]);
  }
  return all;
}

const std::string& TimedCase::output_name(std::size_t output) const {
  const auto outputs = std::ranges::count(signature_.tensors, Direction::out, &TensorSpec::role);
  return signature_.tensors[signature_.tensors.size() - static_cast<std::size_t>(outputs) + output].name;
}

Array TimedCase::gathered(std::size_t tensor, std::span<const std::byte> bytes) const {
  return gather(signature_.tensors[tensor], bytes.data());
}

TestCase TimedCase::case_of(std::uint64_t seed, std::uint64_t laps) const {
  TestCase test;
  test.name = "timed";
  test.params = params_;
  test.seed = seed;
  test.drawn = true;
  test.tags.emplace_back("trivial");
  std::vector<std::byte> memory;
  for (std::size_t t = 0; t < signature_.tensors.size(); ++t) {
    if (signature_.tensors[t].role != Direction::in) continue;
    memory.resize(tensors_[t].bytes);
    fill_timed(tensors_[t], tensor_seed(seed, t), memory.data());
    const bool packed = packed_ != wire::kNone && part_.pointers[packed_].target == t;
    if (!packed) change_timed(tensors_[t], tensor_seed(seed, t), 1, laps - 1, memory.data());
    test.inputs.push_back(gathered(t, memory));
  }
  return test;
}

}  // namespace assay::bench
