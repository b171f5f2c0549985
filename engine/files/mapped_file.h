// A file in memory, read-only, paged in as it is read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace assay {

// Maps a whole regular file; throws ModelFileError (unreadable; truncated if it is empty). The address is that of a page, and
// survives a move of the object. What somebody cuts off while it is mapped, or the disk fails to give, raises SIGBUS where it is read
// (engine/files/lost_pages.h): replace a model file by renaming another over it, never in place.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  // The same bytes in memory of their own, so many behind the beginning of a page.
  MappedFile moved(std::size_t by) const;

  const std::string& name() const { return name_; }
  std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  MappedFile(std::string name, std::span<const std::uint8_t> bytes, std::size_t front);

  std::string name_;
  std::span<const std::uint8_t> bytes_;
  std::size_t front_ = 0;  // bytes of the mapping before them
};

// Takes the pages of a part of a mapped file out of this process's memory; whoever reads them again finds them in the file.
void release_pages(std::span<const std::uint8_t> bytes);

}  // namespace assay
