// An op as the harness sees it: its calls described as named tensors and scalars, its variants, its reference.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/params.h"
#include "harness/tensor.h"
#include "kernels/kernel.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay {

struct Variant {
  std::string name;  // rms_norm_avx2
  Isa isa = Isa::scalar;
};

// How a call may be cut into rows: `param` counts them, cuts lie at multiples of `unit`.
struct Split {
  std::string param;
  std::int64_t unit = 1;
};

struct Signature {
  std::vector<TensorSpec> tensors;  // inputs first, in the order of the argument struct
  std::vector<Split> splits;        // empty: not to be split
};

// A case made from a seed instead of being read from a file.
struct GeneratedCase {
  Params params;
  std::vector<std::pair<std::string, Distribution>> data;  // inputs not named get gauss, or their spec's own
  std::uint64_t seed = 1;
};

// What a call costs at least, for roofs.
struct Cost {
  double bytes = 0;        // read and written once
  double flops = 0;        // f32; an fma counts two
};

class Adapter {
 public:
  virtual ~Adapter() = default;
  virtual std::string_view op() const = 0;
  virtual const reference::Contract& contract() const = 0;
  virtual std::vector<Variant> variants() const = 0;

  // The call that `params` describe. Throws std::out_of_range where a parameter is missing and
  // std::invalid_argument where one makes no sense.
  virtual Signature signature(const Params& params) const = 0;

  // `tensors` are base pointers in the order of the signature.
  virtual AssayStatus run(std::size_t variant, const Params& params, std::span<void* const> tensors) const = 0;
  // One Expected an output, in the order of the signature.
  virtual std::vector<reference::Expected> reference(const Params& params, std::span<void* const> tensors) const = 0;

  // `given` (the user's --shape) completed with defaults.
  virtual Params default_params() const = 0;
  virtual GeneratedCase bias_case() const = 0;  // no params: the op has none
  virtual Cost cost(const Params& params) const = 0;
  virtual std::vector<Params> bench_params() const = 0;
};

// Every op, in the order of harness/ops.inc.
std::span<const Adapter* const> adapters();
// Null if there is none.
const Adapter* find_adapter(std::string_view op);

// The part of an adapter that the op's tag decides; an op's file in harness/ops derives from it.
template <class Op>
class OpAdapter : public Adapter {
 public:
  using Args = typename Op::Args;
  std::string_view op() const final { return Op::name; }

  std::vector<Variant> variants() const final {
    std::vector<Variant> all;
    for (const Kernel<Op>& kernel : kernels<Op>()) all.push_back({kernel.name, kernel.isa});
    return all;
  }

  AssayStatus run(std::size_t variant, const Params& params, std::span<void* const> tensors) const final {
    const Args args = bind(params, tensors);
    return kernels<Op>()[variant].run(&args);
  }

  virtual Args bind(const Params& params, std::span<void* const> tensors) const = 0;
};

}  // namespace assay
