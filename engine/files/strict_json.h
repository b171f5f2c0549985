// JSON from files that nobody vouches for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/files/file_error.h"
#include "engine/files/mapped_file.h"

namespace assay {

// Strict JSON in UTF-8. Refused with ModelFileError: a syntax error or invalid UTF-8 (with its byte), a member that is there
// twice, nesting deeper than 16, more than 2^20 values. `file` names the source, `base` is the text's offset in it.
nlohmann::json parse_strict_json(std::string_view text, const std::string& file, std::uint64_t base = 0);

// A whole file of at most `most_bytes`, whose top is an object.
nlohmann::json read_strict_json(const MappedFile& file, std::uint64_t most_bytes);

}  // namespace assay
