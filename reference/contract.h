// What an op promises, in words and in kind. Each op's contract stands beside its reference.
#pragma once

namespace assay::reference {

enum class Exactness {
  exact,    // bytes equal
  bounded,  // each output within its bound
  encoded,  // blocks whose bytes are free; the weighted squared error of what they decode to is bounded
};

// Over what the errors are summed before their signs are counted (docs/numerics.md, "Bias z").
enum class BiasUnit {
  none,    // exact ops, and those whose correct kernel leans by itself (exp, rope_table)
  output,  // each output has errors of its own
  row,     // the outputs of the last axis share a factor
};

struct Contract {
  const char* domain;  // which inputs the bound holds for
  Exactness exactness;
  const char* bound;  // the formula, as docs/numerics.md has it
  BiasUnit bias_unit;
  bool arithmetic_nans = false;  // exact ops: any NaN equals any other, because arithmetic made it
  bool keeps_sign = false;       // bounded ops of products and quotients alone: the truth's sign at any magnitude, a zero's too
};

// Of moves and conversions, by what they read.
inline constexpr Contract kEveryF32Contract{"every f32", Exactness::exact, "bits equal", BiasUnit::none};
inline constexpr Contract kEveryF16Contract{"every f16", Exactness::exact, "bits equal", BiasUnit::none};
inline constexpr Contract kEveryBf16Contract{"every bf16", Exactness::exact, "bits equal", BiasUnit::none};

}  // namespace assay::reference
