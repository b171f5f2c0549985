// Files that come with the program, as help names them: golden/ and docs/, wherever they lie.
#pragma once

#include <string>

namespace assay::cli {

// `text` with each name under golden/ or docs/ that is not to be found from the working directory as the path of that file; what was not
// shipped with this program stays as it is. Paths are quoted for the shell where they must be.
std::string with_shipped_paths(const std::string& text);

}  // namespace assay::cli
