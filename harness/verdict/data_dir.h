#pragma once

#include <filesystem>

namespace assay {

// The folder that holds golden/: ASSAY_DATA if set, else share/assay beside the program's bin/, else the source tree that
// the program was built in. Throws std::runtime_error that lists where it looked.
std::filesystem::path data_dir();

}  // namespace assay
