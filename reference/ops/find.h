// Ops by what they do and to which types, as the engine asks for them when a model is loaded. Where there is
// none, find_ gives null and the others throw std::invalid_argument.
#pragma once

#include <string_view>

#include "reference/ops/op.h"

namespace assay {

// Op::form, family by family. Op::from and Op::to are the types of source and destination; of a product, of weights and of what
// they are multiplied with (weights of numbers are tile-major); of kv_* and attn_*, `from` is the cache's.
enum class ProductForm { gemv, gemm, linear };
enum class PackForm { pack, unpack };
enum class CodecForm { encode, decode, quantize };
enum class LookupForm { embed, argmax };
enum class KvForm { store, repack, copy, logits };
enum class AttentionForm { decode, prefill };

bool is_product(const Op& op);
// Of a product.
ProductForm product_form(const Op& op);

const Op& the_op(std::string_view name);
const Op* find_product(ProductForm form, DType weights, DType activations);  // null: there is none
// The message lists the pairs that exist.
const Op& product_op(ProductForm form, DType weights, DType activations);
const Op& pack_op(PackForm form, DType packed);  // q4_k_x16 and so on; tiles: f16, f32
const Op* find_pack(DType plain);                // of rows of f16, f32, q4_k ...; null: they are not packed
const Op& convert_op(DType from, DType to);
const Op& codec_op(CodecForm form, DType format);
const Op& embed_op(DType table);
const Op& kv_op(KvForm form, DType cache);
const Op& attention_op(AttentionForm form, DType cache);

}  // namespace assay
