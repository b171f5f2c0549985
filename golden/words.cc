#include "golden/words.h"

#include <algorithm>

#include "golden/philox.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace assay {
namespace {

#if defined(__x86_64__)
// Four blocks from `block` on. A lane's lower half is a word; its upper half is not looked at.
[[gnu::target("avx2")]] void four_blocks(std::uint64_t seed, std::uint32_t stream, std::uint64_t block, std::uint32_t* dst) {
  const __m256i multiply0 = _mm256_set1_epi64x(kPhiloxMultiply0);
  const __m256i multiply1 = _mm256_set1_epi64x(kPhiloxMultiply1);
  __m256i word0 = _mm256_add_epi64(_mm256_set1_epi64x(static_cast<std::int64_t>(block)), _mm256_setr_epi64x(0, 1, 2, 3));
  __m256i word1 = _mm256_srli_epi64(word0, 32);
  __m256i word2 = _mm256_set1_epi64x(stream);
  __m256i word3 = _mm256_setzero_si256();
  __m256i key0 = _mm256_set1_epi64x(static_cast<std::int64_t>(seed));
  __m256i key1 = _mm256_srli_epi64(key0, 32);
  for (int round = 0; round < 10; ++round) {
    const __m256i product0 = _mm256_mul_epu32(word0, multiply0);
    const __m256i product1 = _mm256_mul_epu32(word2, multiply1);
    word0 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product1, 32), word1), key0);
    word2 = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(product0, 32), word3), key1);
    word1 = product1;
    word3 = product0;
    key0 = _mm256_add_epi32(key0, _mm256_set1_epi32(static_cast<int>(kPhiloxWeyl0)));
    key1 = _mm256_add_epi32(key1, _mm256_set1_epi32(static_cast<int>(kPhiloxWeyl1)));
  }
  const __m256i low = _mm256_blend_epi32(word0, _mm256_slli_epi64(word1, 32), 0xaa);
  const __m256i high = _mm256_blend_epi32(word2, _mm256_slli_epi64(word3, 32), 0xaa);
  const __m256i even = _mm256_unpacklo_epi64(low, high);  // blocks 0 and 2
  const __m256i odd = _mm256_unpackhi_epi64(low, high);
  _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(dst + 8), reinterpret_cast<__m128i*>(dst), even);
  _mm256_storeu2_m128i(reinterpret_cast<__m128i*>(dst + 12), reinterpret_cast<__m128i*>(dst + 4), odd);
}
#endif

}  // namespace

void Words::make() {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2") != 0;
#endif
  for (std::size_t i = 0; i < kWords; i += 16, block_ += 4) {
#if defined(__x86_64__)
    if (avx2) {
      four_blocks(seed_, stream_, block_, &words_[i]);
      continue;
    }
#endif
    for (std::size_t b = 0; b < 4; ++b) std::ranges::copy(philox_block(seed_, stream_, block_ + b), &words_[i + 4 * b]);
  }
  next_ = 0;
}

}  // namespace assay
