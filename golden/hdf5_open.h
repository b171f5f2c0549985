// Opening an HDF5 file to read it. For golden/*.cc alone: it includes hdf5.h.
#pragma once

#include <hdf5.h>

#include <filesystem>

namespace assay {

// A file of at most 64 MiB is read first and opened in memory, so that a disk that fails is met here and not by the library, which
// frees what it never filled (1.10.8, H5Literate over a group whose links cannot be read). Throws Hdf5Error where it cannot be
// read, std::bad_alloc where memory lacks; negative where it is no HDF5 file.
hid_t open_hdf5(const std::filesystem::path& path);

}  // namespace assay
