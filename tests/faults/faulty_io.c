// To be preloaded into a program: makes one of its calls to the operating system fail, for files whose path holds a text.
//
//     ASSAY_FAULT=CALL,N,HOW,TEXT   CALL: open, read, pread, write, pwrite, fsync, ftruncate, rename, mmap; N: from 1
//     ASSAY_FAULT_MET=FILE          is made when the fault has come
//
// HOW: EIO, EINTR: the N-th call alone fails so. ENOSPC: it and every later one. short: half of the bytes are read or written.
// shrink: the file loses its second half once it is mapped. kill: SIGKILL instead of the call.
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum how { none, fails, shortened, shrunk };

static struct {
  char call[16];
  long number;
  char how[16];
  char text[512];
} fault;
static atomic_long calls;

__attribute__((constructor)) static void read_settings(void) {
  const char* settings = getenv("ASSAY_FAULT");
  if (settings != NULL) sscanf(settings, "%15[^,],%ld,%15[^,],%511s", fault.call, &fault.number, fault.how, fault.text);
}

static void tell(void) {
  const char* name = getenv("ASSAY_FAULT_MET");
  if (name == NULL) return;
  const long file = syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) syscall(SYS_close, file);
}

// What this call of `call` for `path` meets; errno is set where it fails.
static enum how meet(const char* call, const char* path) {
  if (fault.number == 0 || strcmp(call, fault.call) != 0 || path == NULL || strstr(path, fault.text) == NULL) return none;
  const long number = ++calls;
  const int lasting = strcmp(fault.how, "ENOSPC") == 0;
  if (number < fault.number || (number > fault.number && !lasting)) return none;
  tell();
  if (strcmp(fault.how, "kill") == 0) kill(getpid(), SIGKILL);
  if (strcmp(fault.how, "short") == 0) return shortened;
  if (strcmp(fault.how, "shrink") == 0) return shrunk;
  errno = lasting ? ENOSPC : strcmp(fault.how, "EINTR") == 0 ? EINTR : EIO;
  return fails;
}

static enum how meet_file(const char* call, int file) {
  char link[64];
  char path[4096];
  const int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return none;
  path[size] = '\0';
  return meet(call, path);
}

static size_t half(size_t size) {
  return size > 1 ? size / 2 : size;
}

// The next definition of the function that this line stands in.
#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

#define MODE(flags)                               \
  mode_t mode = 0;                                \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) { \
    va_list rest;                                 \
    va_start(rest, flags);                        \
    mode = va_arg(rest, mode_t);                  \
    va_end(rest);                                 \
  }

int open(const char* path, int flags, ...) {
  MODE(flags)
  return meet("open", path) == none ? (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode) : -1;
}
int open64(const char* path, int flags, ...) {
  MODE(flags)
  return meet("open", path) == none ? (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode) : -1;
}
FILE* fopen(const char* path, const char* mode) {
  return meet("open", path) == none ? NEXT("fopen", FILE * (*)(const char*, const char*))(path, mode) : NULL;
}
FILE* fopen64(const char* path, const char* mode) {
  return meet("open", path) == none ? NEXT("fopen64", FILE * (*)(const char*, const char*))(path, mode) : NULL;
}

typedef ssize_t (*reader)(int, void*, size_t);
typedef ssize_t (*reader_at)(int, void*, size_t, off_t);
typedef ssize_t (*writer)(int, const void*, size_t);
typedef ssize_t (*writer_at)(int, const void*, size_t, off_t);

ssize_t read(int file, void* to, size_t size) {
  const enum how how = meet_file("read", file);
  return how == fails ? -1 : NEXT("read", reader)(file, to, how == shortened ? half(size) : size);
}
ssize_t pread(int file, void* to, size_t size, off_t at) {
  const enum how how = meet_file("pread", file);
  return how == fails ? -1 : NEXT("pread", reader_at)(file, to, how == shortened ? half(size) : size, at);
}
ssize_t pread64(int file, void* to, size_t size, off64_t at) {
  return pread(file, to, size, at);
}
ssize_t write(int file, const void* from, size_t size) {
  const enum how how = meet_file("write", file);
  return how == fails ? -1 : NEXT("write", writer)(file, from, how == shortened ? half(size) : size);
}
ssize_t pwrite(int file, const void* from, size_t size, off_t at) {
  const enum how how = meet_file("pwrite", file);
  return how == fails ? -1 : NEXT("pwrite", writer_at)(file, from, how == shortened ? half(size) : size, at);
}
ssize_t pwrite64(int file, const void* from, size_t size, off64_t at) {
  return pwrite(file, from, size, at);
}
int fsync(int file) {
  return meet_file("fsync", file) == none ? (int)syscall(SYS_fsync, file) : -1;
}
int ftruncate(int file, off_t size) {
  return meet_file("ftruncate", file) == none ? (int)syscall(SYS_ftruncate, file, size) : -1;
}
int ftruncate64(int file, off64_t size) {
  return ftruncate(file, size);
}
int rename(const char* from, const char* to) {
  return meet("rename", from) == none ? (int)syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to) : -1;
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t at) {
  const enum how how = file < 0 ? none : meet_file("mmap", file);
  if (how == fails) return MAP_FAILED;
  void* const memory = (void*)syscall(SYS_mmap, address, size, protection, flags, file, at);
  if (how == shrunk && memory != MAP_FAILED) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (truncate(link, (off_t)(size / 2)) != 0) perror("faulty_io: truncate");
  }
  return memory;
}
void* mmap64(void* address, size_t size, int protection, int flags, int file, off64_t at) {
  return mmap(address, size, protection, flags, file, at);
}
