// A file that lies in memory and has a path.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

namespace assay::fuzz {

class MemoryFile {
 public:
  // Throws std::runtime_error.
  explicit MemoryFile(std::span<const std::uint8_t> bytes = {});
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  // Good for as long as the object lives.
  std::filesystem::path path() const;

 private:
  int descriptor_;
};

// A folder for all inputs of this process, which goes with it: below TMPDIR.
const std::filesystem::path& scratch_folder();

// The same bytes under a name in a folder.
void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes);

}  // namespace assay::fuzz
