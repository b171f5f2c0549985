#include "tests/temporary.h"

#include <hdf5.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace assay {

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(path.string() + ": cannot be opened");
  return {std::istreambuf_iterator<char>(in), {}};
}

void set_integer_attribute(const std::filesystem::path& file, const std::string& attribute, long long value) {
  const hid_t id = H5Fopen(file.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attr = H5Aopen(id, attribute.c_str(), H5P_DEFAULT);
  const herr_t written = H5Awrite(attr, H5T_NATIVE_LLONG, &value);
  H5Aclose(attr);
  H5Fclose(id);
  if (written < 0) throw std::runtime_error(file.string() + ": attribute " + attribute + " cannot be written");
}

}  // namespace assay
