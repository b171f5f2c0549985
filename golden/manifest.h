// golden/MANIFEST.json: which data files there are, the sha256 of each, and of an HDF5 file's each dataset its first digits.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay {

class Manifest {
 public:
  // Reads DIR/MANIFEST.json; throws std::runtime_error if it is damaged. No such file: an empty manifest.
  explicit Manifest(std::filesystem::path folder);

  // Throws std::runtime_error if the manifest lists `file` with another sha256; it names the datasets that differ. False if it does
  // not list it.
  bool verify(const std::filesystem::path& file) const;

  struct Entry {
    std::string sha256;
    std::string datasets;  // eight digits of each dataset's, by the order of their names; empty: not an HDF5 file
  };
  const std::map<std::string, Entry>& files() const { return files_; }  // by the path below the folder

 private:
  std::filesystem::path folder_;
  std::map<std::string, Entry> files_;
};

}  // namespace assay
