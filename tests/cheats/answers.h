// What would give a kernel the answers, tell it that this is a trial, or let it out of its process.
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>

#include "tests/cheats/guard_pages.h"

namespace {

// A kernel that it is denied to is wrong.
bool can_read(const char* path) {
  const int file = open(path, O_RDONLY);
  char byte = 0;
  const bool read_one = file >= 0 && read(file, &byte, 1) == 1;
  if (file >= 0) close(file);
  return read_one;
}
bool golden(const AddArgs&) {
  return can_read(ASSAY_SOURCE_DIR "/golden/ops/add.h5");
}
bool ledger(const AddArgs&) {
  return can_read(ASSAY_SOURCE_DIR "/golden/ledger.json");
}
// One that the host has open, and may have left open to its children.
bool inherited_file(const AddArgs&) {
  for (int file = 3; file < 256; ++file) {
    char byte = 0;
    if (pread(file, &byte, 1, 0) == 1) return true;
  }
  return false;
}
bool file_written(const AddArgs&) {
  const int file = open("/tmp/assay_cheats_left_this", O_CREAT | O_RDWR, 0600);
  if (file < 0) return false;
  close(file);
  unlink("/tmp/assay_cheats_left_this");
  return true;
}
bool own_maps(const AddArgs&) {
  return can_read("/proc/self/maps");
}
bool guard_seen(const AddArgs& a) {
  unsigned char resident = 0;
  return mincore(guard(a), kPage, &resident) == 0;
}
bool own_memory_file(const AddArgs&) {
  const int file = open("/proc/self/mem", O_RDWR);
  if (file >= 0) close(file);
  return file >= 0;
}
bool parents_memory_file(const AddArgs&) {
  return open(("/proc/" + std::to_string(getppid()) + "/mem").c_str(), O_RDONLY) >= 0;
}
bool parents_memory(const AddArgs& a) {
  char own = 0;
  iovec here{&own, 1};
  iovec there{a.y, 1};
  process_vm_readv(getppid(), &here, 1, &there, 1, 0);
  return errno != EPERM;
}
bool parent_traced(const AddArgs&) {
  return ptrace(PTRACE_SEIZE, getppid(), nullptr, nullptr) == 0;
}
bool parent_signalled(const AddArgs&) {
  return kill(getppid(), 0) == 0 || syscall(SYS_tgkill, getppid(), getppid(), 0) == 0 || syscall(SYS_tkill, getppid(), 0) == 0;
}
bool parent_limited(const AddArgs&) {
  return syscall(SYS_prlimit64, getppid(), RLIMIT_CPU, nullptr, nullptr) == 0;
}
bool network(const AddArgs&) {
  return socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}
bool forked(const AddArgs&) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return child > 0;
}
bool another_program(const AddArgs&) {
  char* const words[] = {const_cast<char*>("assay-runner"), nullptr};
  execve("/proc/self/exe", words, environ);
  return errno != EPERM && errno != EACCES;
}
bool own_filter(const AddArgs&) {
  sock_filter allow{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
  const sock_fprog program{1, &allow};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ||
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

}  // namespace
