// Philox4x32-10, a counter-based generator: word i of a stream costs the same wherever i lies.
// Source: Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", 2011.
#pragma once

#include <array>
#include <cstdint>

namespace assay {

using PhiloxBlock = std::array<std::uint32_t, 4>;

inline constexpr std::uint64_t kPhiloxMultiply0 = 0xD2511F53;
inline constexpr std::uint64_t kPhiloxMultiply1 = 0xCD9E8D57;
inline constexpr std::uint32_t kPhiloxWeyl0 = 0x9E3779B9;
inline constexpr std::uint32_t kPhiloxWeyl1 = 0xBB67AE85;

// The four words of one counter under one key.
inline PhiloxBlock philox4x32_10(PhiloxBlock counter, std::array<std::uint32_t, 2> key) noexcept {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t product0 = kPhiloxMultiply0 * counter[0];
    const std::uint64_t product1 = kPhiloxMultiply1 * counter[2];
    counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<std::uint32_t>(product1),
               static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<std::uint32_t>(product0)};
    key[0] += kPhiloxWeyl0;
    key[1] += kPhiloxWeyl1;
  }
  return counter;
}

// Block b of a stream (golden/SCHEMA.md, "Generated inputs").
inline PhiloxBlock philox_block(std::uint64_t seed, std::uint32_t stream, std::uint64_t block) noexcept {
  return philox4x32_10({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), stream, 0},
                       {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
}

}  // namespace assay
