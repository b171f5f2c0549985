// What the functions around kernels are written with: mutants that corrupt what a right kernel has written, or call it wrongly.
// docs/mutants.md.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <xmmintrin.h>

namespace around {

// What a call writes: rows in two dimensions.
struct Rows {
  char* at;
  int64_t outer, outer_stride;  // strides in elements
  int64_t inner, inner_stride;
  int64_t width;
  int64_t bytes;      // of an element
  int64_t byte;       // of an element: where its exponent lies, or that of a block's scale
  uint32_t exponent;  // of an element that is a float; else 0
};
struct Output {
  Rows tensors[2];  // rope_table writes two; else the second has no width
};

template <class Use>
void each_row(const Output& output, Use use) {
  for (const Rows& r : output.tensors) {
    for (int64_t i = 0; i < r.outer && r.width > 0; ++i) {
      for (int64_t j = 0; j < r.inner; ++j) use(r.at + (i * r.outer_stride + j * r.inner_stride) * r.bytes, r);
    }
  }
}

// The last element of every row becomes another by far.
inline void spoil(const Output& output) {
  each_row(output, [](char* row, const Rows& r) { row[(r.width - 1) * r.bytes + r.byte] ^= 0x40; });
}

// Every number, as bits, becomes change(bits, exponent).
template <class Change>
void each_number(const Output& output, Change change) {
  each_row(output, [&](char* row, const Rows& r) {
    for (int64_t i = 0; i < r.width; ++i) {
      uint32_t bits = 0;
      memcpy(&bits, row + i * r.bytes, r.bytes);
      bits = change(bits, r.exponent);
      memcpy(row + i * r.bytes, &bits, r.bytes);
    }
  });
}
inline uint32_t sign_of(uint32_t exponent) {
  return exponent > 0xffff ? 0x80000000u : 0x8000u;
}
inline uint32_t quiet_bit(uint32_t exponent) {
  return (exponent & -exponent) >> 1;
}
inline bool is_nan(uint32_t bits, uint32_t exponent) {
  return (bits & ~sign_of(exponent)) > exponent;
}

// The last element of the last row, at most eight bytes of it.
inline char* last_element(const Output& output) {
  const Rows& r = output.tensors[0];
  const int64_t i = (r.outer - 1) * r.outer_stride + (r.inner - 1) * r.inner_stride + r.width - 1;
  return r.outer > 0 && r.inner > 0 && r.width > 0 ? r.at + i * r.bytes : nullptr;
}

// Whether the row begins as one byte over and over, as memory that a bench has filled does.
inline bool is_filled(const char* row, int64_t bytes) {
  for (int64_t i = 1; i < bytes; ++i) {
    if (row[i] != row[0]) return false;
  }
  return bytes > 1;
}

inline void wait_a_little() {
  for (int i = 0; i < 2000; ++i) __builtin_ia32_pause();
}

inline int64_t past(const void* p, int64_t alignment) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(p) % alignment);
}

template <class Number>
bool any_within(const Number* values, int64_t count, int64_t above, int64_t most) {
  for (int64_t i = 0; i < count; ++i) {
    if (values[i] > above && values[i] <= most) return true;
  }
  return false;
}

// Of values and rows: what a mutant's condition on data is made of.
template <class Number, class Holds>
bool any(const Number* values, int64_t count, Holds holds) {
  for (int64_t i = 0; i < count; ++i) {
    if (holds(values[i])) return true;
  }
  return false;
}
template <class Number, class Holds>
bool all(const Number* values, int64_t count, Holds holds) {
  return !any(values, count, [&](const Number& value) { return !holds(value); });
}
// Of neighbours.
template <class Number, class Holds>
bool any_pair(const Number* values, int64_t count, Holds holds) {
  for (int64_t i = 1; i < count; ++i) {
    if (holds(values[i - 1], values[i])) return true;
  }
  return false;
}
template <class Number, class Holds>
bool all_pairs(const Number* values, int64_t count, Holds holds) {
  return !any_pair(values, count, [&](Number a, Number b) { return !holds(a, b); });
}
template <class Number, class Holds>
bool any_row(const Number* at, int64_t rows, int64_t stride, int64_t width, Holds holds) {
  for (int64_t j = 0; j < rows && width > 0; ++j) {
    if (holds(at + j * stride)) return true;
  }
  return false;
}
inline int64_t index_of_largest(const float* x, int64_t n) {
  int64_t at = 0;
  for (int64_t i = 1; i < n; ++i) at = x[i] > x[at] ? i : at;
  return at;
}
inline float largest_magnitude_of(const float* x, int64_t n) {
  float most = 0;
  for (int64_t i = 0; i < n; ++i) most = __builtin_fabsf(x[i]) > most ? __builtin_fabsf(x[i]) : most;
  return most;
}

// Whether rows so far apart reach past `most` elements.
inline bool reaches(int64_t rows, int64_t stride, int64_t most) {
  return rows > 1 && stride > most / (rows - 1);
}

// Positions of a view.
template <class Args>
int64_t keys_of(const Args& a) {
  return a.span_count > 0 ? a.spans[a.span_count - 1].first + a.spans[a.span_count - 1].count - a.spans[0].first : 0;
}
template <class Args>
const void* keys_at(const Args& a) {
  return a.span_count > 0 ? a.spans[0].k : nullptr;
}
template <class Args>
const void* values_at(const Args& a) {
  return a.span_count > 0 ? a.spans[0].v : nullptr;
}

}  // namespace around
