// A call of an op as tensors, and the cases that its parameters span.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "golden/params.h"
#include "reference/ops/models.h"
#include "reference/ops/tensor.h"

namespace assay {

// A tensor of a split call: which axis is cut, and how many rows of the call one index of it stands for.
struct SplitTensor {
  const char* name;
  int axis;
  std::int64_t rows = 1;     // 32 for the tiles of tile-major weights
  std::int64_t indices = 1;  // the other way round: indices of it that one row of the call stands for
};

// How a call may be cut in two and more that give the same bits: `param` counts rows, cuts lie at multiples of `unit`.
struct Split {
  const char* param;
  std::int64_t unit;
  std::vector<SplitTensor> tensors;                               // those not named are shared whole
  std::vector<std::pair<const char*, std::int64_t>> strides;      // params that the cut must not change
  std::vector<std::pair<const char*, std::int64_t>> starts = {};  // params that count the call's first row: the cut adds its own
};

struct Signature {
  std::vector<TensorSpec> tensors;  // inputs first
  std::vector<Split> splits;        // empty: may not be split
};

// A case made from a seed instead of being read from a file.
struct GeneratedCase {
  Params params;
  std::map<std::string, Distribution> data;  // inputs not named get gauss, or their spec's own
  std::uint64_t seed = 1;
};

// A constant by which kernels choose their path: a size of value * scale, and one past it, take two. ci/kernel-constants holds these rows to
// the kernels' sources.
struct Border {
  const char* constant;
  std::int64_t value;
  std::int64_t scale = 1;

  std::int64_t at() const { return value * scale; }
  bool is_counter() const { return *constant == '\0'; }  // no constant of a kernel: what a counter holds
};

// Where counters of 8 and of 16 bits end.
inline constexpr std::array<std::int64_t, 2> kCounters{256, 65536};

// A size of the op: what the user's own shapes fall back to, what cases from seeds draw, what the coverage test asks for.
struct Size {
  const char* name;
  std::int64_t fallback;            // where the user does not give it
  std::int64_t most;                // the largest that is drawn anywhere; borders and sizes in use may be past it
  std::int64_t unit = 1;            // sizes are multiples of this
  const char* stride_of = nullptr;  // a stride: at least that size, in units; absent unless given or drawn
  bool optional = false;            // absent unless given or drawn: the op has a value for it
  std::vector<Column> in_use = {};  // what it is in a model
  std::vector<Border> borders = {};
  std::int64_t cheap = 0;                      // the least with which the op computes something; 0: its unit
  std::int64_t limit = std::int64_t{1} << 24;  // the largest that kernels take, or that a case can hold
  const char* without = nullptr;               // a stride: another that is not given beside it, but follows from it
  bool may_be_0 = false;                       // a stride: 0 is one row for all

  bool in_every_call() const { return stride_of == nullptr && !optional; }
};

// A parameter with a few values that matter; the first is the default.
struct Choice {
  const char* name;
  std::vector<ParamValue> values;
};

struct ShapeSpace {
  std::vector<Size> sizes;
  std::vector<Choice> choices;
  // Brings sizes that were drawn apart into what the op takes, most of the time: what it must refuse is drawn too.
  void (*mend)(Params& params) = nullptr;
  // Calls of a few outputs whose tensors reach past 2^31 and 2^32 elements and bytes, for memory that is mapped again and again.
  std::vector<Params> vast = {};
  // What must occur in one call: the sizes of a model, a way to see a view.
  std::vector<Params> together = {};
  // Where an infinity or a NaN meets what seldom occurs: a weight of zero.
  std::vector<Params> exceptional = {};
  // What makes of the smallest call one whose array has three structs, where there is one.
  Params three = {};
};

// What a call costs at least, for roofs.
struct Cost {
  double bytes = 0;     // read and written once
  double flops = 0;     // f32; an fma counts two
  double int8_ops = 0;  // a product of two codes and its addition count two
  double exps = 0;      // beside them, of which roofs know nothing
  double operations() const { return flops + int8_ops; }
};

}  // namespace assay
