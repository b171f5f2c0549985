/* What a family's kernels.cc is written with. kernels/CMakeLists.txt compiles that file once for each group of rows of the family's
   ops.inc and each ISA of the group, with two definitions: ASSAY_ISA, say avx2, and ASSAY_ROWS, a file of the group's ASSAY_OP
   lines. Who compiles it without them, an editor say, gets all rows in plain C++.

   #include ASSAY_HEADER(simd, ASSAY_ISA)                           kernels/simd/avx2.h
   #include ASSAY_HEADER(formats, ASSAY_PASTE(bytes_, ASSAY_ISA))   kernels/formats/bytes_avx2.h
   ASSAY_KERNEL_OF(rms_norm, body)                                 the C function rms_norm_avx2: body(const RmsNormArgs&) for
                                                                   sizes that a call may have (kernels/sizes.h) */
#pragma once

#include "kernels/abi.h"

#ifndef ASSAY_ISA
#define ASSAY_ISA scalar
#endif
#ifndef ASSAY_ROWS
#define ASSAY_ROWS "ops.inc"
#define ASSAY_GROUP(group, arguments, isas)
#endif

#define ASSAY_STRING_AS_IS(text) #text
#define ASSAY_STRING(text) ASSAY_STRING_AS_IS(text)
#define ASSAY_PASTE_AS_IS(a, b) a##b
#define ASSAY_PASTE(a, b) ASSAY_PASTE_AS_IS(a, b)
// clang-format off
#define ASSAY_HEADER(folder, name) ASSAY_STRING(kernels/folder/name.h)
// clang-format on

namespace assay {
namespace {

// The argument struct that a body takes.
template <class Args>
Args arguments_of(AssayStatus (*body)(const Args&));

}  // namespace
}  // namespace assay

#define ASSAY_KERNEL_OF(op, ...)                                                                                   \
  extern "C" AssayStatus ASSAY_PASTE(op##_, ASSAY_ISA)(const decltype(arguments_of(__VA_ARGS__))* args) noexcept { \
    return sizes_fit(*args) ? __VA_ARGS__(*args) : ASSAY_BAD_SHAPE;                                                \
  }
