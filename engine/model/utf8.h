#pragma once

#include <string_view>

namespace assay {

// Well-formed as Unicode defines it: no overlong form, no surrogate, nothing above U+10FFFF.
bool is_valid_utf8(std::string_view text) noexcept;

}  // namespace assay
