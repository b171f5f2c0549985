#include "harness/verdict/coincidences.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "golden/generate.h"
#include "golden/generate_blocks.h"
#include "reference/block_packing.h"

namespace assay {
namespace {

// Numbers of a row, as bits.
class Row {
 public:
  Row(DType dtype, std::uint8_t* at, std::int64_t n) : dtype_(dtype), size_(dtype_size(dtype)), at_(at), n_(n) {}

  std::int64_t length() const { return n_; }
  std::uint32_t operator[](std::int64_t i) const {
    std::uint32_t bits = 0;
    std::memcpy(&bits, place(i), size_);
    return bits;
  }
  void set(std::int64_t i, std::uint32_t bits) { std::memcpy(place(i), &bits, size_); }
  void put(std::int64_t i, SpecialNumber number, bool negative = false) { put_special(dtype_, at_, i, number, negative); }

  std::uint32_t sign() const { return 1U << (8 * size_ - 1); }
  std::uint32_t fraction() const { return (1U << fraction_bits()) - 1; }
  std::uint32_t magnitude(std::int64_t i) const { return (*this)[i] & ~sign(); }
  // Times a power of two, as far as the exponent can hold it; zeros as they are.
  void scale(std::int64_t i, int by) {
    const int exponents = static_cast<int>(sign() >> fraction_bits());
    const int exponent = static_cast<int>(magnitude(i) >> fraction_bits());
    const int scaled = std::clamp(exponent + by, 1, exponents - 2);
    if (exponent > 0) set(i, (*this)[i] + (static_cast<std::uint32_t>(scaled - exponent) << fraction_bits()));
  }
  std::int64_t largest() const {
    std::int64_t at = 0;
    for (std::int64_t i = 1; i < n_; ++i) at = magnitude(i) > magnitude(at) ? i : at;
    return at;
  }

 private:
  unsigned fraction_bits() const { return dtype_ == DType::f32 ? 23 : dtype_ == DType::f16 ? 10 : 7; }
  std::uint8_t* place(std::int64_t i) const { return at_ + static_cast<std::size_t>(i) * size_; }

  DType dtype_;
  std::size_t size_;
  std::uint8_t* at_;
  std::int64_t n_;
};

// Where whole vectors, halves and tails begin and end, and anywhere.
std::int64_t somewhere(std::int64_t n, Draws& draws) {
  const std::int64_t whole = n / 16 * 16;
  const std::array<std::int64_t, 10> places{0,  n - 1, whole - 1, whole, 15,
                                            16, 31,    32,        n / 2, draws.below(static_cast<std::uint32_t>(n))};
  const std::int64_t place = draws.of(places);
  return place < 0 || place >= n ? n - 1 : place;
}

// Becomes the largest of its row, by 4.
void raise(Row& row, std::int64_t place, bool negative) {
  row.set(place, row.magnitude(row.largest()) | (negative ? row.sign() : 0));
  row.scale(place, 2);
}

void sort(Row& row, bool ascending) {
  std::vector<std::uint32_t> all;
  for (std::int64_t i = 0; i < row.length(); ++i) all.push_back(row[i]);
  const auto ordinal = [&](std::uint32_t bits) {
    const auto magnitude = static_cast<std::int64_t>(bits & ~row.sign());
    return ((bits & row.sign()) != 0) == ascending ? -magnitude : magnitude;
  };
  std::ranges::sort(all, {}, ordinal);
  for (std::int64_t i = 0; i < row.length(); ++i) row.set(i, all[static_cast<std::size_t>(i)]);
}

// Every element becomes what `make` says of its place.
template <class Make>
void each(Row& row, const Make& make) {
  for (std::int64_t i = 0; i < row.length(); ++i) row.set(i, make(i));
}

// `before`: the row before, itself where it is the first.
using Coincidence = void (*)(Row& row, const Row& before, Draws& draws);
constexpr Coincidence kOfNumbers[] = {
    // neighbours alike
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[i / 2 * 2]; }); },
    // all alike
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t) { return r[0]; }); },
    // begins as it ends
    [](Row& r, const Row&, Draws&) { r.set(r.length() - 1, r[0]); },
    // ascends, descends
    [](Row& r, const Row&, Draws&) { sort(r, true); }, [](Row& r, const Row&, Draws&) { sort(r, false); },
    // signs alternate
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r.magnitude(i) | (i % 2 == 1 ? r.sign() : 0); }); },
    // a sum of zero
    [](Row& r, const Row&, Draws&) {
      const std::int64_t half = r.length() / 2;
      for (std::int64_t i = 0; i < half; ++i) r.set(half + i, r[i] ^ r.sign());
      if (r.length() % 2 == 1) r.put(r.length() - 1, SpecialNumber::zero);
    },
    // from both ends alike
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[std::min(i, r.length() - 1 - i)]; }); },
    // of one sign
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r.magnitude(i); }); },
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r.magnitude(i) | r.sign(); }); },
    // zeros, of both signs; of one, among numbers
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t) { return 0U; }); },
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return i % 3 == 0 ? 0U : r.sign(); }); },
    [](Row& r, const Row&, Draws& draws) { r.put(somewhere(r.length(), draws), SpecialNumber::zero, true); },
    // a number among zeros
    [](Row& r, const Row&, Draws& draws) {
      const std::int64_t place = somewhere(r.length(), draws);
      const std::uint32_t kept = r[place];
      each(r, [&](std::int64_t i) { return i == place ? kept : 0U; });
    },
    // the largest is the last, the first, somewhere; twice side by side; with both signs
    [](Row& r, const Row&, Draws&) { raise(r, r.length() - 1, false); }, [](Row& r, const Row&, Draws&) { raise(r, 0, true); },
    [](Row& r, const Row&, Draws& draws) {
      const bool negative = draws.below(2) == 0;  // arguments are drawn in an order that each compiler chooses
      raise(r, somewhere(r.length(), draws), negative);
    },
    [](Row& r, const Row&, Draws& draws) {
      const std::int64_t place = somewhere(r.length(), draws);
      raise(r, place, false);
      r.set((place + 1) % r.length(), r[place]);
    },
    [](Row& r, const Row&, Draws& draws) {
      const std::int64_t place = somewhere(r.length(), draws);
      raise(r, place, draws.below(2) == 0);
      r.set(somewhere(r.length(), draws), r[place] ^ r.sign());
    },
    // one is larger by far than all others together
    [](Row& r, const Row&, Draws& draws) { r.scale(somewhere(r.length(), draws), 10); },
    // large, small, denormal
    [](Row& r, const Row&, Draws&) {
      for (std::int64_t i = 0; i < r.length(); ++i) r.scale(i, 10);
    },
    [](Row& r, const Row&, Draws&) {
      for (std::int64_t i = 0; i < r.length(); ++i) r.scale(i, -40);
    },
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[i] & (r.sign() | r.fraction()); }); },
    // powers of two; one beside the next float; vectors alike
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[i] & ~r.fraction(); }); },
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[0] ^ (r[i] & 1); }); },
    [](Row& r, const Row&, Draws&) { each(r, [&](std::int64_t i) { return r[i % 16]; }); },
    // the row before again, with the other sign, at its beginning
    [](Row& r, const Row& b, Draws&) { each(r, [&](std::int64_t i) { return b[i]; }); },
    [](Row& r, const Row& b, Draws&) { each(r, [&](std::int64_t i) { return b[i] ^ r.sign(); }); },
    [](Row& r, const Row& b, Draws&) { each(r, [&](std::int64_t i) { return i < (r.length() + 1) / 2 ? b[i] : r[i]; }); }};

// Indices of a range: by place, how many there are of both, and one that was drawn.
using Index = std::int64_t (*)(std::int64_t i, std::int64_t n, std::int64_t range, std::int64_t drawn);
constexpr Index kOfIndices[] = {
    // ascend; descend; one again and again; in pairs; first and last in turn; the last
    [](std::int64_t i, std::int64_t, std::int64_t range, std::int64_t drawn) { return (drawn + i) % range; },
    [](std::int64_t i, std::int64_t, std::int64_t range, std::int64_t) { return range - 1 - i % range; },
    [](std::int64_t, std::int64_t, std::int64_t, std::int64_t drawn) { return drawn; },
    [](std::int64_t i, std::int64_t, std::int64_t range, std::int64_t drawn) { return (drawn + i / 2) % range; },
    [](std::int64_t i, std::int64_t, std::int64_t range, std::int64_t) { return i % 2 * (range - 1); },
    [](std::int64_t, std::int64_t, std::int64_t range, std::int64_t) { return range - 1; },
    // begin and end as if they ascended, and descend between; or stay till the last
    [](std::int64_t i, std::int64_t n, std::int64_t range, std::int64_t drawn) {
      return (std::min(drawn, std::max<std::int64_t>(range - n, 0)) + (i == 0 || i == n - 1 ? i : n - 1 - i)) % range;
    },
    [](std::int64_t i, std::int64_t n, std::int64_t range, std::int64_t drawn) {
      return (std::min(drawn, std::max<std::int64_t>(range - n, 0)) + (i == n - 1 ? i : 0)) % range;
    }};

// What of a block is set to what: two bytes, again and again.
enum class Part : std::uint8_t { scale, minimum, scales, codes };
struct OfBlock {
  Part part;
  std::uint16_t value;
};
constexpr OfBlock kPutIntoBlocks[] = {
    {Part::codes, 0},        {Part::codes, 0xffff}, {Part::codes, 0x7f7f},   {Part::codes, 0x8080},   {Part::codes, 0xff01},
    {Part::codes, 0x8888},   {Part::scale, 0},      {Part::scale, 0x8000},   {Part::scale, 0x0155},   {Part::scale, 0xa955},
    {Part::scale, 0x2955},   {Part::minimum, 0},    {Part::minimum, 0x8000}, {Part::minimum, 0x0155}, {Part::minimum, 0xa955},
    {Part::minimum, 0x2955}, {Part::scales, 0},     {Part::scales, 0xffff},  {Part::scales, 0x8080},  {Part::scales, 0x3f3f}};

void set_part(DType dtype, std::uint8_t* block, const OfBlock& one, bool activations) {
  const BlockParts parts = parts_of(dtype);
  const BlockPart part = one.part == Part::scale     ? parts.scale
                         : one.part == Part::minimum ? parts.minimum
                         : one.part == Part::scales  ? parts.scales
                                                     : parts.codes;
  const bool single = one.part == Part::scale && part.count == sizeof(float);  // a half's bits as a float's upper ones
  for (int i = 0; i < part.count; ++i) {
    const int byte = i % 2;
    block[part.at + i] = static_cast<std::uint8_t>(single && i < 2 ? 0 : one.value >> (8 * byte));
  }
  if (activations) as_activations(dtype, block);
}

std::size_t coincide_blocks(const TensorSpec& spec, Array& array, std::size_t first) {
  const std::size_t size = dtype_size(array.dtype);
  for (std::size_t at = 0; at < array.bytes.size(); at += 2 * size, ++first)
    set_part(array.dtype, &array.bytes[at], kPutIntoBlocks[first % std::size(kPutIntoBlocks)], spec.data.has_value());
  return first;
}

// Plain, and packed again.
std::size_t coincide_packed(const TensorSpec& spec, Array& array, std::size_t first) {
  const DType format = plain_dtype(spec.dtype);
  const std::int64_t rows = spec.shape[0] * kPackedRows;
  const std::int64_t k = spec.shape[1] * dtype_numbers(spec.dtype);
  Array plain{
      .dtype = format, .shape = {rows, spec.shape[1]}, .bytes = reference::unpack_x16(format, array.bytes.data(), rows, k)};
  const std::size_t next = coincide_blocks(spec, plain, first);
  array.bytes = reference::pack_x16(format, plain.bytes.data(), rows, k);
  return next;
}

std::size_t coincide_indices(const TensorSpec& spec, Array& array, std::size_t first, Draws& draws) {
  if (!spec.data || spec.data->high <= spec.data->low) return first + 1;
  const std::int64_t range = spec.data->high - spec.data->low;
  const auto drawn = static_cast<std::int64_t>(draws.below(static_cast<std::uint32_t>(range)));
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    const auto index =
        static_cast<std::int32_t>(spec.data->low + kOfIndices[first % std::size(kOfIndices)](i, array.elements(), range, drawn));
    std::memcpy(&array.bytes[static_cast<std::size_t>(i) * sizeof index], &index, sizeof index);
  }
  return first + 1;
}

}  // namespace

std::size_t coincidences_of(DType dtype) {
  if (is_block(dtype)) return std::size(kPutIntoBlocks);
  if (dtype == DType::i32) return std::size(kOfIndices);
  return is_float(dtype) ? std::size(kOfNumbers) : 0;
}

std::size_t coincide(const TensorSpec& spec, Array& array, std::int64_t unit, std::size_t first, Draws& draws) {
  if (array.elements() == 0 || coincidences_of(array.dtype) == 0) return first;
  if (is_packed(array.dtype)) return coincide_packed(spec, array, first);
  if (is_block(array.dtype)) return coincide_blocks(spec, array, first);
  if (array.dtype == DType::i32) return coincide_indices(spec, array, first, draws);
  const std::int64_t length = array.shape.empty() ? 1 : array.shape.back();
  const std::int64_t rows = array.elements() / length;
  const std::size_t size = dtype_size(array.dtype);
  const auto at = [&](std::int64_t i) { return &array.bytes[static_cast<std::size_t>(i) * size]; };
  for (std::int64_t row = 0; row < rows; ++row) {
    const bool in_units = unit > 1 && length % unit == 0 && (rows == 1 || row % 2 == 1);
    const std::int64_t n = in_units ? unit : length;
    for (std::int64_t i = row * length; i < (row + 1) * length; i += n, ++first) {
      Row one(array.dtype, at(i), n);
      kOfNumbers[first % std::size(kOfNumbers)](one, Row(array.dtype, at(std::max<std::int64_t>(i - n, 0)), n), draws);
    }
  }
  return first;
}

}  // namespace assay
