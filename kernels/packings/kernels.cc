// Every packing: a row of ops.inc becomes pack_tile or pack_x16, or the inverse, over the type that its plain rows are made of.
#include "kernels/unit.h"
#include ASSAY_HEADER(simd, ASSAY_ISA)
#include ASSAY_HEADER(packings, ASSAY_PASTE(lines_, ASSAY_ISA))

#include "kernels/packings/packed_rows.h"
#include "kernels/packings/tile_major.h"

namespace assay {
namespace {
namespace rows {

using f16 = uint16_t;
using f32 = float;
using q8_0 = BlockQ8_0;
using q4_k = BlockQ4_K;
using q6_k = BlockQ6_K;

}  // namespace rows
}  // namespace

#define ASSAY_OP(op, direction, layout, type) ASSAY_KERNEL_OF(op, direction##_##layout<rows::type>)
#include ASSAY_ROWS

}  // namespace assay
