#include "reference/argmax.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "reference/decode.h"

namespace assay::reference {

const Contract kArgmaxContract{"0 < n < 2^31, no NaN", Exactness::exact, "bits equal", BiasUnit::none};

void argmax(const ArgmaxArgs& args, Expected& index) {
  if (args.n <= 0 || args.n > std::numeric_limits<std::int32_t>::max())
    throw std::invalid_argument("argmax: n = " + std::to_string(args.n) + ", expected 0 < n < 2^31");
  std::int32_t best = 0;
  for (std::int32_t i = 0; i < args.n; ++i) {
    if (std::isnan(args.x[i])) throw std::invalid_argument("argmax: x[" + std::to_string(i) + "] is NaN");
    if (args.x[i] > args.x[best]) best = i;  // strictly greater: the first of equals stays, and -0 equals +0
  }
  index = {};
  append_bytes(index.bytes, &best, 1);
}

}  // namespace assay::reference
