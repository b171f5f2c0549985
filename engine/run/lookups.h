// Rows of the embedding table, whatever its type, behind one signature.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/run/chosen.h"

namespace assay {

// y[j, :] = table[ids[j], :] for `rows` ids; `row_bytes` of the table. An id outside it is ASSAY_OUT_OF_RANGE.
struct LookupCall {
  const std::uint8_t* table;
  const std::int32_t* ids;
  float* y;
  std::int64_t vocab;
  std::int64_t rows;
  std::int64_t n;
  std::int64_t row_bytes;
};

using RunLookup = AssayStatus (*)(const Chosen& chosen, const LookupCall& call);

// By the op's name: embed_* for tables of numbers, decode_* for tables of blocks. Throws std::logic_error for another op.
RunLookup lookup_runner(std::string_view op);

}  // namespace assay
