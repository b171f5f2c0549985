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
