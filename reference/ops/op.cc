#include "reference/ops/op.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>

#include "reference/ops/describe.h"

namespace assay {
namespace {

constexpr std::int64_t kMost = kMostNumber;

std::invalid_argument unexpected(const char* name, std::int64_t value, const std::string& expected) {
  return std::invalid_argument(std::string(name) + " = " + std::to_string(value) + "; expected " + expected);
}

std::int32_t choice_of(const Field& field, const Params& params, const char* name) {
  const std::string& text = params.text(name);
  const auto found = std::ranges::find(field.choices, text);
  if (found != field.choices.end()) return static_cast<std::int32_t>(found - field.choices.begin());
  std::string known;
  for (const char* choice : field.choices) known += std::string(" ") + choice;
  throw std::invalid_argument(std::string(name) + " = '" + text + "'; expected one of" + known);
}

std::int64_t integer_of(const Op& op, const Field& field, const Params& params, const char* name, const void* args) {
  if (field.at_least) return stride_of(params, name, field.otherwise(op, params, args));
  if (field.otherwise != nullptr && !params.has(name)) return field.otherwise(op, params, args);
  if (field.kind == FieldKind::size) return size_of(params, name);
  return field.kind == FieldKind::number ? bounded_or(params, name, 0, field.most) : params.integer(name);
}

template <class T>
void set(std::byte* args, const Field& field, T value) {
  std::memcpy(args + field.offset, &value, sizeof value);
}

// Everything but the pointers.
void fill(const Op& op, const Params& params, std::byte* args) {
  for (const Field& field : op.family->fields) {
    const char* name = field.param != nullptr ? field.param : field.name;
    const bool given = field.otherwise == nullptr || params.has(name);
    switch (field.kind) {
      case FieldKind::tensor:
      case FieldKind::array:
        break;
      case FieldKind::size:
      case FieldKind::number:
      case FieldKind::any:
      case FieldKind::length:
        set(args, field, integer_of(op, field, params, name, args));
        break;
      case FieldKind::int32:
        set(args, field, static_cast<std::int32_t>(integer_of(op, field, params, name, args)));
        break;
      case FieldKind::choice:
        set(args, field, choice_of(field, params, name));
        break;
      case FieldKind::real32:
        set(args, field, static_cast<float>(params.real(name)));
        break;
      case FieldKind::real64:
        set(args, field, given ? params.real(name) : static_cast<double>(field.otherwise(op, params, args)));
        break;
    }
  }
}

void put_instead(const FieldValue& one, std::byte* block) {
  std::visit(
      [&](auto value) {
        switch (one.field->kind) {
          case FieldKind::real32:
            return set(block, *one.field, static_cast<float>(value));
          case FieldKind::real64:
            return set(block, *one.field, static_cast<double>(value));
          case FieldKind::choice:
          case FieldKind::int32:
            return set(block, *one.field, static_cast<std::int32_t>(value));
          default:
            return set(block, *one.field, static_cast<std::int64_t>(value));
        }
      },
      one.value);
}

// What a float of a bounded output becomes.
void put(const reference::Expected& expected, std::size_t index, float* y, ReferenceSink* sink) {
  *y = static_cast<float>(expected.value[index]);
  if (sink == nullptr) return;
  const auto at = static_cast<std::size_t>(y - sink->base);
  sink->value[at] = expected.value[index];
  sink->bound[at] = expected.bound[index];
  sink->bits_only[at] = expected.bits_only.empty() ? 0 : expected.bits_only[index];
}

// Row by row, a row being the innermost axis.
void write_output(const TensorSpec& spec, const reference::Expected& expected, std::byte* base, ReferenceSink* sink) {
  const std::size_t size = dtype_size(spec.dtype);
  const std::int64_t inner = spec.shape.back();
  const std::int64_t rows = inner == 0 ? 0 : spec.elements() / inner;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t place = 0;
    std::int64_t rest = row;
    for (std::size_t axis = spec.shape.size() - 1; axis-- > 0; rest /= spec.shape[axis]) {
      place += rest % spec.shape[axis] * spec.strides[axis];
    }
    std::byte* const to = base + static_cast<std::size_t>(place) * size;
    const auto first = static_cast<std::size_t>(row * inner);
    const auto count = static_cast<std::size_t>(inner);
    if (expected.value.empty()) {
      std::memcpy(to, expected.bytes.data() + first * size, count * size);
    } else {
      for (std::size_t i = 0; i < count; ++i) put(expected, first + i, reinterpret_cast<float*>(to) + i, sink);
    }
  }
}

}  // namespace

std::int64_t size_of(const Params& params, const char* name) {
  const std::int64_t value = params.integer(name);
  if (value < 0 || value > kMost) throw unexpected(name, value, "0 .. 2^31");
  return value;
}

std::int64_t stride_of(const Params& params, const char* name, std::int64_t dense) {
  const std::int64_t value = params.integer_or(name, dense);
  if (value < dense || value > kMost) throw unexpected(name, value, "at least " + std::to_string(dense));
  return value;
}

std::int64_t inner_stride(const Params& params, const char* outer_stride, std::int64_t outers, std::int64_t inners,
                          std::int64_t width) {
  const std::int64_t outer = bounded_or(params, outer_stride, 0);
  return outer > 0 && outer < inners * width ? outers * outer : width;
}

void check_apart(const char* tensor, std::int64_t width, std::vector<Axis> axes) {
  if (std::ranges::any_of(axes, [](const Axis& axis) { return axis.count == 0; })) return;
  std::erase_if(axes, [](const Axis& axis) { return axis.count == 1; });
  std::ranges::sort(axes, {}, &Axis::stride);
  std::int64_t extent = width;
  for (const Axis& axis : axes) {
    if (axis.stride < extent)
      throw std::invalid_argument(std::string(tensor) + ": rows overlap, " + std::to_string(axis.stride) +
                                  " elements apart, each of " + std::to_string(extent));
    extent += (axis.count - 1) * axis.stride;
  }
}

std::int64_t bounded_or(const Params& params, const char* name, std::int64_t fallback, std::int64_t most) {
  if (!params.has(name)) return fallback;
  const std::int64_t value = params.integer(name);
  if (value >= -most && value <= most) return value;
  const std::string power = "2^" + std::to_string(std::bit_width(static_cast<std::uint64_t>(most)) - 1);
  throw unexpected(name, value, "-" + power + " .. " + power);
}

std::span<const Op* const> ops() {
  static const std::vector<const Op*> all = [] {
    std::vector<const Op*> found;
    for (const std::span<const Op> family : {conversion_ops(), packing_ops(), product_ops(), norm_ops(), activation_ops(),
                                             rope_ops(), lookup_ops(), codec_ops(), kv_ops(), attention_ops()}) {
      for (const Op& op : family) found.push_back(&op);
    }
    return found;
  }();
  return all;
}

const Op* find_op(std::string_view name) {
  const auto found = std::ranges::find(ops(), name, [](const Op* op) { return op->name; });
  return found == ops().end() ? nullptr : *found;
}

Arguments::Arguments(const Op& op, const Params& params, std::span<void* const> tensors, std::span<const FieldValue> instead)
    : size_(op.family->args_bytes) {
  if (size_ > kMostBytes)
    throw std::logic_error(std::string(op.name) + ": an argument struct of " + std::to_string(size_) + " bytes");
  fill(op, params, bytes_);
  const std::vector<TensorSpec> specs = op.family->signature(op, params, bytes_).tensors;
  for (const Field& field : op.family->fields) {
    if (field.kind != FieldKind::tensor) continue;
    const auto spec = std::ranges::find(specs, field.name, &TensorSpec::name);  // an input before an output of its name
    if (spec == specs.end()) continue;
    const std::int64_t before = spec->begin * static_cast<std::int64_t>(dtype_size(spec->dtype));
    set(bytes_, field, static_cast<std::byte*>(tensors[static_cast<std::size_t>(spec - specs.begin())]) - before);
  }
  if (op.family->arrays != nullptr) arrays_ = op.family->arrays(op, params, bytes_, tensors);
  for (const FieldValue& one : instead) {
    put_instead(one, one.element ? &arrays_[0].bytes[*one.element * op.family->array_bytes] : bytes_);
  }
  link();
}

Arguments::Arguments(const Arguments& other) : size_(other.size_), arrays_(other.arrays_) {
  std::memcpy(bytes_, other.bytes_, size_);
  link();
}

void Arguments::link() {
  for (std::size_t i = 0; i < arrays_.size(); ++i) link(i, arrays_[i].bytes.data());
}

void Arguments::link(std::size_t number, const void* first) {
  std::memcpy(bytes_ + arrays_[number].offset, &first, sizeof first);
}

Signature signature_of(const Op& op, const Params& params) {
  alignas(8) std::byte args[Arguments::kMostBytes] = {};
  fill(op, params, args);
  return op.family->signature(op, params, args);
}

AssayStatus required_status(const Op& op, const void* args) {
  if (!may_be(op.family->sizes(op, args))) return ASSAY_BAD_SHAPE;
  return op.family->refusal == nullptr ? ASSAY_OK : op.family->refusal(op, args);
}

AssayStatus required_status(const Op& op, const Params& params, std::span<void* const> tensors) {
  return required_status(op, Arguments(op, params, tensors).data());
}

std::vector<reference::Expected> reference_outputs(const Op& op, const Params& params, std::span<void* const> tensors,
                                                   const reference::Arithmetic& how) {
  const Arguments args(op, params, tensors);
  std::vector<reference::Expected> outputs(op.family->outputs(op, args.data()).size());
  if (how.own()) {
    op.family->reference(op, args.data(), outputs);
  } else {
    op.family->declared(op, args.data(), how, outputs);
  }
  return outputs;
}

Cost cost_of(const Op& op, const Params& params) {
  alignas(8) std::byte args[Arguments::kMostBytes] = {};
  fill(op, params, args);
  return op.family->cost(op, params, args);
}

void ReferenceSink::reset(const float* first, std::int64_t count) {
  base = first;
  value.assign(static_cast<std::size_t>(count), 0);
  bound.assign(static_cast<std::size_t>(count), 0);
  bits_only.assign(static_cast<std::size_t>(count), 0);
}

AssayStatus run_reference(const Op& op, const void* args, ReferenceSink* sink) {
  if (op.contract->exactness == reference::Exactness::encoded)
    throw std::logic_error(std::string(op.name) + " has no one answer");
  if (const AssayStatus status = required_status(op, args); status != ASSAY_OK) return status;
  const std::vector<TensorSpec> specs = op.family->outputs(op, args);
  std::vector<reference::Expected> outputs(specs.size());
  try {
    op.family->reference(op, args, outputs);
  } catch (const std::invalid_argument&) {  // references refuse by it what kernels refuse by a status
    return ASSAY_BAD_PARAMETER;
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    std::byte* base = nullptr;
    const Field& field = *std::ranges::find(op.family->fields, specs[i].name, &Field::name);
    std::memcpy(&base, static_cast<const std::byte*>(args) + field.offset, sizeof base);
    const std::int64_t begin = specs[i].begin * static_cast<std::int64_t>(dtype_size(specs[i].dtype));
    write_output(specs[i], outputs[i], base + begin, sink);
  }
  return ASSAY_OK;
}

}  // namespace assay
