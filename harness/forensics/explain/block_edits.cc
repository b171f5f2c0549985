// Fields of blocks misread: nibbles, high bits, scales, minima, and a neighbour's in their place.
#include "harness/forensics/explain/block_edits.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace assay::why {
namespace {

constexpr Fields kFields[] = {
    {DType::q4_0, 0, 2, 0, 0, 0, 0, 0, 0, 2, 16},      {DType::q4_1, 0, 2, 2, 2, 0, 0, 0, 0, 4, 16},
    {DType::q5_0, 0, 2, 0, 0, 0, 0, 2, 4, 6, 16},      {DType::q5_1, 0, 2, 2, 2, 0, 0, 4, 4, 8, 16},
    {DType::q8_0, 0, 2, 0, 0, 0, 0, 0, 0, 2, 32},      {DType::q4_k, 0, 2, 2, 2, 4, 12, 0, 0, 16, 128},
    {DType::q5_k, 0, 2, 2, 2, 4, 12, 16, 32, 48, 128}, {DType::q6_k, 208, 2, 0, 0, 192, 16, 128, 64, 0, 128},
    {DType::q8_k, 0, 4, 0, 0, 0, 0, 0, 0, 4, 256}};

bool is_whole(const Fields& f) {
  return f.dtype == DType::q8_0 || f.dtype == DType::q8_k;
}
bool has_nibbles(const Fields& f) {
  return !is_whole(f);
}
bool is_affine_k(const Fields& f) {
  return f.scale_bytes == 12;
}

// Scale and minimum of each sub-block of q4_k and q5_k.
struct Affine {
  std::array<std::uint8_t, 8> scale{};
  std::array<std::uint8_t, 8> min{};
};
Affine affine_of(Old b) {
  Affine a;
  for (std::size_t j = 0; j < 8; ++j) {
    a.scale[j] = static_cast<std::uint8_t>(j < 4 ? b[j] & 63 : (b[j + 4] & 15) | (b[j - 4] >> 6) << 4);
    a.min[j] = static_cast<std::uint8_t>(j < 4 ? b[j + 4] & 63 : b[j + 4] >> 4 | (b[j] >> 6) << 4);
  }
  return a;
}
void store(const Affine& a, Bytes b) {
  for (std::size_t j = 0; j < 4; ++j) {
    b[j] = static_cast<std::uint8_t>(a.scale[j] | a.scale[j + 4] >> 4 << 6);
    b[j + 4] = static_cast<std::uint8_t>(a.min[j] | a.min[j + 4] >> 4 << 6);
    b[j + 8] = static_cast<std::uint8_t>((a.scale[j + 4] & 15) | a.min[j + 4] << 4);
  }
}
template <class Change>
void change_affine(const Fields& f, Bytes block, Change change) {
  Affine a = affine_of(block + f.scales);
  change(a);
  store(a, block + f.scales);
}

void set(Bytes to, Old from, int first, int count) {
  std::memcpy(to + first, from + first, static_cast<std::size_t>(count));
}
template <int kStep>
void step_scale(const Fields& f, Bytes block) {  // each run of elements takes the scale of its neighbour
  if (is_affine_k(f)) {
    change_affine(f, block, [](Affine& a) {
      for (std::size_t j = 0; j < 8; j += 2 * kStep)
        for (std::size_t i = 0; i < kStep; ++i) std::swap(a.scale[j + i], a.scale[j + kStep + i]);
    });
  } else {
    for (int j = 0; j < 16; j += 2 * kStep)
      for (int i = 0; i < kStep; ++i) std::swap(block[f.scales + j + i], block[f.scales + j + kStep + i]);
  }
}

constexpr Edit kEdits[] = {
    {"d-of-next", "scale", "the scale d of the next block is taken", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old next, Old, Old) { set(b, next, f.d, f.d_bytes); }},
    {"d-of-previous", "scale", "the scale d of the block before is taken", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old, Old before, Old) { set(b, before, f.d, f.d_bytes); }},
    {"d-of-first", "scale", "the scale d of the row's first block is taken for all", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old, Old, Old first) { set(b, first, f.d, f.d_bytes); }},
    {"d-negated", "sign", "the scale d has the other sign", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old, Old, Old) { b[f.d + f.d_bytes - 1] ^= 0x80; }},
    {"min-dropped", "minimum", "minima are left out", [](const Fields& f) { return f.min_bytes > 0; },
     [](const Fields& f, Bytes b, Old, Old, Old) { std::memset(b + f.min, 0, 2); }},
    {"min-negated", "minimum", "minima are taken with the other sign", [](const Fields& f) { return f.min_bytes > 0; },
     [](const Fields& f, Bytes b, Old, Old, Old) { b[f.min + 1] ^= 0x80; }},
    {"min-of-next", "minimum", "minima take dmin of the next block", [](const Fields& f) { return f.min_bytes > 0; },
     [](const Fields& f, Bytes b, Old next, Old, Old) { set(b, next, f.min, 2); }},
    {"d-and-min-exchanged", "operand", "d and dmin change places", [](const Fields& f) { return f.min_bytes > 0; },
     [](const Fields& f, Bytes b, Old, Old, Old) { std::swap_ranges(b + f.d, b + f.d + 2, b + f.min); }},
    {"nibbles-exchanged", "nibbles", "high nibbles are taken for low ones", has_nibbles,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < f.code_bytes; ++i)
         b[f.codes + i] = static_cast<std::uint8_t>(b[f.codes + i] << 4 | b[f.codes + i] >> 4);
     }},
    {"nibbles-signed", "nibbles", "nibbles are taken for numbers with a sign",
     [](const Fields& f) { return f.dtype == DType::q4_0; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < f.code_bytes; ++i) b[f.codes + i] ^= 0x88;
     }},
    {"high-nibbles-signed", "nibbles", "high nibbles are taken for numbers with a sign",
     [](const Fields& f) { return f.dtype == DType::q4_0; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < f.code_bytes; ++i) b[f.codes + i] ^= 0x80;
     }},
    {"d-left-out", "scale", "the scale d is left out", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       const float one = 1;
       const std::uint16_t half = 0x3c00;
       std::memcpy(b + f.d, f.d_bytes == 4 ? static_cast<const void*>(&one) : &half, static_cast<std::size_t>(f.d_bytes));
     }},
    {"codes-without-sign", "sign", "codes are taken without their sign", is_whole,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < f.code_bytes; ++i)
         b[f.codes + i] = static_cast<std::uint8_t>(std::abs(static_cast<std::int8_t>(b[f.codes + i])));
     }},
    {"nibbles-in-pairs", "nibbles", "nibbles are read as neighbours, not as a low run and a high run", has_nibbles,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       // A run of bytes holds the low codes, then the high ones; read byte by byte, code 2j is the low one of byte j.
       const int run = f.code_bytes == 16 ? 16 : f.dtype == DType::q6_k ? 64 : 32;
       for (int at = f.codes; at < f.codes + f.code_bytes; at += run) {
         std::array<std::uint8_t, 128> code{};
         for (int j = 0; j < run; ++j) {
           code[static_cast<std::size_t>(2 * j)] = b[at + j] & 15;
           code[static_cast<std::size_t>(2 * j) + 1] = b[at + j] >> 4;
         }
         for (int j = 0; j < run; ++j)
           b[at + j] =
               static_cast<std::uint8_t>(code[static_cast<std::size_t>(j)] | code[static_cast<std::size_t>(j + run)] << 4);
       }
     }},
    {"high-bits-lost", "high bits", "the high bits of codes are left out", [](const Fields& f) { return f.high_bytes > 0; },
     [](const Fields& f, Bytes b, Old, Old, Old) { std::memset(b + f.high, 0, static_cast<std::size_t>(f.high_bytes)); }},
    {"high-bits-four-low", "high bits", "the fifth bit of the upper half is taken four bits too low",
     [](const Fields& f) { return f.high_bytes == 4; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       std::uint32_t bits = 0;
       std::memcpy(&bits, b + f.high, 4);
       bits = (bits & 0xffff) | (bits >> 12 & 0xffff) << 16;
       std::memcpy(b + f.high, &bits, 4);
     }},
    {"high-bits-halves", "high bits", "the fifth bits of the halves change places",
     [](const Fields& f) { return f.high_bytes == 4; },
     [](const Fields& f, Bytes b, Old, Old, Old) { std::swap_ranges(b + f.high, b + f.high + 2, b + f.high + 2); }},
    {"high-bits-of-first", "high bits", "every pair of sub-blocks takes the fifth bits of the first",
     [](const Fields& f) { return f.high_bytes == 32; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < 32; ++i) b[f.high + i] = static_cast<std::uint8_t>((b[f.high + i] & 3) * 0x55);
     }},
    {"high-bits-of-third", "high bits", "the fourth quarter takes the high bits of the third",
     [](const Fields& f) { return f.high_bytes == 64; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int i = 0; i < 64; ++i)
         b[f.high + i] = static_cast<std::uint8_t>((b[f.high + i] & 0x3f) | (b[f.high + i] & 0x30) << 2);
     }},
    {"scale-high-bits-lost", "scale", "of the last four sub-blocks the high bits of scales and minima are left out", is_affine_k,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       change_affine(f, b, [](Affine& a) {
         for (std::size_t j = 4; j < 8; ++j) a.scale[j] &= 15, a.min[j] &= 15;
       });
     }},
    {"scales-and-minima-exchanged", "scale", "of the last four sub-blocks the low bits of scales and minima change places",
     is_affine_k,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (int j = 8; j < 12; ++j) b[f.scales + j] = static_cast<std::uint8_t>(b[f.scales + j] << 4 | b[f.scales + j] >> 4);
     }},
    {"scales-crossed", "scale", "each sub-block takes the scale of its neighbour",
     [](const Fields& f) { return f.scale_bytes > 0; }, [](const Fields& f, Bytes b, Old, Old, Old) { step_scale<1>(f, b); }},
    {"scales-crossed-2", "scale", "pairs of sub-blocks take each other's scales",
     [](const Fields& f) { return f.scale_bytes > 0; }, [](const Fields& f, Bytes b, Old, Old, Old) { step_scale<2>(f, b); }},
    {"scales-of-first", "scale", "all sub-blocks take the scale of the first", [](const Fields& f) { return f.scale_bytes > 0; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       if (is_affine_k(f)) return change_affine(f, b, [](Affine& a) { a.scale.fill(a.scale[0]); });
       std::memset(b + f.scales, b[f.scales], 16);
     }},
    {"scales-middle", "lane", "the scales of the middle quarters change places",
     [](const Fields& f) { return f.scale_bytes == 16; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       for (const int half : {0, 8}) std::swap_ranges(b + f.scales + half + 2, b + f.scales + half + 4, b + f.scales + half + 4);
     }},
    {"minima-crossed", "minimum", "each sub-block takes the minimum of its neighbour", is_affine_k,
     [](const Fields& f, Bytes b, Old, Old, Old) {
       change_affine(f, b, [](Affine& a) {
         for (std::size_t j = 0; j < 8; j += 2) std::swap(a.min[j], a.min[j + 1]);
       });
     }},
    {"upper-half-lower", "carry", "the second half of the codes is taken for the first", [](const Fields&) { return true; },
     [](const Fields& f, Bytes b, Old, Old, Old) {
       if (f.code_bytes == 16) {
         for (int i = 0; i < 16; ++i) b[f.codes + i] = static_cast<std::uint8_t>((b[f.codes + i] & 15) * 17);
       } else {
         std::memcpy(b + f.codes + f.code_bytes / 2, b + f.codes, static_cast<std::size_t>(f.code_bytes) / 2);
       }
     }},
};

}  // namespace

const Fields* fields_of(DType dtype) {
  const auto found = std::ranges::find(kFields, dtype, &Fields::dtype);
  return found == std::end(kFields) ? nullptr : &*found;
}

std::span<const Edit> block_edits() {
  return kEdits;
}

}  // namespace assay::why
