/* Loops whose number must be known when it is compiled. */
#pragma once

#define ASSAY_LAMBDA_INLINE __attribute__((always_inline))

namespace assay {
namespace {

// f(Index<0>()) .. f(Index<N - 1>()): each call knows its number when it is compiled.
template <int N>
struct Index {
  static constexpr int value = N;
};
template <int N, int First = 0, class Function>
ASSAY_INLINE void for_each_index(Function f) {
  if constexpr (First < N) {
    f(Index<First>());
    for_each_index<N, First + 1>(f);
  }
}

}  // namespace
}  // namespace assay
