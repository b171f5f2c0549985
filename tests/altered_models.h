// Copies of the embedded model with one fault in the file, as golden/record/alter_model.py makes them for other engines.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

// `model` is golden/models/kjv, or the Q4_K_M beside it; a copy of it in `folder`:
//   kv_exchanged   the k_proj and the v_proj of layer 2 have each other's name
//   q_norm_zeroed  number 37 of layer 2's q_norm is 0
//   theta          rope's base is 250000
//   eps            the norms' epsilon is 1e-5
//   q6_k_block     GGUF alone: in row 100 of layer 2's ffn_down, a Q6_K tensor, the middle block has its low bits inverted
// Throws std::logic_error where what is to be altered is not there.
std::filesystem::path altered_model(const std::filesystem::path& model, const std::filesystem::path& folder,
                                    const std::string& fault);

}  // namespace assay
