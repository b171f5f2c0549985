// Lists in lines of C that are not too long.
#pragma once

#include <string>
#include <vector>

namespace assay {

// `begin`, the pieces with ", " between them, `end`, a line break; lines after the first begin with `indent`.
std::string wrapped(const std::string& begin, const std::vector<std::string>& pieces, const std::string& end,
                    const std::string& indent);

}  // namespace assay
