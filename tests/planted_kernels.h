// Wrong kernels, each wrong in one way that inference engines have been wrong in, put in the place of one step's.
#pragma once

#include <string>

#include "engine/run/engine.h"

namespace assay {

enum class Defect {
  rope_adjacent,        // rope: pairs (2i, 2i + 1) where split halves belong
  store_stride,         // kv_store: the stride of heads taken as n_kv * head_dim
  kv_head_modulo,       // attention: kv head = h % n_kv; needs one thread
  query_stride,         // attention: the stride of query heads taken for keys and values; needs one thread
  silu_large,           // swiglu: too short a polynomial, off where |gate| > 4
  tail_dropped,         // any linear: the last numbers of k left out
  sum_not_rescaled,     // attention: the sum kept as it is when the maximum moves, with more than 16 keys
  values_not_rescaled,  // attention: the weighted values likewise
  mask_short,           // attention: a token does not see itself
  eps_outside,          // rms_norm: eps added to the root
  eps_in_sum,           // rms_norm: eps added to the sum, not to the mean
  unwritten,            // rms_norm, kv_store: nothing is written
  refusing,             // any linear: returns an error
};
const char* defect_name(Defect defect) noexcept;

// For decode and prefill, whatever the ISA. Throws std::invalid_argument where the site's op has no such defect.
void plant(Engine& engine, const std::string& site, Defect defect);

}  // namespace assay
