/* rope: pairs of dimensions rotated, head by head. After an ISA's header. */
#pragma once

#include <string.h>

#include "kernels/rope/rope.h"

namespace assay {
namespace {

struct Rotated {
  F32x16 y0;
  F32x16 y1;
};

ASSAY_INLINE Rotated rotate(const F32x16& x0, const F32x16& x1, const F32x16& c, const F32x16& s) {
  return {fms(x0, c, mul(x1, s)), fma(x1, c, mul(x0, s))};
}

// Pairs (x0[i], x1[i]), i < n.
ASSAY_INLINE void rotate_split(const float* x0, const float* x1, const float* c, const float* s, float* y0, float* y1,
                               int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Rotated r = rotate(load(x0 + i), load(x1 + i), load(c + i), load(s + i));
    store(y0 + i, r.y0);
    store(y1 + i, r.y1);
  }
  const int64_t rest = n - i;
  if (rest > 0) {
    const Rotated r = rotate(load_tail(x0 + i, rest), load_tail(x1 + i, rest), load_tail(c + i, rest), load_tail(s + i, rest));
    store_tail(y0 + i, r.y0, rest);
    store_tail(y1 + i, r.y1, rest);
  }
}

// Sixteen pairs from two vectors of adjacent elements, and back.
ASSAY_INLINE void rotate_adjacent_vectors(F32x16& first, F32x16& second, const F32x16& c, const F32x16& s) {
  F32x16 x0;
  F32x16 x1;
  deinterleave(first, second, x0, x1);
  const Rotated r = rotate(x0, x1, c, s);
  interleave(r.y0, r.y1, first, second);
}

// Pairs (x[2i], x[2i+1]), i < n.
ASSAY_INLINE void rotate_adjacent(const float* x, const float* c, const float* s, float* y, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    F32x16 first = load(x + 2 * i);
    F32x16 second = load(x + 2 * i + kLanes);
    rotate_adjacent_vectors(first, second, load(c + i), load(s + i));
    store(y + 2 * i, first);
    store(y + 2 * i + kLanes, second);
  }
  const int64_t rest = n - i;
  if (rest <= 0) return;
  const int64_t in_first = 2 * rest < kLanes ? 2 * rest : kLanes;
  const int64_t in_second = 2 * rest - in_first;
  F32x16 first = load_tail(x + 2 * i, in_first);
  F32x16 second = in_second > 0 ? load_tail(x + 2 * i + kLanes, in_second) : zero();
  rotate_adjacent_vectors(first, second, load_tail(c + i, rest), load_tail(s + i, rest));
  store_tail(y + 2 * i, first, in_first);
  if (in_second > 0) store_tail(y + 2 * i + kLanes, second, in_second);
}

// A run of pairs that take the same component of the position.
struct Run {
  int64_t component;
  int64_t end;  // the pair after the last
};

// The run that pair i is in: sections repeat with the period `period`.
inline Run run_at(const RopeArgs& args, int64_t i, int64_t pairs, int64_t period) {
  int64_t section_end = i - i % period;
  for (int component = 0; component < 4; ++component) {
    section_end += args.sections[component];
    if (i < section_end) return {component, section_end < pairs ? section_end : pairs};
  }
  return {0, pairs};  // not reached: i % period < period
}

inline AssayStatus validate_sections(const RopeArgs& args, int64_t pairs) {
  int64_t period = 0;
  for (int component = 0; component < 4; ++component) {
    if (args.sections[component] < 0) return ASSAY_BAD_PARAMETER;
    const bool used = args.sections[component] > 0 && period < pairs;
    if (used && component >= args.components) return ASSAY_BAD_PARAMETER;
    period += args.sections[component];
  }
  return period > 0 ? ASSAY_OK : ASSAY_BAD_PARAMETER;
}

inline AssayStatus validate(const RopeArgs& args) {
  if (args.rot_dim % 2 != 0 || args.rot_dim > args.head_dim) return ASSAY_BAD_SHAPE;
  if (args.pairing == ASSAY_ROPE_SECTIONED) return validate_sections(args, args.rot_dim / 2);
  if (args.pairing != ASSAY_ROPE_SPLIT && args.pairing != ASSAY_ROPE_ADJACENT) return ASSAY_BAD_PARAMETER;
  return args.components == 0 && args.rot_dim > 0 ? ASSAY_BAD_PARAMETER : ASSAY_OK;
}

// Pairs [begin, end) of every head of a row.
inline void rotate_heads(const RopeArgs& args, const float* x, float* y, const float* c, const float* s, int64_t begin,
                         int64_t end) {
  const int64_t half = args.rot_dim / 2;
  for (int64_t head = 0; head < args.heads; ++head, x += args.x_head_stride, y += args.y_head_stride) {
    if (args.pairing == ASSAY_ROPE_ADJACENT) {
      rotate_adjacent(x + 2 * begin, c + begin, s + begin, y + 2 * begin, end - begin);
    } else {
      rotate_split(x + begin, x + half + begin, c + begin, s + begin, y + begin, y + half + begin, end - begin);
    }
  }
}

inline void copy_rest(const RopeArgs& args, const float* x, float* y) {
  const int64_t rest = args.head_dim - args.rot_dim;
  if (rest <= 0 || x == y) return;
  for (int64_t head = 0; head < args.heads; ++head) {
    memcpy(y + head * args.y_head_stride + args.rot_dim, x + head * args.x_head_stride + args.rot_dim,
           static_cast<size_t>(rest) * sizeof(float));
  }
}

inline AssayStatus rope_body(const RopeArgs& args) {
  const AssayStatus status = validate(args);
  if (status != ASSAY_OK || args.heads == 0 || args.head_dim == 0) return status;
  const int64_t pairs = args.rot_dim / 2;
  int64_t period = 0;
  for (const int32_t section : args.sections) period += section;
  for (int64_t row = 0; row < args.rows; ++row) {
    const float* x = args.x + row * args.x_row_stride;
    float* y = args.y + row * args.y_row_stride;
    for (int64_t begin = 0; begin < pairs;) {
      const Run run = args.pairing == ASSAY_ROPE_SECTIONED ? run_at(args, begin, pairs, period) : Run{0, pairs};
      const int64_t table = run.component * args.component_stride + row * args.table_stride;
      rotate_heads(args, x, y, args.cos + table, args.sin + table, begin, run.end);
      begin = run.end;
    }
    copy_rest(args, x, y);
  }
  return ASSAY_OK;
}

}  // namespace
}  // namespace assay
