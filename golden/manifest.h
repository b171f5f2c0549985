// golden/MANIFEST.json: which data files there are and the sha256 of each.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace assay {

class Manifest {
 public:
  // Reads DIR/MANIFEST.json; throws std::runtime_error if it is damaged. No such file: an empty manifest.
  explicit Manifest(std::filesystem::path folder);

  // Throws std::runtime_error if the manifest lists `file` with another sha256. False if it does not list it.
  bool verify(const std::filesystem::path& file) const;

  const std::map<std::string, std::string>& files() const { return sums_; }  // path below the folder -> sha256

 private:
  std::filesystem::path folder_;
  std::map<std::string, std::string> sums_;
};

}  // namespace assay
