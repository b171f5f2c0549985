// Text of a file, fit for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace assay {

// A byte as \xNN.
std::string hex_escape(unsigned char byte);

// Each control character (below U+0020, U+007F) as \xNN, so that no file's text steers a terminal or begins a line.
std::string printable(std::string_view text);

}  // namespace assay
