/* What every op's argument struct shares: the C linkage and the status. C11 and C++20. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
#define ASSAY_C_BEGIN \
  namespace assay {   \
  extern "C" {
#define ASSAY_C_END \
  }                 \
  }
#else
#define ASSAY_C_BEGIN
#define ASSAY_C_END
#endif

ASSAY_C_BEGIN

/* What a kernel returns. Anything but ASSAY_OK means: refused, and nothing was written. A kernel whose
   specification names no refusal always returns ASSAY_OK. */
typedef enum AssayStatus {
  ASSAY_OK = 0,
  ASSAY_BAD_SHAPE = 1,     /* a size that the op cannot take: negative, empty, not a whole block */
  ASSAY_BAD_PARAMETER = 2, /* a scalar outside its domain */
  ASSAY_OUT_OF_RANGE = 3,  /* an index or a position outside its table or buffer */
  ASSAY_NOT_FINITE = 4,    /* NaN or infinity where the op refuses them */
  ASSAY_STATUS_COUNT = 5
} AssayStatus;

ASSAY_C_END

/* How a kernel ends a call that can come to no good end, as the model of AMX's tiles does where a CPU would raise an exception: UD2 (x86-64)
   with this in RSI and the reason in RDI, a string that stays. Who runs kernels guarded reports it. */
#define ASSAY_FAULT_MARK INT64_C(0x6173736179666c74)
