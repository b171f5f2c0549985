// Folders that a test leaves nothing of, and files made wrong on purpose.
#pragma once

#include <filesystem>
#include <string>

namespace assay {

class TemporaryFolder {
 public:
  TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What a file holds.
std::string file_bytes(const std::filesystem::path& path);

// Overwrites an integer attribute of an HDF5 file's root.
void set_integer_attribute(const std::filesystem::path& file, const std::string& attribute, long long value);

}  // namespace assay
