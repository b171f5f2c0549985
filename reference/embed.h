// Rows of an embedding table, widened to f32: the bytes.
#pragma once

#include "kernels/embed_bf16/embed_bf16.h"
#include "kernels/embed_f16/embed_f16.h"
#include "kernels/embed_f32/embed_f32.h"
#include "reference/contract.h"
#include "reference/expected.h"

namespace assay::reference {

extern const Contract kEmbedF32Contract;
extern const Contract kEmbedF16Contract;
extern const Contract kEmbedBf16Contract;

// Throw std::invalid_argument for an id outside the table.
void embed_f32(const EmbedF32Args& args, Expected& y);
void embed_f16(const EmbedF16Args& args, Expected& y);
void embed_bf16(const EmbedBf16Args& args, Expected& y);

}  // namespace assay::reference
