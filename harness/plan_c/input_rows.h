// A site's rows out of a trace, as the safetensors file that a part of a model takes for its input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace assay {

// The file's bytes: `site` as F32 [tokens, width], values rounded to f32, and the tokens in its metadata. `prompt`: by default the
// trace's first. Throws std::invalid_argument, naming file, prompt and site, for a prompt that the trace does not have, for rows that
// were not all kept and for rows of another width; and Hdf5Error.
std::string input_rows(const std::filesystem::path& trace, const std::string& prompt, const std::string& site,
                       std::int64_t width);

}  // namespace assay
