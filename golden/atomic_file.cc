#include "golden/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace assay {

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)), temporary_(path_.string() + ".new") {
  file_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file_ < 0) fail();
}

AtomicFile::~AtomicFile() {
  if (file_ < 0) return;
  close(file_);
  unlink(temporary_.c_str());
}

void AtomicFile::fail() const {
  const std::string why = std::generic_category().message(errno);
  throw std::runtime_error(path_.string() + ": cannot be written: " + why);
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      fail();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  if (fsync(file_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  close(std::exchange(file_, -1));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write({reinterpret_cast<const std::uint8_t*>(content.data()), content.size()});
  file.commit();
}

}  // namespace assay
