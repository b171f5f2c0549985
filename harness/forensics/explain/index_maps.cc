#include "harness/forensics/explain/index_maps.h"

#include <algorithm>
#include <cstring>

namespace assay::why {
namespace {

using I = std::int64_t;

template <I kStep>
I tail_of(I i, I n) {
  return n > kStep && i >= n / kStep * kStep ? kNone : i;
}
template <I kStep>
I any_tail_of(I i, I n) {
  return i >= n / kStep * kStep ? kNone : i;
}
template <I kStep>
I whole_last(I i, I n) {  // the last step, whole or not
  return n > kStep && i >= (n - 1) / kStep * kStep ? kNone : i;
}
template <I kStep>
I only_last(I i, I n) {
  return i < (n - 1) / kStep * kStep ? kNone : i;
}
template <I kStep>
I only_first(I i, I /*n*/) {
  return i >= kStep ? kNone : i;
}
template <I kStep>
I step_from_first(I i, I /*n*/) {
  return i % kStep;
}
template <I kStep>
I first_of_step(I i, I /*n*/) {
  return i / kStep * kStep;
}
template <I kStep>
I last_of_step(I i, I /*n*/) {
  return i % kStep == kStep - 1 ? kNone : i;
}
template <I kStep>
I upper_half(I i, I /*n*/) {
  return i % kStep >= kStep / 2 ? kNone : i;
}
template <I kBit>
I crossed(I i, I n) {
  return (i ^ kBit) < n ? i ^ kBit : i;
}
template <I kStep>
I middles(I i, I n) {  // of four parts of a step the second and the third
  const I part = kStep / 4;
  const I which = i / part % 4;
  const I other = which == 1 ? i + part : which == 2 ? i - part : i;
  return other < n ? other : i;
}
template <I kStep>
I written_over(I i, I n) {  // stored at the index mod kStep: the last one stays
  return i >= kStep ? kNone : i + (n - 1 - i) / kStep * kStep;
}
template <I kStep, I kFrom, I kTo>
I without_part(I i, I n) {  // of whole steps; the tail counts
  return i < n / kStep * kStep && i % kStep >= kFrom && i % kStep < kTo ? kNone : i;
}
template <I kLane>
I without_lane(I i, I /*n*/) {
  return i % 16 == kLane ? kNone : i;
}

constexpr IndexMap kMaps[] = {
    {"last-left-out", "tail", "the last takes no part", [](I i, I n) { return i == n - 1 ? kNone : i; }, 2},
    {"first-left-out", "tail", "the first takes no part", [](I i, I) { return i == 0 ? kNone : i; }, 2},
    {"last-is-the-one-before", "index", "the last is taken for the one before it",
     [](I i, I n) { return n > 1 && i == n - 1 ? n - 2 : i; }, 2},
    {"all-first", "stride", "all are taken for the first", [](I, I) { return I{0}; }, 2},
    {"next", "index", "each is taken for the next, the last for itself", [](I i, I n) { return std::min(i + 1, n - 1); }, 2},
    {"previous", "index", "each is taken for the one before, the first for itself", [](I i, I) { return std::max<I>(i - 1, 0); },
     2},
    {"next-around", "index", "each is taken for the next, the last for the first", [](I i, I n) { return (i + 1) % n; }, 3},
    {"previous-around", "index", "each is taken for the one before, the first for the last",
     [](I i, I n) { return (i + n - 1) % n; }, 3},
    {"reversed", "index", "they are taken in reverse", [](I i, I n) { return n - 1 - i; }, 3},
    {"halves-exchanged", "lane", "the halves change places", [](I i, I n) { return n % 2 == 0 ? (i + n / 2) % n : i; }, 3},
    {"pairs-exchanged", "lane", "neighbours change places in pairs", crossed<1>, 3},
    {"2-crossed", "lane", "neighbouring pairs change places", crossed<2>, 3},
    {"4-crossed", "lane", "neighbouring fours change places", crossed<4>, 3},
    {"8-crossed", "lane", "neighbouring eights change places", crossed<8>, 3},
    {"16-crossed", "lane", "neighbouring sixteens change places", crossed<16>, 3},
    {"middles-of-4", "lane", "of every four the second and the third change places", middles<4>, 3},
    {"middles-of-16", "lane", "of every sixteen the second four and the third change places", middles<16>, 3},
    {"interleaved", "lane", "the two halves are taken for interleaved ones",
     [](I i, I n) { return n % 2 == 0 ? i / 2 + i % 2 * (n / 2) : i; }, 3},
    {"deinterleaved", "lane", "neighbours are taken for the two halves",
     [](I i, I n) { return n % 2 == 0 ? (i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1) : i; }, 3},
    {"tail-of-4", "tail", "those past the last four take no part", tail_of<4>, 3},
    {"tail-of-8", "tail", "those past the last eight take no part", tail_of<8>, 3},
    {"tail-of-16", "tail", "those past the last sixteen take no part", tail_of<16>, 3},
    {"tail-of-32", "tail", "those past the last 32 take no part", tail_of<32>, 3},
    {"tail-of-64", "tail", "those past the last 64 take no part", tail_of<64>, 3},
    {"steps-of-4", "tail", "those past the last four take no part, nor does a row of less than four", any_tail_of<4>, 4},
    {"steps-of-8", "tail", "those past the last eight take no part, nor does a row of less than eight", any_tail_of<8>, 4},
    {"steps-of-16", "tail", "those past the last sixteen take no part, nor does a row of less than sixteen", any_tail_of<16>, 4},
    {"last-16", "tail", "the last step of sixteen takes no part, whole or not", whole_last<16>, 3},
    {"last-64", "tail", "the last block of 64 takes no part, whole or not", whole_last<64>, 3},
    {"only-last-4", "carry", "only the last chunk of 4 counts", only_last<4>, 3},
    {"only-last-16", "carry", "only the last block of sixteen counts", only_last<16>, 3},
    {"only-last-64", "carry", "only the last block of 64 counts", only_last<64>, 3},
    {"only-last-1024", "carry", "only the last block of 1024 counts", only_last<1024>, 3},
    {"only-last", "carry", "only the last counts", only_last<1>, 3},
    {"only-first", "carry", "only the first counts", only_first<1>, 3},
    {"only-first-16", "carry", "only the first sixteen count", only_first<16>, 3},
    {"only-first-64", "carry", "only the first 64 count", only_first<64>, 3},
    {"only-first-1024", "carry", "only the first 1024 count", only_first<1024>, 3},
    {"first-2", "stride", "of every two the second is taken for the first", first_of_step<2>, 3},
    {"first-4", "stride", "of every four all are taken for the first", first_of_step<4>, 3},
    {"first-16", "stride", "of every sixteen all are taken for the first", first_of_step<16>, 3},
    {"step-2", "carry", "every chunk of 2 is taken for the first one", step_from_first<2>, 3},
    {"step-4", "carry", "every chunk of 4 is taken for the first one", step_from_first<4>, 3},
    {"step-8", "carry", "every chunk of 8 is taken for the first one", step_from_first<8>, 3},
    {"step-16", "carry", "every chunk of 16 is taken for the first one", step_from_first<16>, 3},
    {"step-32", "carry", "every chunk of 32 is taken for the first one", step_from_first<32>, 3},
    {"step-64", "carry", "every chunk of 64 is taken for the first one", step_from_first<64>, 3},
    {"step-96", "carry", "every chunk of 96 is taken for the first one", step_from_first<96>, 3},
    {"step-128", "carry", "every chunk of 128 is taken for the first one", step_from_first<128>, 3},
    {"step-192", "carry", "every chunk of 192 is taken for the first one", step_from_first<192>, 3},
    {"step-256", "narrow", "indices are kept in 8 bits: past 255 they begin again", step_from_first<256>, 3},
    {"step-1024", "carry", "every chunk of 1024 is taken for the first one", step_from_first<1024>, 3},
    {"step-65536", "narrow", "indices are kept in 16 bits: past 65535 they begin again", step_from_first<65536>, 3},
    {"over-256", "narrow",
     "stored at indices of 8 bits: past 255 they are written over the first, and no part is left past these", written_over<256>,
     3},
    {"over-65536", "narrow",
     "stored at indices of 16 bits: past 65535 they are written over the first, and no part is left past these",
     written_over<65536>, 3},
    {"last-of-4", "tail", "the last of every four takes no part", last_of_step<4>, 3},
    {"last-of-16", "tail", "the last of every sixteen takes no part", last_of_step<16>, 3},
    {"last-of-17", "tail", "the last of every seventeen takes no part", last_of_step<17>, 3},
    {"last-of-64", "tail", "the last of every 64 takes no part", last_of_step<64>, 3},
    {"upper-of-2", "lane", "every second takes no part", upper_half<2>, 3},
    {"upper-of-8", "lane", "of every eight the last four take no part", upper_half<8>, 3},
    {"upper-of-16", "lane", "of every sixteen the last eight take no part", upper_half<16>, 3},
    {"upper-of-32", "lane", "of every 32 the last sixteen take no part", upper_half<32>, 3},
    {"last-of-8", "tail", "the last of every eight takes no part", last_of_step<8>, 3},
    {"second-of-2x8", "lane", "of every whole sixteen the second eight take no part", without_part<16, 8, 16>, 3},
    {"second-of-2x16", "lane", "of every whole 32 the second sixteen take no part", without_part<32, 16, 32>, 3},
    {"second-of-4x8", "lane", "of every whole 32 the second eight take no part", without_part<32, 8, 16>, 3},
    {"third-of-4x8", "lane", "of every whole 32 the third eight take no part", without_part<32, 16, 24>, 3},
    {"fourth-of-4x8", "lane", "of every whole 32 the last eight take no part", without_part<32, 24, 32>, 3},
    {"first-of-4x8", "lane", "of every whole 32 the first eight alone count", without_part<32, 8, 32>, 3},
    {"second-of-4x16", "lane", "of every whole 64 the second sixteen take no part", without_part<64, 16, 32>, 3},
    {"third-of-4x16", "lane", "of every whole 64 the third sixteen take no part", without_part<64, 32, 48>, 3},
    {"fourth-of-4x16", "lane", "of every whole 64 the last sixteen take no part", without_part<64, 48, 64>, 3},
    {"first-of-4x16", "lane", "of every whole 64 the first sixteen alone count", without_part<64, 16, 64>, 3},
    {"lane-7", "lane", "the eighth of every sixteen takes no part", without_lane<7>, 4},
};

}  // namespace

std::span<const IndexMap> index_maps() {
  return kMaps;
}

std::optional<std::vector<std::int64_t>> sources(const std::vector<std::int64_t>& shape, std::size_t axis, const IndexMap& map) {
  const I length = shape[axis];
  std::vector<I> along(static_cast<std::size_t>(length));
  bool changes = false;
  for (I i = 0; i < length; ++i) {
    const I from = map.at(i, length);
    along[static_cast<std::size_t>(i)] = from;
    changes = changes || from != i;
  }
  if (!changes) return std::nullopt;
  I inner = 1;
  I all = 1;
  for (std::size_t a = 0; a < shape.size(); ++a) {
    all *= shape[a];
    if (a > axis) inner *= shape[a];
  }
  std::vector<I> from(static_cast<std::size_t>(all));
  for (I i = 0; i < all; ++i) {
    const I index = i / inner % length;
    const I other = along[static_cast<std::size_t>(index)];
    from[static_cast<std::size_t>(i)] = other == kNone ? kNone : i + (other - index) * inner;
  }
  return from;
}

Array moved(const Array& array, const std::vector<std::int64_t>& from) {
  Array out = array;
  const std::size_t size = dtype_size(array.dtype);
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::uint8_t* const to = &out.bytes[i * size];
    if (from[i] == kNone) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, &array.bytes[static_cast<std::size_t>(from[i]) * size], size);
    }
  }
  return out;
}

}  // namespace assay::why
