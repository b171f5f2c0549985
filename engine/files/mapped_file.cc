#include "engine/files/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "engine/files/file_error.h"
#include "engine/files/lost_pages.h"
#include "golden/output_rule.h"

namespace assay {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

// Without O_NONBLOCK, opening a pipe would wait for a writer.
int open_for_reading(const char* name) {
  int file = -1;
  do file = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  while (file < 0 && errno == EINTR);
  return file;
}

[[noreturn]] void fail_with_errno(const std::string& file) {
  throw ModelFileError(Fault::unreadable, {file, {}, {}}, "cannot be read: " + std::generic_category().message(errno));
}

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) : name_(path.string()) {
  const Descriptor file(open_for_reading(name_.c_str()));
  if (file.number() < 0) fail_with_errno(name_);
  struct stat info {};
  if (fstat(file.number(), &info) != 0) fail_with_errno(name_);
  note_input(path);
  if (!S_ISREG(info.st_mode)) throw ModelFileError(Fault::unreadable, {name_, {}, {}}, "expected a regular file");
  if (info.st_size == 0) throw ModelFileError(Fault::truncated, {name_, 0, {}}, "the file is empty");
  const auto size = static_cast<std::size_t>(info.st_size);
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail_with_errno(name_);
  bytes_ = {static_cast<const std::uint8_t*>(address), size};
  remember_mapping(bytes_, name_);
}

MappedFile::MappedFile(std::string name, std::span<const std::uint8_t> bytes, std::size_t front)
    : name_(std::move(name)), bytes_(bytes), front_(front) {
  remember_mapping(bytes_, name_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : name_(std::move(other.name_)), bytes_(std::exchange(other.bytes_, {})), front_(other.front_) {}

// A file in memory, not memory alone: release_pages would empty that.
MappedFile MappedFile::moved(std::size_t by) const {
  const Descriptor file(memfd_create("assay", MFD_CLOEXEC));
  const std::size_t size = by + bytes_.size();
  if (file.number() < 0 || ftruncate(file.number(), static_cast<off_t>(size)) != 0) fail_with_errno(name_);
  for (std::size_t done = 0; done < bytes_.size();) {
    const ssize_t written = pwrite(file.number(), bytes_.data() + done, bytes_.size() - done, static_cast<off_t>(by + done));
    if (written < 0 && errno != EINTR) fail_with_errno(name_);
    done += static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  }
  void* address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number(), 0);
  if (address == MAP_FAILED) fail_with_errno(name_);
  return {name_, {static_cast<const std::uint8_t*>(address) + by, bytes_.size()}, by};
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  forget_mapping(bytes_);
  munmap(const_cast<std::uint8_t*>(bytes_.data()) - front_, front_ + bytes_.size());
}

void release_pages(std::span<const std::uint8_t> bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t into_page = reinterpret_cast<std::uintptr_t>(bytes.data()) % page;
  // A hint: where it is refused the pages stay until the kernel wants them.
  (void)madvise(const_cast<std::uint8_t*>(bytes.data()) - into_page, bytes.size() + into_page, MADV_DONTNEED);
}

}  // namespace assay
