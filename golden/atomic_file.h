// Files that are whole or not there: written beside the target, flushed to disk, renamed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace assay {

// A file in the making, "PATH.new" until commit(). Whoever reads PATH finds the old file or the new one. Without commit()
// the destructor removes what was written. Every failure throws std::runtime_error naming the file.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::span<const std::uint8_t> bytes);
  void commit();  // at most once; nothing is written after it

 private:
  [[noreturn]] void fail() const;

  std::filesystem::path path_;
  std::filesystem::path temporary_;
  int file_ = -1;
};

void write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace assay
