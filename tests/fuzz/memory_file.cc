#include "tests/fuzz/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace assay::fuzz {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "assay-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code none;
    std::filesystem::remove_all(path_, none);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

const std::filesystem::path& scratch_folder() {
  static const Folder folder;
  return folder.path();
}

MemoryFile::MemoryFile(std::span<const std::uint8_t> bytes) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
  if (descriptor_ < 0) throw std::system_error(errno, std::generic_category(), "memfd_create");
  while (!bytes.empty()) {
    const ssize_t now = write(descriptor_, bytes.data(), bytes.size());
    if (now > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(now));
    } else if (errno != EINTR) {
      const int why = errno;
      close(descriptor_);
      throw std::system_error(why, std::generic_category(), "write to a memfd");
    }
  }
}

MemoryFile::~MemoryFile() {
  close(descriptor_);
}

std::filesystem::path MemoryFile::path() const {
  return "/proc/self/fd/" + std::to_string(descriptor_);
}

void write_file(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error(path.string() + ": cannot be written");
}

}  // namespace assay::fuzz
