#include "golden/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "golden/output_rule.h"

namespace assay {
namespace {

// What remove_unfinished_files() removes; whoever finds no room is not removed then.
std::array<std::atomic<const char*>, 32> unfinished;
std::atomic<pid_t> owner{0};

}  // namespace

void remember_unfinished(const char* name) noexcept {
  owner = getpid();
  for (auto& slot : unfinished) {
    const char* none = nullptr;
    if (slot.compare_exchange_strong(none, name)) return;
  }
}

void forget_unfinished(const char* name) noexcept {
  for (auto& slot : unfinished) {
    const char* same = name;
    if (slot.compare_exchange_strong(same, nullptr)) return;
  }
}

namespace {

bool is_unfinished(const std::string& name) {
  return std::ranges::any_of(unfinished, [&](const auto& slot) {
    const char* const one = slot;
    return one != nullptr && name == one;
  });
}

// Of the open file, not of the process: HDF5, which opens and closes the same file, neither meets nor drops it.
bool lock(int file) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(file, F_OFD_SETLK, &whole) == 0) return true;
  return errno != EAGAIN && errno != EACCES;  // a file system without locks
}

bool is_named(int file, const std::filesystem::path& name) {
  struct stat opened {};
  struct stat named {};
  return fstat(file, &opened) == 0 && lstat(name.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
         opened.st_ino == named.st_ino;
}

bool flush(int file) {
  int result = -1;
  do result = fsync(file);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

// A name is on the disk when its folder is.
bool flush_folder_of(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return errno == EACCES;              // a folder to write in that may not be read
  const bool safe = flush(descriptor) || errno == EINVAL;  // some file systems know no such thing
  const int why = errno;
  close(descriptor);
  errno = why;
  return safe;
}

}  // namespace

NewFile::NewFile(const std::filesystem::path& path, std::string kind, Replaces replaces)
    : path_(without_links(path)), temporary_(path_.string() + ".new"), kind_(std::move(kind)), replaces_(replaces) {
  if (replaces_ == Replaces::no_input)
    require_replaceable(path);  // by the name that was given: the links of /dev/stdout are no names
  if (replaces_ == Replaces::no_input && !kind_.empty()) require_kind(path_, kind_);
  open_and_lock();
  if (ftruncate(file_, 0) == 0) {
    remember_unfinished(temporary_.c_str());
    return;
  }
  const int why = errno;
  unlink(temporary_.c_str());
  close(file_);
  errno = why;
  fail();
}

void NewFile::open_and_lock() {
  for (;;) {
    file_ = open(temporary_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
    if (file_ < 0 && errno == EINTR) continue;
    if (file_ < 0) fail();
    const bool locked = lock(file_);
    if (locked && is_named(file_, temporary_)) return;
    close(file_);
    if (!locked)
      throw std::runtime_error(path_.string() +
                               (is_unfinished(temporary_)
                                    ? ": is being written by another output of this command; expected a file for each"
                                    : ": is being written by another process"));
    // Its writer renamed or removed it between our opening and our locking.
  }
}

NewFile::~NewFile() {
  if (file_ < 0) return;
  forget_unfinished(temporary_.c_str());
  unlink(temporary_.c_str());  // while the lock is held: afterwards it may be another's
  close(file_);
}

void NewFile::fail() const {
  const std::string why = std::generic_category().message(errno);
  throw std::runtime_error(path_.string() + ": cannot be written: " + why);
}

void NewFile::commit() {
  if (replaces_ == Replaces::no_input) require_replaceable(path_);
  if (replaces_ == Replaces::no_input && kind_.empty()) require_kind(path_, file_kind(temporary_));
  if (!flush(file_) || rename(temporary_.c_str(), path_.c_str()) != 0) fail();
  forget_unfinished(temporary_.c_str());
  close(std::exchange(file_, -1));
  if (flush_folder_of(path_)) return;
  const std::string why = std::generic_category().message(errno);
  throw std::runtime_error(path_.string() + ": is written, but its folder cannot be flushed to disk: " + why);
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.descriptor(), bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      file_.fail();
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::write_text(std::string_view text) {
  write(std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  AtomicFile file(path);
  file.write_text(content);
  file.commit();
}

void remove_unfinished_files() noexcept {
  if (owner != getpid()) return;
  for (auto& slot : unfinished) {
    if (const char* const name = slot) unlink(name);
  }
  for (auto& slot : unfinished) {
    if (const char* const name = slot.exchange(nullptr)) rmdir(name);  // a folder, which is empty now
  }
}

}  // namespace assay
