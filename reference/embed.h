// Rows of an embedding table, widened to f32: the bytes.
#pragma once

#include "golden/dtype.h"
#include "kernels/lookups/lookups.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

inline constexpr Contract kEmbedF32Contract{"0 <= id < vocab; every f32", Exactness::exact, "bits equal", BiasUnit::none};
inline constexpr Contract kEmbedF16Contract{"0 <= id < vocab; every f16", Exactness::exact, "bits equal", BiasUnit::none};
inline constexpr Contract kEmbedBf16Contract{"0 <= id < vocab; every bf16", Exactness::exact, "bits equal", BiasUnit::none};

// `table` is f32, f16 or bf16. Throws std::invalid_argument for an id outside the table.
void embed(DType table, const EmbedArgs& args, Expected& y);

}  // namespace assay::reference
