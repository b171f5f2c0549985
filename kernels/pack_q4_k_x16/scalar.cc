#include "kernels/block_dot/lines_scalar.h"

#include "kernels/block_dot/pack.h"
#include "kernels/pack_q4_k_x16/pack_q4_k_x16.h"

namespace assay {

extern "C" AssayStatus pack_q4_k_x16_scalar(const PackQ4KX16Args* args) noexcept {
  return pack_rows<ASSAY_QK_K>(args->src, args->dst, args->n, args->k);
}

}  // namespace assay
