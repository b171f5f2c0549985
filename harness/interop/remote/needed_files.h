// The files that a program and the libraries that it opens read to be loaded.
#pragma once

#include <string>
#include <vector>

namespace assay {

// The system's folders of libraries, what describes its processors, `files`, and the libraries that these name: beside them, in the
// folders of their RUNPATH and in LD_LIBRARY_PATH. A folder outside the system's is never among them: data may lie there.
std::vector<std::string> needed_files(const std::vector<std::string>& files);

}  // namespace assay
