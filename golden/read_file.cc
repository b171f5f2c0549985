#include "golden/read_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "golden/output_rule.h"

namespace assay {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) : path_(path) {
    // Without O_NONBLOCK, opening a pipe would wait for a writer.
    do file_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (file_ < 0 && errno == EINTR);
    struct stat info {};
    if (file_ < 0 || fstat(file_, &info) != 0) return;
    note_input(path);
    if (S_ISREG(info.st_mode)) return;
    close(file_);
    throw std::runtime_error(path_.string() + (S_ISDIR(info.st_mode) ? ": is a folder; expected a file"
                                                                     : ": is a pipe or a device; expected a regular file"));
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (file_ >= 0) close(file_);
  }

  bool is_open() const { return file_ >= 0; }

  [[noreturn]] void fail() const {
    const std::string why = std::generic_category().message(errno);
    throw std::runtime_error(path_.string() + ": cannot be read: " + why);
  }

  void read_pieces(const std::function<void(std::span<const std::uint8_t>)>& take) const {
    std::vector<std::uint8_t> buffer(std::size_t{1} << 16);
    for (;;) {
      const ssize_t got = read(file_, buffer.data(), buffer.size());
      if (got == 0) return;
      if (got > 0) {
        take(std::span(buffer).first(static_cast<std::size_t>(got)));
      } else if (errno != EINTR) {
        fail();
      }
    }
  }

  std::string read_all() const {
    std::string text;
    read_pieces(
        [&](std::span<const std::uint8_t> piece) { text.append(reinterpret_cast<const char*>(piece.data()), piece.size()); });
    return text;
  }

 private:
  const std::filesystem::path& path_;
  int file_ = -1;
};

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const OpenFile file(path);
  if (!file.is_open()) file.fail();
  return file.read_all();
}

std::optional<std::string> read_file_if_any(const std::filesystem::path& path) {
  const OpenFile file(path);
  if (file.is_open()) return file.read_all();
  if (errno != ENOENT && errno != ENOTDIR) file.fail();  // ENOTDIR: below what is a file itself
  return std::nullopt;
}

void read_pieces(const std::filesystem::path& path, const std::function<void(std::span<const std::uint8_t>)>& take) {
  const OpenFile file(path);
  if (!file.is_open()) file.fail();
  file.read_pieces(take);
}

}  // namespace assay
