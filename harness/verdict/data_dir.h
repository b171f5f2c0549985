#pragma once

#include <filesystem>

namespace assay {

// The folder of this program, unless it was set: a library in another's process (Python's) says where its own programs lie.
std::filesystem::path program_folder();
void set_program_folder(std::filesystem::path folder);

// The folder that holds golden/: ASSAY_DATA if set, else share/assay beside the program's folder, else the source tree that
// the program was built in. Throws std::runtime_error that lists where it looked.
std::filesystem::path data_dir();

}  // namespace assay
