#include "reference/ops/find.h"

#include <algorithm>
#include <stdexcept>

#include "reference/ops/describe.h"

namespace assay {
namespace {

std::string pair_name(DType weights, DType activations) {
  return std::string(dtype_name(weights)) + " x " + std::string(dtype_name(activations));
}

template <class Form, class Matches>
const Op& find(std::span<const Op> ops, Form form, DType type, const char* what, Matches matches) {
  const auto found = std::ranges::find_if(ops, [&](const Op& op) { return op.form == static_cast<int>(form) && matches(op); });
  if (found == ops.end()) throw std::invalid_argument("no op that " + std::string(what) + " " + std::string(dtype_name(type)));
  return *found;
}

}  // namespace

bool is_product(const Op& op) {
  return op.family == product_ops()[0].family;
}

ProductForm product_form(const Op& op) {
  return static_cast<ProductForm>(op.form);
}

const Op& the_op(std::string_view name) {
  const Op* const op = find_op(name);
  if (op == nullptr) throw std::invalid_argument("no op '" + std::string(name) + "'");
  return *op;
}

const Op* find_product(ProductForm form, DType weights, DType activations) {
  for (const Op& op : product_ops()) {
    if (product_form(op) == form && op.from == weights && op.to == activations) return &op;
  }
  return nullptr;
}

const Op& product_op(ProductForm form, DType weights, DType activations) {
  if (const Op* found = find_product(form, weights, activations); found != nullptr) return *found;
  std::string pairs;
  for (const Op& op : product_ops()) {
    if (product_form(op) == form) pairs += (pairs.empty() ? "" : ", ") + pair_name(op.from, op.to);
  }
  constexpr const char* kNames[] = {"gemv", "gemm", "linear"};
  throw std::invalid_argument("no " + std::string(kNames[static_cast<std::size_t>(form)]) + " of weights x activations " +
                              pair_name(weights, activations) + "; there are: " + pairs);
}

const Op& pack_op(PackForm form, DType packed) {
  const bool packs = form == PackForm::pack;
  return find(packing_ops(), form, packed, packs ? "packs" : "unpacks",
              [&](const Op& op) { return (packs ? op.to : op.from) == packed; });
}

const Op* find_pack(DType plain) {
  for (const Op& op : packing_ops()) {
    if (op.form == static_cast<int>(PackForm::pack) && op.from == plain) return &op;
  }
  return nullptr;
}

const Op& convert_op(DType from, DType to) {
  return find(conversion_ops(), 0, from, "converts", [&](const Op& op) { return op.from == from && op.to == to; });
}

const Op& codec_op(CodecForm form, DType format) {
  constexpr const char* kVerbs[] = {"encodes", "decodes", "quantises to"};
  return find(codec_ops(), form, format, kVerbs[static_cast<std::size_t>(form)],
              [&](const Op& op) { return (form == CodecForm::decode ? op.from : op.to) == format; });
}

const Op& embed_op(DType table) {
  return find(lookup_ops(), LookupForm::embed, table, "looks up rows of", [&](const Op& op) { return op.from == table; });
}

const Op& kv_op(KvForm form, DType cache) {
  return find(kv_ops(), form, cache, "keeps a cache of", [&](const Op& op) { return op.from == cache; });
}

const Op& attention_op(AttentionForm form, DType cache) {
  return find(attention_ops(), form, cache, "attends to a cache of", [&](const Op& op) { return op.from == cache; });
}

}  // namespace assay
