/* The bit fields of a block, one block or one element at a time. For kernels of every ISA: plain C++, no ISA header needed. */
#pragma once

#include <stdint.h>
#include <string.h>

#include "kernels/formats/blocks.h"

namespace assay {
namespace {

// The 6-bit scale and minimum of each of the eight sub-blocks of q4_k and q5_k, widened to bytes.
struct ScalesMins {
  uint8_t sc[8];
  uint8_t m[8];
};

// Four bytes a word: sub-blocks 0..3 lie in the low six bits of bytes 0..3 (sc) and 4..7 (m); sub-blocks 4..7 have their low
// four bits in the nibbles of bytes 8..11 (sc low, m high) and their high two on top of bytes 0..3 (sc) and 4..7 (m).
inline ScalesMins unpack_scales_mins(const uint8_t* bytes) {
  uint32_t sc_low;
  uint32_t m_low;
  uint32_t nibbles;
  memcpy(&sc_low, bytes, 4);
  memcpy(&m_low, bytes + 4, 4);
  memcpy(&nibbles, bytes + 8, 4);
  const uint32_t sc[2] = {sc_low & 0x3f3f3f3fu, (nibbles & 0x0f0f0f0fu) | ((sc_low >> 2) & 0x30303030u)};
  const uint32_t m[2] = {m_low & 0x3f3f3f3fu, ((nibbles >> 4) & 0x0f0f0f0fu) | ((m_low >> 2) & 0x30303030u)};
  ScalesMins out;
  memcpy(out.sc, sc, 8);
  memcpy(out.m, m, 8);
  return out;
}

// The inverse; every sc and m is below 64.
inline void pack_scales_mins(const ScalesMins& in, uint8_t* bytes) {
  for (int j = 0; j < 4; ++j) {
    bytes[j] = static_cast<uint8_t>(in.sc[j] | (in.sc[j + 4] >> 4) << 6);
    bytes[j + 4] = static_cast<uint8_t>(in.m[j] | (in.m[j + 4] >> 4) << 6);
    bytes[j + 8] = static_cast<uint8_t>((in.sc[j + 4] & 15) | (in.m[j + 4] & 15) << 4);
  }
}

// The code of element i, unsigned as stored (q4_0 minus 8, q5_0 minus 16, q6_k minus 32 is the signed one).

// 32 elements in 16 bytes: q4_0, q4_1, q5_0, q5_1.
inline int nibble_of_32(const uint8_t* qs, int i) {
  return (qs[i & 15] >> (i < 16 ? 0 : 4)) & 15;
}
inline int fifth_bit_of_32(const uint8_t* qh, int i) {
  return (qh[i / 8] >> (i & 7)) & 1;
}
inline int code_q5_of_32(const uint8_t* qs, const uint8_t* qh, int i) {
  return nibble_of_32(qs, i) | fifth_bit_of_32(qh, i) << 4;
}

// 256 elements in 128 bytes, 64 at a time: q4_k, q5_k.
inline int nibble_of_256(const uint8_t* qs, int i) {
  return (qs[i / 64 * 32 + i % 32] >> (i % 64 < 32 ? 0 : 4)) & 15;
}
inline int code_q4_k(const BlockQ4_K& block, int i) {
  return nibble_of_256(block.qs, i);
}
inline int code_q5_k(const BlockQ5_K& block, int i) {
  return nibble_of_256(block.qs, i) | ((block.qh[i % 32] >> (i / 32)) & 1) << 4;
}

// In a half of 128: quarter 0, 1 are the low nibbles of ql's bytes 0..31, 32..63, quarter 2, 3 the high ones.
inline int code_q6_k(const BlockQ6_K& block, int i) {
  const int half = i / 128;
  const int quarter = i % 128 / 32;
  const int low = (block.ql[half * 64 + i % 64] >> (quarter < 2 ? 0 : 4)) & 15;
  const int high = (block.qh[half * 32 + i % 32] >> (quarter * 2)) & 3;
  return low | high << 4;
}

}  // namespace
}  // namespace assay
