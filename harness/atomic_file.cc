#include "harness/atomic_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace assay {
namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const std::filesystem::path& temporary) {
  const std::string why = std::generic_category().message(errno);
  unlink(temporary.c_str());
  throw std::runtime_error(path.string() + ": cannot be written: " + why);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path temporary = path.string() + ".new";
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) fail(path, temporary);
  while (!content.empty()) {
    const ssize_t written = write(file, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      close(file);
      fail(path, temporary);
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool flushed = fsync(file) == 0;
  if (close(file) != 0 || !flushed || rename(temporary.c_str(), path.c_str()) != 0) fail(path, temporary);
}

}  // namespace assay
