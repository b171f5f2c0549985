// Models for tests of the engine: the committed ones and files made from them, and a run's logits as bits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/files/gguf.h"
#include "engine/run/engine.h"
#include "tests/temporary.h"

namespace assay {

std::filesystem::path committed_models();

// Files made when they are first asked for, in a folder that goes with the program. From the embedded model: `name` as
// `assay quantize` has types; "motley", a separate head, and in every layer matrices of all types that are multiplied with, three
// of them at one input. "odd-f16", "odd-q8_0", "odd-q4_k_m": random weights of odd shapes, a separate head. Or a committed one:
// "bf16-folder" (golden/models/kjv itself), "q4_k_m-llama.cpp".
const std::filesystem::path& test_model(const std::string& name);

// A copy of `in` with other tensors: `choose` gives those to write, in order.
void rewrite_gguf(const std::filesystem::path& in, const std::filesystem::path& out,
                  const std::function<std::vector<StoredTensor>(const GgufContents&)>& choose);

// The first `count` tokens of a prompt of golden/traces/kjv-f64.h5.
std::vector<std::int32_t> prompt_tokens(const std::string& prompt, std::size_t count);

// Logits of all tokens, fed to an empty engine in passes of `chunk`, [tokens, vocab] as bits. The plan has all_logits.
std::vector<std::uint32_t> logits_of_all(Engine& engine, std::span<const std::int32_t> tokens, std::size_t chunk,
                                         Observer* observer = nullptr);

std::vector<Isa> isas_here();

}  // namespace assay
