// An op as the harness sees it: its calls described as named tensors and scalars, its variants, its reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "golden/hdf5.h"
#include "golden/params.h"
#include "reference/ops/tensor.h"
#include "kernels/kernel.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay {

struct Variant {
  std::string name;  // rms_norm_avx2
  Isa isa = Isa::scalar;
};

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
  std::vector<TensorSpec> tensors;  // inputs first, in the order of the argument struct
  std::vector<Split> splits;        // empty: may not be split
};

// A case made from a seed instead of being read from a file.
struct GeneratedCase {
  Params params;
  std::map<std::string, Distribution> data;  // inputs not named get gauss, or their spec's own
  std::uint64_t seed = 1;
};

// A size of the op, for cases of the user's own shapes and for random ones.
struct Size {
  const char* name;
  std::int64_t fallback;            // where the user does not give it
  std::int64_t most;                // the largest that random cases draw
  std::int64_t unit = 1;            // sizes are multiples of this
  const char* stride_of = nullptr;  // a stride: at least that size, in units; absent unless given or drawn
  bool optional = false;            // absent unless given or drawn: the op's adapter has a value for it
};

// A parameter with a few values that matter; the first is the default.
struct Choice {
  const char* name;
  std::vector<ParamValue> values;
};

struct ShapeSpace {
  std::vector<Size> sizes;
  std::vector<Choice> choices;
};

// What a call costs at least, for roofs.
struct Cost {
  double bytes = 0;     // read and written once
  double flops = 0;     // f32; an fma counts two
  double int8_ops = 0;  // a product of two codes and its addition count two
  double operations() const { return flops + int8_ops; }
};

// A call's arguments as bytes: the argument struct, then the arrays that it points to beside tensors.
struct ArgsImage {
  struct Link {
    std::size_t offset;  // of the pointer in the argument struct
    std::size_t block;   // what it points to
  };
  std::vector<std::vector<std::byte>> blocks;
  std::vector<Link> links;
};

// An array that an argument struct points to, and the offset of that pointer.
struct NestedArray {
  std::size_t offset;
  std::span<const std::byte> bytes;
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
  // The same by any function that takes the op's argument struct.
  virtual AssayStatus call(const std::function<AssayStatus(const void*)>& kernel, const Params& params,
                           std::span<void* const> tensors) const = 0;
  // The arguments of that call, and their size. `tensors` are not followed.
  virtual ArgsImage image(const Params& params, std::span<void* const> tensors) const = 0;
  virtual std::size_t args_bytes() const = 0;
  // One Expected an output, in the order of the signature.
  virtual std::vector<reference::Expected> reference(const Params& params, std::span<void* const> tensors) const = 0;
  // The reference's figures on the way to the outputs, by the names of golden/SCHEMA.md ("Parts").
  virtual std::map<std::string, std::vector<std::int64_t>> integer_parts(const Params&, std::span<void* const>) const {
    return {};
  }
  // What a kernel must return for these inputs (dense, in the order of the signature): for cases without a golden.
  virtual AssayStatus required_status(const Params&, const std::vector<Array>&) const { return ASSAY_OK; }

  virtual ShapeSpace shape_space() const = 0;
  virtual GeneratedCase bias_case() const = 0;  // no params: the op has none
  virtual Cost cost(const Params& params) const = 0;
  virtual std::vector<Params> bench_params() const = 0;
};

// Every op, in the order of harness/verdict/ops.inc.
std::span<const Adapter* const> adapters();
// Null if there is none.
const Adapter* find_adapter(std::string_view op);

// The part of an adapter that the op's tag, contract and reference decide; an op's file in harness/ops derives from it.
template <class Op, const reference::Contract& kContract, auto kReference>
class OpAdapter : public Adapter {
 public:
  using Args = typename Op::Args;
  std::string_view op() const final { return Op::name; }
  const reference::Contract& contract() const final { return kContract; }

  std::vector<Variant> variants() const final {
    std::vector<Variant> all;
    for (const Kernel<Op>& kernel : kernels<Op>()) all.push_back({kernel.name, kernel.isa});
    return all;
  }

  AssayStatus run(std::size_t variant, const Params& params, std::span<void* const> tensors) const final {
    const Args args = bind(params, tensors);
    return kernels<Op>()[variant].run(&args);
  }

  AssayStatus call(const std::function<AssayStatus(const void*)>& kernel, const Params& params,
                   std::span<void* const> tensors) const final {
    const Args args = bind(params, tensors);
    return kernel(&args);
  }

  ArgsImage image(const Params& params, std::span<void* const> tensors) const final {
    const Args args = bind(params, tensors);
    ArgsImage image;
    const auto add = [&image](std::span<const std::byte> bytes) { image.blocks.emplace_back(bytes.begin(), bytes.end()); };
    add(std::as_bytes(std::span(&args, 1)));
    for (const NestedArray& one : nested(args)) {
      image.links.push_back({one.offset, image.blocks.size()});
      add(one.bytes);
    }
    return image;
  }
  std::size_t args_bytes() const final { return sizeof(Args); }

  std::vector<reference::Expected> reference(const Params& params, std::span<void* const> tensors) const final {
    const Args args = bind(params, tensors);
    using One = reference::Expected&;
    if constexpr (std::is_invocable_v<decltype(kReference), const Args&, One>) {
      std::vector<reference::Expected> outputs(1);
      kReference(args, outputs[0]);
      return outputs;
    } else {
      std::vector<reference::Expected> outputs(2);
      kReference(args, outputs[0], outputs[1]);
      return outputs;
    }
  }

  // The argument struct of a call.
  virtual Args bind(const Params& params, std::span<void* const> tensors) const = 0;
  // The arrays that it points to beside tensors, such as attention's spans.
  virtual std::vector<NestedArray> nested(const Args&) const { return {}; }
};

}  // namespace assay
