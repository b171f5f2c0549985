// An op as a value: its name, kernels, contract and types, and what its family knows of all its ops: the argument struct field by
// field, the call as tensors, the refusals, the reference, the cost, the cases. Descriptions stand in reference/ops/<family>.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "golden/dtype.h"
#include "golden/params.h"
#include "kernels/op_tables.h"
#include "reference/arithmetic.h"
#include "reference/contract.h"
#include "reference/expected.h"
#include "reference/ops/signature.h"
#include "reference/ops/sizes.h"

namespace assay {

struct Op;

// What a field of an argument struct holds.
enum class FieldKind : std::uint8_t {
  tensor,  // the pointer of the tensor of that name
  array,   // a pointer to an array beside the tensors (attention's spans), which the family's `arrays` makes
  size,    // int64, 0 .. 2^31, and a stride, at least what `otherwise` gives
  number,  // int64, of a magnitude of at most `most`
  any,     // int64, whatever it is: what the kernel must refuse
  length,  // int64, how many elements an array has
  choice,  // int32, one of `choices` by its place in them
  int32,
  real32,
  real64,
};

// Of numbers that count memory.
inline constexpr std::int64_t kMostNumber = std::int64_t{1} << 31;

// A field of a family's argument struct, under its name there and in the parameters of goldens. Fields are filled in the table's
// order, so that one may depend on those before it.
struct Field {
  const char* name;
  std::size_t offset;
  FieldKind kind;
  // Its value where the parameters do not give it; null: they must.
  std::int64_t (*otherwise)(const Op& op, const Params& params, const void* args) = nullptr;
  bool at_least = false;  // a stride: no less than `otherwise` says
  std::span<const char* const> choices = {};
  const char* param = nullptr;  // its name among the parameters, where that is another; "": it is none of them
  std::int64_t most = kMostNumber;
};

// An array that an argument struct points to.
struct NestedArray {
  std::size_t offset;  // of the pointer in the argument struct
  std::vector<std::byte> bytes;
};

// What of an op's arithmetic a kernel may declare: bits of a set.
enum Declarable : std::uint32_t {
  kActivations = 1,   // that they are rounded first; of attention q
  kWeights = 2,       // likewise
  kProducts = 4,      // that products are rounded
  kSums = 8,          // what sums are taken in
  kIntegerSums = 16,  // that codes by codes are summed exactly
  kLanes = 32,        // an order of sums: free, or lanes
  kTrees = 64,        // blocks and trees too
  kExponential = 128,
  kRoot = 256,
  kResults = 512,  // flushing, and what results are rounded to
};

// What an op's argument struct means. Functions take the struct with its type taken off (reference/ops/describe.h: `erased`).
struct Family {
  const char* name;    // "product"
  const char* args;    // the C type: "ProductArgs"
  const char* header;  // "kernels/products/products.h"
  std::size_t args_bytes;
  std::span<const Field> fields;
  std::span<const Field> array_fields = {};  // of the structs that its array holds; tensors there are pointers that `arrays` sets
  std::size_t array_bytes = 0;               // of one of them

  // Below, `args` is the struct with its scalars filled, and its pointers where tensors are placed.

  // Its tensors as the header has them, whole, and other sizes: what may_be says of them comes before any refusal below.
  std::vector<TensorSizes> (*sizes)(const Op& op, const void* args);
  // The call's tensors and how it may be cut. Throws std::invalid_argument where a parameter makes no sense.
  Signature (*signature)(const Op& op, const Params& params, const void* args);
  // The outputs alone, from the struct alone, as the call writes them.
  std::vector<TensorSpec> (*outputs)(const Op& op, const void* args);
  // What a kernel must return for sizes that may be; it follows the pointers of inputs whose values may be refused. Null: never refuses.
  AssayStatus (*refusal)(const Op& op, const void* args) = nullptr;
  // The input that a model keeps, of which a kernel may have a layout of its own. Null: there is none, all inputs are new in each call.
  const char* weights = nullptr;
  // One Expected an output, in the order of `outputs`.
  void (*reference)(const Op& op, const void* args, std::span<reference::Expected> outputs);
  // What a kernel may declare that has declared `how`.
  std::uint32_t (*declarable)(const Op& op, const reference::Arithmetic& how) = [](const Op&, const reference::Arithmetic&) {
    return std::uint32_t{0};
  };
  // The reference in arithmetic that is not the op's own.
  void (*declared)(const Op& op, const void* args, const reference::Arithmetic& how,
                   std::span<reference::Expected> outputs) = nullptr;
  Cost (*cost)(const Op& op, const Params& params, const void* args);
  ShapeSpace (*shapes)(const Op& op);
  GeneratedCase (*bias_case)(const Op& op) = [](const Op&) { return GeneratedCase{}; };  // no params: the op has none
  // The same in rows past 2048: no ledger knows it.
  GeneratedCase (*long_bias_case)(const Op& op) = [](const Op&) { return GeneratedCase{}; };
  std::vector<Params> (*bench_params)(const Op& op);
  // The reference's figures on the way to the outputs, by the names of golden/SCHEMA.md ("Parts"). Null: none.
  std::map<std::string, std::vector<std::int64_t>> (*parts)(const Op& op, const void* args) = nullptr;
  // The arrays that the struct points to beside tensors, for tensors at these addresses (in the signature's order). Null: none.
  std::vector<NestedArray> (*arrays)(const Op& op, const Params& params, const void* args,
                                     std::span<void* const> tensors) = nullptr;
};

struct Op {
  const char* name;
  const Family* family;
  const OpTable* table;
  const reference::Contract* contract;
  DType from = DType::f32;  // of weights, a table, a cache, what is converted: see the family
  DType to = DType::f32;    // of activations, or of what it is converted to
  int form = 0;             // which of the family's forms it is, such as gemv or gemm: see the family

  std::span<const AnyKernel> kernels() const { return table->kernels; }
};

// Every op, in the order of op_tables().
std::span<const Op* const> ops();
// Null if there is none.
const Op* find_op(std::string_view name);

// What a number of the argument struct holds whatever the parameters say, or one of a struct in its array: for calls that
// kernels must refuse. Of a real a double.
struct FieldValue {
  const Field* field;
  std::variant<std::int64_t, double> value;
  std::optional<std::size_t> element = {};  // of the array
};

// An argument struct, and what it points to beside tensors. A copy is a call of its own.
class Arguments {
 public:
  static constexpr std::size_t kMostBytes = 256;

  Arguments(const Op& op, const Params& params, std::span<void* const> tensors, std::span<const FieldValue> instead = {});
  Arguments(const Arguments& other);
  Arguments& operator=(const Arguments& other) = delete;

  const void* data() const { return bytes_; }
  void* data() { return bytes_; }
  std::size_t size() const { return size_; }
  std::span<const NestedArray> arrays() const { return arrays_; }
  // Its array `number` lies there, as those of copies do not.
  void link(std::size_t number, const void* first);

 private:
  void link();

  alignas(8) std::byte bytes_[kMostBytes] = {};
  std::size_t size_;
  std::vector<NestedArray> arrays_;
};

// The call that `params` describe. Throws std::out_of_range where a parameter is missing and std::invalid_argument where one makes
// no sense.
Signature signature_of(const Op& op, const Params& params);
// What the kernels are to return for it; ASSAY_OK where the op refuses nothing. `tensors` are base pointers in the order of the
// signature, as in all of these.
AssayStatus required_status(const Op& op, const Params& params, std::span<void* const> tensors);
AssayStatus required_status(const Op& op, const void* args);
// One Expected an output, in the order of the signature.
std::vector<reference::Expected> reference_outputs(const Op& op, const Params& params, std::span<void* const> tensors,
                                                   const reference::Arithmetic& how = {});
Cost cost_of(const Op& op, const Params& params);

// Keeps truth and bound of f32 outputs, which the rounded output loses. Element i belongs to the float at base + i; outputs of
// other types are exact, and not kept.
struct ReferenceSink {
  const float* base = nullptr;
  std::vector<double> value;
  std::vector<double> bound;
  std::vector<std::uint8_t> bits_only;  // 1 where no bound holds

  // For `count` floats from `first` on.
  void reset(const float* first, std::int64_t count);
};

// The reference in the place of a kernel: truth in fp64, rounded once to what the op writes; what a kernel would refuse, it refuses
// too. `sink` may be null. Distinct outputs may be filled by several threads at once. It allocates.
AssayStatus run_reference(const Op& op, const void* args, ReferenceSink* sink);

}  // namespace assay
