// Of the cache's ops those that only copy: rows of heads to other places, a row of logits to its position.
#pragma once

#include "reference/ops/op.h"

namespace assay {

extern const Family kKvCopyFamily;
extern const Family kLogitsCopyFamily;

}  // namespace assay
