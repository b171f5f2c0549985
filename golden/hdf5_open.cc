#include "golden/hdf5_open.h"

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "golden/hdf5.h"
#include "golden/hdf5_handle.h"
#include "golden/read_file.h"

namespace assay {
namespace {

constexpr std::uintmax_t kMostInMemory = std::uintmax_t{64} << 20;
constexpr std::size_t kIncrement = 1 << 16;  // by which a file in memory would grow

// Of the calls that failed last: HDF5 says no more than that they did.
bool memory_lacked() {
  bool lacked = false;
  const auto look = [](unsigned, const H5E_error2_t* error, void* found) {
    *static_cast<bool*>(found) |= error->maj_num == H5E_RESOURCE;
    return herr_t{0};
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, look, &lacked);
  return lacked;
}

hid_t opened(hid_t file) {
  if (file < 0 && memory_lacked()) throw std::bad_alloc();
  return file;
}

}  // namespace

hid_t open_hdf5(const std::filesystem::path& path) {
  initialise_hdf5();
  std::error_code none;
  const std::uintmax_t size = std::filesystem::file_size(path, none);
  if (!none && size > kMostInMemory) return opened(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  std::string bytes;
  try {
    bytes = read_file(path);
  } catch (const std::runtime_error& error) {
    throw Hdf5Error(error.what());
  }
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fapl_core(access, kIncrement, false);
  if (bytes.empty()) return -1;
  if (H5Pset_file_image(access, bytes.data(), bytes.size()) < 0) return opened(-1);
  // The library wants a name that no file has.
  return opened(H5Fopen((path / "in memory").c_str(), H5F_ACC_RDONLY, access));
}

}  // namespace assay
